package push

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// One call of gRPC with one message each way is a POST of HTTP/2 whose bodies have five
// bytes before the message, and whose outcome is in the trailer (gRPC over HTTP2, in
// the repository grpc/grpc). net/http does the rest; the library for gRPC would add
// several MB to the program.

// grpcPath is the method of the profiles service, v1development.
const grpcPath = "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"

// Schemes of OTLP over gRPC.
const (
	grpcPlain = "grpc"
	grpcTLS   = "grpcs"
)

// Codes of gRPC that mean something here.
const (
	grpcOK              = 0
	grpcDenied          = 7
	grpcExhausted       = 8
	grpcUnimplemented   = 12
	grpcUnavailable     = 14
	grpcUnauthenticated = 16
)

// isGRPC tells whether an address is of a receiver of OTLP over gRPC.
func isGRPC(u *url.URL) bool { return u.Scheme == grpcPlain || u.Scheme == grpcTLS }

// newHTTP2 speaks HTTP/2 alone, with TLS or without.
func newHTTP2() *http.Client {
	var protocols http.Protocols
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Protocols = &protocols
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// grpc sends a request, up to four times while the server is away or overloaded, and
// returns its answer.
func (c *Client) grpc(ctx context.Context, u *url.URL, message []byte) (answer []byte, err error) {
	to := *u
	to.Scheme = map[string]string{grpcPlain: "http", grpcTLS: "https"}[u.Scheme]
	to.Path = grpcPath
	body, err := framed(message)
	if err != nil {
		return nil, err
	}
	for wait := c.http.RetryWaitMin; ; wait *= 2 {
		answer, again, err := c.call(ctx, to.String(), body)
		if err == nil || !again || wait > c.http.RetryWaitMin<<(c.http.RetryMax-1) {
			return answer, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// framed is a message, compressed, with what goes before it.
func framed(message []byte) ([]byte, error) {
	var b bytes.Buffer
	b.Write([]byte{1, 0, 0, 0, 0})
	z := gzip.NewWriter(&b)
	if _, err := z.Write(message); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	out := b.Bytes()
	binary.BigEndian.PutUint32(out[1:], uint32(len(out)-5))
	return out, nil
}

// call sends it once. again says whether it may do to repeat it.
func (c *Client) call(ctx context.Context, address string, body []byte) (answer []byte, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, false, err
	}
	for key, values := range c.header {
		req.Header[key] = values
	}
	req.Header.Set("Content-Type", "application/grpc")
	req.Header.Set("Te", "trailers")
	req.Header.Set("Grpc-Encoding", "gzip")
	req.Header.Set("Grpc-Accept-Encoding", "identity,gzip")
	resp, err := c.http2.Do(req)
	if err != nil {
		return nil, ctx.Err() == nil, fmt.Errorf("can't reach the server, or it does not speak gRPC: %w", err)
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err != nil {
		return nil, false, fmt.Errorf("the server's answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode/100 == 5, refused(resp.StatusCode, answer)
	}
	outcome := resp.Trailer
	if outcome.Get("Grpc-Status") == "" { // without a message the head is the trailer, too
		outcome = resp.Header
	}
	code, err := strconv.Atoi(outcome.Get("Grpc-Status"))
	if err != nil {
		return nil, false, errors.New("the server does not speak gRPC: its answer has no outcome")
	}
	if code != grpcOK {
		text, err := url.PathUnescape(outcome.Get("Grpc-Message"))
		if err != nil {
			text = outcome.Get("Grpc-Message")
		}
		tooBig := code == grpcExhausted && len(body) > 0 && bytes.Contains([]byte(text), []byte("larger than max"))
		return nil, !tooBig && (code == grpcUnavailable || code == grpcExhausted), grpcRefused(code, export.Clean(text), tooBig)
	}
	answer, err = unframed(answer, resp.Header.Get("Grpc-Encoding"))
	return answer, false, err
}

// unframed is the message of an answer. Servers compress it as the request was.
func unframed(b []byte, encoding string) ([]byte, error) {
	none := errors.New("the server's answer is no message of gRPC")
	if len(b) < 5 || uint64(binary.BigEndian.Uint32(b[1:])) != uint64(len(b)-5) {
		return nil, none
	}
	switch message := b[5:]; {
	case b[0] == 0:
		return message, nil
	case b[0] == 1 && encoding == "gzip":
		z, err := gzip.NewReader(bytes.NewReader(message))
		if err != nil {
			return nil, none
		}
		return io.ReadAll(io.LimitReader(z, mostAnswer))
	}
	return nil, none
}

func grpcRefused(code int, text string, tooBig bool) error {
	way := ""
	switch {
	case tooBig:
		way = "; raise the receiver's max_recv_msg_size_mib, record less, or send it over HTTP"
	case code == grpcDenied || code == grpcUnauthenticated:
		way = "; give what it wants by --header"
	case code == grpcUnimplemented:
		return fmt.Errorf("%w: nothing takes profiles there (unimplemented); %s", ErrRefused, profilesOn)
	}
	return fmt.Errorf("%w: gRPC code %d %s%s", ErrRefused, code, text, way)
}
