package push_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	otlp "go.opentelemetry.io/proto/otlp/profiles/v1development"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/rivulet-profiler/rivulet/controller/push"
)

// overHTTP2 serves HTTP/2 without TLS and returns the address, as of a gRPC receiver.
func overHTTP2(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	s := &http.Server{Handler: h, Protocols: &protocols, ReadHeaderTimeout: time.Minute}
	go s.Serve(l) //nolint:errcheck // closed at the end
	t.Cleanup(func() { s.Close() })
	return "grpc://" + l.Addr().String()
}

// answers ends a call with a code, and a message where there is one.
func answers(w http.ResponseWriter, code, text string, message []byte) {
	w.Header().Set("Content-Type", "application/grpc")
	if message != nil {
		w.Write(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)) //nolint:errcheck // the client is the test
	}
	w.Header().Set(http.TrailerPrefix+"Grpc-Status", code)
	w.Header().Set(http.TrailerPrefix+"Grpc-Message", text)
}

// TestGRPC sends a report as a call of the profiles service. (A real Collector is sent to by go
// tool task test:receivers.)
func TestGRPC(t *testing.T) {
	r := saved(t, "report.json")
	want, err := push.OTLP(r, origin())
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int32
	got := &otlp.ProfilesData{}
	at := overHTTP2(t, func(w http.ResponseWriter, q *http.Request) {
		if calls.Add(1) == 1 { // it is sent once more
			answers(w, "14", "starting", nil)
			return
		}
		b, err := io.ReadAll(q.Body)
		if err != nil || len(b) < 5 || b[0] != 1 || int(binary.BigEndian.Uint32(b[1:])) != len(b)-5 || q.ProtoMajor != 2 || q.Method != http.MethodPost ||
			q.URL.Path != "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export" || q.Header.Get("Content-Type") != "application/grpc" ||
			q.Header.Get("Te") != "trailers" || q.Header.Get("Grpc-Encoding") != "gzip" || q.Header.Get("X-Scope") != "tenant" {
			t.Errorf("%v: %s %s %v, %d bytes", err, q.Method, q.URL, q.Header, len(b))
		}
		z, err := gzip.NewReader(bytes.NewReader(b[5:]))
		if err == nil {
			if b, err = io.ReadAll(z); err == nil {
				err = proto.Unmarshal(b, got)
			}
		}
		if err != nil {
			t.Error(err)
		}
		var packed bytes.Buffer // as a server does whose request was
		packed.Write([]byte{1, 0, 0, 0, 0})
		if err := gzip.NewWriter(&packed).Close(); err != nil {
			t.Error(err)
		}
		binary.BigEndian.PutUint32(packed.Bytes()[1:], uint32(packed.Len()-5))
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Grpc-Encoding", "gzip")
		w.Write(packed.Bytes()) //nolint:errcheck // the client is the test
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
	})
	c := push.NewClient(http.Header{"X-Scope": {"tenant"}})
	if err := c.OTLP(t.Context(), at, r, origin()); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(got, want) || calls.Load() != 2 {
		t.Errorf("in %d calls came %v", calls.Load(), got)
	}
}

// TestGRPCRefused says what is wrong, and what to do about it.
func TestGRPCRefused(t *testing.T) {
	r := saved(t, "report.json")
	part := protowire.AppendString(protowire.AppendTag(protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 3), 2, protowire.BytesType), "no room")
	part = protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), part)
	for name, c := range map[string]struct {
		code, text string
		message    []byte
		want       string
	}{
		"unimplemented": {"12", "unknown service", nil, "service.profilesSupport"},
		"denied":        {"16", "no%20token%3b", nil, "gRPC code 16 no token;; give what it wants by --header"},
		"too big":       {"8", "grpc: received message larger than max (5 vs. 4)", nil, "max_recv_msg_size_mib"},
		"in part":       {"0", "", part, "in part: 3 profiles, no room"},
	} {
		var calls atomic.Int32
		at := overHTTP2(t, func(w http.ResponseWriter, q *http.Request) {
			calls.Add(1)
			io.Copy(io.Discard, q.Body) //nolint:errcheck // the answer is what counts
			answers(w, c.code, c.text, c.message)
		})
		err := push.NewClient(nil).OTLP(t.Context(), at, r, origin())
		if !errors.Is(err, push.ErrRefused) || !strings.Contains(err.Error(), c.want) || calls.Load() != 1 {
			t.Errorf("%s: %v after %d calls", name, err, calls.Load())
		}
	}
	at := overHTTP2(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }) //nolint:errcheck // as above
	if err := push.NewClient(nil).OTLP(t.Context(), at, r, origin()); err == nil || !strings.Contains(err.Error(), "does not speak gRPC") {
		t.Errorf("no gRPC: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := push.NewClient(nil).OTLP(ctx, "grpc://127.0.0.1:1", r, origin()); err == nil || !strings.Contains(err.Error(), "can't reach") {
		t.Errorf("nobody there: %v", err)
	}
}

// TestCheckGRPC tells addresses from what is none.
func TestCheckGRPC(t *testing.T) {
	for _, c := range []struct {
		address string
		otlp    bool
		ok      bool
	}{
		{"http://h:1", true, true},
		{"grpc://h:4317", true, true},
		{"grpcs://h:443/", true, true},
		{"grpc://h:4317", false, false},
		{"grpc://h", true, false},
		{"grpc://h:1/path", true, false},
		{"grpc://:1?x=1", true, false},
		{"ftp://h:1", true, false},
	} {
		if err := push.Check(c.address, c.otlp); (err == nil) != c.ok {
			t.Errorf("%s, otlp %t: %v", c.address, c.otlp, err)
		}
	}
}
