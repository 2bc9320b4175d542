package web

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest/fakejvm"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

func TestGuard(t *testing.T) {
	s := running(t, fakejvm.New())
	own := "127.0.0.1:" + s.port
	tests := []struct {
		name, method, path, host string
		header                   map[string]string
		want                     int
	}{
		{"page", "GET", "/", own, nil, 200},
		{"page by name", "GET", "/app.js", "localhost:" + s.port, nil, 200},
		{"page by IPv6", "GET", "/", "[::1]:" + s.port, nil, 200},
		{"rebinding", "GET", "/", "evil.example:" + s.port, nil, 421},
		{"rebinding with the secret", "GET", "/api/state", "evil.example:" + s.port, map[string]string{"Authorization": "Bearer " + s.secret}, 421},
		{"a name that ends like ours", "GET", "/", "127.0.0.1.evil.example:" + s.port, nil, 421},
		{"another address", "GET", "/", "192.0.2.1:" + s.port, nil, 421},
		{"another port", "GET", "/", "127.0.0.1:1", nil, 421},
		{"no port", "GET", "/", "localhost", nil, 421},
		{"post to the page", "POST", "/", own, nil, 405},
		{"no secret", "GET", "/api/state", own, nil, 401},
		{"wrong secret", "GET", "/api/state", own, map[string]string{"Authorization": "Bearer " + s.secret[1:]}, 401},
		{"secret in the wrong place", "GET", "/api/state?key=" + s.secret, own, nil, 401},
		{"secret", "GET", "/api/state", own, map[string]string{"Authorization": "Bearer " + s.secret}, 200},
		{"own origin", "GET", "/api/state", own, map[string]string{"Authorization": "Bearer " + s.secret, "Origin": "http://" + own}, 200},
		{"foreign origin", "GET", "/api/state", own, map[string]string{"Authorization": "Bearer " + s.secret, "Origin": "http://evil.example"}, 403},
		{"null origin", "POST", "/api/stop", own, map[string]string{"Authorization": "Bearer " + s.secret, "Origin": "null"}, 403},
		{"other site", "GET", "/api/state", own, map[string]string{"Authorization": "Bearer " + s.secret, "Sec-Fetch-Site": "cross-site"}, 403},
		{"other port of this host", "GET", "/api/state", own, map[string]string{"Authorization": "Bearer " + s.secret, "Sec-Fetch-Site": "same-site"}, 403},
		{"scraper without secret", "GET", "/debug/pprof/rivulet?pid=4711", own, nil, 401},
		{"scraper where nothing is sampled", "GET", "/debug/pprof/rivulet?pid=4711", own, map[string]string{"Authorization": "Bearer " + s.secret}, 404},
		{"websocket without secret", "GET", "/ws", own, nil, 401},
		{"unknown", "GET", "/api/nothing", own, map[string]string{"Authorization": "Bearer " + s.secret}, 404},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req, err := http.NewRequest(test.method, "http://"+s.Address()+test.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = test.host
			for k, v := range test.header {
				req.Header.Set(k, v)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != test.want {
				b, _ := io.ReadAll(resp.Body)
				t.Errorf("%s, want %d: %s", resp.Status, test.want, b)
			}
			if got := resp.Header.Get("Content-Security-Policy"); !strings.HasPrefix(got, "default-src 'none'; script-src 'self';") || strings.Contains(got, "unsafe") {
				t.Errorf("policy: %q", got)
			}
			if resp.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Error("others may read the answer")
			}
		})
	}
}

// TestDefaultPort has a server on port 80, which browsers leave out of Host and Origin.
func TestDefaultPort(t *testing.T) {
	s := running(t, fakejvm.New())
	eighty := &Server{port: "80", loopback: true, secret: s.secret, live: s.live, log: s.log}
	h := eighty.handler()
	for _, test := range []struct {
		host, origin string
		want         int
	}{
		{"127.0.0.1", "http://127.0.0.1", 200},
		{"localhost", "http://localhost", 200},
		{"[::1]", "http://[::1]", 200},
		{"127.0.0.1:80", "", 200},
		{"127.0.0.1", "http://127.0.0.1:8080", 403},
		{"evil.example", "http://evil.example", 421},
		{"127.0.0.1:8080", "", 421},
		{"::1", "", 421},
		{"", "", 421},
	} {
		r := httptest.NewRequest("GET", "/api/log", nil)
		r.Host = test.host
		r.Header.Set("Authorization", "Bearer "+s.secret)
		if test.origin != "" {
			r.Header.Set("Origin", test.origin)
		}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != test.want {
			t.Errorf("%q from %q: %d, want %d: %s", test.host, test.origin, w.Code, test.want, w.Body)
		}
	}
}

// TestPageIsSelfContained looks for addresses of other hosts in the built page.
func TestPageIsSelfContained(t *testing.T) {
	files := 0
	err := fs.WalkDir(dist, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := dist.ReadFile(path)
		text := strings.ReplaceAll(string(b), "http://www.w3.org/", "") // names of XML, not fetched
		for _, bad := range []string{"http://", "https://", "<script>", " style=\"", "eval(", "innerHTML ="} {
			if strings.Contains(text, bad) {
				t.Errorf("%s contains %q", path, bad)
			}
		}
		return err
	})
	if err != nil || files < 4 {
		t.Errorf("%d files: %v", files, err)
	}
}

func (s *Server) dial(t *testing.T, key, origin string) (*websocket.Conn, int) {
	t.Helper()
	h := http.Header{}
	if origin != "" {
		h.Set("Origin", origin)
	}
	d := websocket.Dialer{Subprotocols: []string{protocol, keyProtocol + key}}
	c, resp, err := d.Dial("ws://"+s.Address()+"/ws", h)
	if err != nil {
		if resp == nil {
			t.Fatal(err)
		}
		return nil, resp.StatusCode
	}
	t.Cleanup(func() { c.Close() })
	return c, resp.StatusCode
}

func TestSocketGuard(t *testing.T) {
	s := running(t, fakejvm.New())
	if _, code := s.dial(t, "wrong", "http://"+s.Address()); code != 401 {
		t.Errorf("wrong secret: %d", code)
	}
	if _, code := s.dial(t, s.secret, "http://evil.example"); code != 403 {
		t.Errorf("wrong origin: %d", code)
	}
	c, code := s.dial(t, s.secret, "http://"+s.Address())
	if code != 101 || c.Subprotocol() != protocol {
		t.Errorf("%d, protocol %q: the secret must not come back", code, c.Subprotocol())
	}
}

func TestBadMessages(t *testing.T) {
	tests := []struct {
		name string
		kind int
		text string
		want int
	}{
		{"no JSON", websocket.TextMessage, "hello", websocket.ClosePolicyViolation},
		{"wrong type", websocket.TextMessage, `{"tree":{"open":"all"}}`, websocket.ClosePolicyViolation},
		{"wrong group", websocket.TextMessage, `{"methods":{"group":"planet"}}`, websocket.ClosePolicyViolation},
		{"binary", websocket.BinaryMessage, "{}", websocket.CloseUnsupportedData},
		{"too long", websocket.TextMessage, strings.Repeat(" ", maxMessage+1), websocket.CloseMessageTooBig},
	}
	s := running(t, fakejvm.New())
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, _ := s.dial(t, s.secret, "")
			if err := c.WriteMessage(test.kind, []byte(test.text)); err != nil {
				t.Fatal(err)
			}
			for {
				if _, _, err := c.ReadMessage(); err != nil {
					if !websocket.IsCloseError(err, test.want) {
						t.Errorf("%v, want %d", err, test.want)
					}
					return
				}
			}
		})
	}
}

// TestConnections opens ten thousand connections without the secret while a recording is on, and wants
// the oldest of them to be closed, the recording and who looks at it to go on as before, and the server to answer
// those who know the secret while all the others hold on.
func TestConnections(t *testing.T) {
	flood := 10_000
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil || files.Cur < 11_000 {
		flood = 3000
	}
	f := fakejvm.New()
	s := running(t, f)
	ctx := t.Context()
	if err := errors.Join(s.live.Attach(ctx, 4711, live.AttachOptions{}), s.live.Start(ctx, spec.Recording{Roots: []string{"a.B.c"}})); err != nil {
		t.Fatal(err)
	}
	c, _ := s.dial(t, s.secret, "")
	if err := c.WriteMessage(websocket.TextMessage, []byte(`{"seq":1,"tree":{"rows":10}}`)); err != nil {
		t.Fatal(err)
	}
	seen := next(t, c, func(m message) bool { return m.Tree != nil }).Frame
	var open []net.Conn
	for i := range flood {
		k, err := net.Dial("tcp", s.Address())
		if err != nil {
			t.Fatal(err)
		}
		defer k.Close()
		if open = append(open, k); i%1000 == 999 {
			frame, err := s.fresh(ctx)
			if err != nil || frame <= seen {
				t.Fatalf("with %d connections: frame %+v, %v", i, frame, err)
			}
			seen = next(t, c, func(m message) bool { return m.T == "page" && m.Frame >= frame }).Frame
		}
	}
	for range 5 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Address()+"/api/log", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Close = true // a new connection each time
		req.Header.Set("Authorization", "Bearer "+s.secret)
		resp, err := http.DefaultClient.Do(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("who knows the secret is kept out: %v", err)
			continue
		}
		resp.Body.Close()
	}
	closed := 0
	for _, k := range open[:flood-maxConns] {
		k.SetReadDeadline(time.Now().Add(5 * time.Minute))
		if _, err := k.Read(make([]byte, 1)); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			closed++
		}
	}
	if closed != flood-maxConns {
		t.Errorf("%d of %d connections too many were closed", closed, flood-maxConns)
	}
	for _, k := range open {
		k.Close()
	}
	answers := false
	for over := time.Now().Add(5 * time.Minute); time.Now().Before(over); {
		resp, err := http.Get("http://" + s.Address() + "/")
		if err == nil {
			resp.Body.Close()
			answers = true
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !answers {
		t.Error("the server does not answer any more")
	}
	if err := s.live.Stop(ctx); err != nil || s.live.State().Phase != live.Stopped {
		t.Errorf("the recording: %v, %s", err, s.live.State().Phase)
	}
}

// TestFault has a request run into a fault of the program's own: it is answered, the log
// of the page has it, and others are served on.
func TestFault(t *testing.T) {
	f := fakejvm.New()
	f.Faulty = true
	s := running(t, f)
	h := s.safely(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { f.Methods(t.Context()) })) //nolint:errcheck // it panics
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/methods", nil))
	if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "fault of Rivulet's own") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	log := s.live.Entries(0)
	if len(log) == 0 || !strings.Contains(log[len(log)-1].Text, "/api/methods: faulty") {
		t.Errorf("log %v", log)
	}
}
