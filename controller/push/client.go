package push

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

const (
	otlpPath      = "/v1development/profiles"
	pyroscopePath = "/push.v1.PusherService/Push"
)

// mostAnswer bounds what is read of an answer, in bytes.
const mostAnswer = 64 << 10

// ErrRefused is wrapped by errors about a report that the server has got but not taken.
var ErrRefused = errors.New("the server refused the report")

// A Client sends reports.
type Client struct {
	header http.Header
	http   *retryablehttp.Client
	http2  *http.Client
}

// NewClient returns a client that sends the headers with each request.
func NewClient(header http.Header) *Client {
	c := retryablehttp.NewClient()
	c.Logger = nil
	c.RetryMax, c.RetryWaitMin, c.RetryWaitMax = 3, 500*time.Millisecond, 10*time.Second
	c.ErrorHandler = retryablehttp.PassthroughErrorHandler
	c.HTTPClient.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{header: header, http: c, http2: newHTTP2()}
}

// Check says what is wrong with a server's address. One of OTLP may be grpc://HOST:PORT, or
// grpcs:// with TLS.
func Check(address string, otlp bool) error {
	u, err := url.Parse(address)
	switch {
	case err == nil && otlp && isGRPC(u):
		if u.Host == "" || u.Port() == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
			return errors.New("give host and port alone, such as grpc://HOST:4317")
		}
		return nil
	case err == nil && isGRPC(u):
		return errors.New("give an address such as http://HOST:PORT; gRPC is for OTLP")
	case err != nil:
		return errors.New("it is no address: give one such as http://HOST:PORT")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("give an address such as http://HOST:PORT")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("give an address without ? and #")
	}
	return nil
}

// profilesOn is how a Collector takes profiles.
const profilesOn = "an OpenTelemetry Collector does with --feature-gates=service.profilesSupport and a pipeline named profiles"

// OTLP sends the report to an OTLP receiver, over HTTP or gRPC. The address is the receiver's,
// http://127.0.0.1:4318 or grpc://127.0.0.1:4317 (grpcs:// with TLS); over HTTP the path of the profiles
// signal is added unless it is there.
func (c *Client) OTLP(ctx context.Context, address string, r *export.Report, o Origin) error {
	data, err := OTLP(r, o)
	if err != nil {
		return err
	}
	body, err := proto.Marshal(data)
	if err != nil {
		return fmt.Errorf("otlp: %w", err)
	}
	if u, err := url.Parse(address); err == nil && isGRPC(u) {
		answer, err := c.grpc(ctx, u, body)
		if err != nil {
			return err
		}
		return inPart(answer)
	}
	answer, code, err := c.post(ctx, address, otlpPath, "application/x-protobuf", body)
	if err != nil {
		return err
	}
	if code == http.StatusNotFound {
		return fmt.Errorf("%w: nothing takes profiles there (404); %s", ErrRefused, profilesOn)
	}
	if code/100 != 2 {
		return refused(code, answer)
	}
	return inPart(answer)
}

// inPart is the error of an answer that says that not all was taken.
func inPart(answer []byte) error {
	if n, text := rejected(answer); n > 0 || text != "" {
		return fmt.Errorf("%w in part: %d profiles, %s", ErrRefused, n, export.Clean(text))
	}
	return nil
}

// Pyroscope sends the report to Pyroscope's push API at the address, http://127.0.0.1:4040.
func (c *Client) Pyroscope(ctx context.Context, address string, r *export.Report, o Origin) error {
	body, err := Pyroscope(r, o)
	if err != nil {
		return err
	}
	answer, code, err := c.post(ctx, address, pyroscopePath, "application/json", body)
	if err == nil && code/100 != 2 {
		err = refused(code, answer)
	}
	return err
}

func refused(code int, answer []byte) error {
	text := ""
	for _, c := range string(answer) {
		if c < ' ' || c > '~' {
			c = ' '
		}
		text += string(c)
		if len(text) == 300 {
			break
		}
	}
	way := ""
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		way = "; give what it wants by --header"
	case code/100 == 3:
		way = "; redirects are not followed: give the address that it names"
	case code == http.StatusRequestEntityTooLarge:
		way = "; the report is too big for it: raise the server's limit, or record less"
	}
	return fmt.Errorf("%w: %d %s %s%s", ErrRefused, code, http.StatusText(code), strings.TrimSpace(text), way)
}

func (c *Client) post(ctx context.Context, address, path, kind string, body []byte) (answer []byte, code int, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, 0, errors.New("the server's address can't be read")
	}
	if !strings.HasSuffix(u.Path, path) {
		u.Path = strings.TrimSuffix(u.Path, "/") + path
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(body); err != nil {
		return nil, 0, err
	}
	if err := z.Close(); err != nil {
		return nil, 0, err
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, u.String(), packed.Bytes())
	if err != nil {
		return nil, 0, err
	}
	for key, values := range c.header {
		req.Header[key] = values
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Content-Encoding", "gzip")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, 0, fmt.Errorf("can't reach the server: %w", err)
	}
	defer resp.Body.Close()
	if answer, err = io.ReadAll(io.LimitReader(resp.Body, mostAnswer)); err != nil {
		return nil, 0, fmt.Errorf("the server's answer: %w", err)
	}
	return answer, resp.StatusCode, nil
}

// rejected reads an ExportProfilesServiceResponse: how many profiles the receiver did not
// take, and why. An answer that is none says nothing.
func rejected(answer []byte) (n int64, text string) {
	fields(answer, func(field protowire.Number, inner []byte, _ uint64) {
		if field != 1 { // partial_success
			return
		}
		fields(inner, func(field protowire.Number, b []byte, v uint64) {
			switch field {
			case 1:
				n = int64(v)
			case 2:
				text = string(b)
			}
		})
	})
	return n, text
}

func fields(b []byte, each func(field protowire.Number, bytes []byte, varint uint64)) {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
			return
		}
		switch typ {
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(b)
			each(num, nil, v)
		case protowire.BytesType:
			v, _ := protowire.ConsumeBytes(b)
			each(num, v, 0)
		}
		b = b[n:]
	}
}
