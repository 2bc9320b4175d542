package web

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest/fakejvm"
	"github.com/rivulet-profiler/rivulet/web/webtest"
)

// TestPprof asks as a scraper does.
func TestPprof(t *testing.T) {
	b, err := os.ReadFile("../controller/export/testdata/sample.json")
	if err != nil {
		t.Fatal(err)
	}
	report, err := export.ReadJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	s := running(t, fakejvm.New())
	ask := func(query string) (int, []byte) {
		return webtest.Ask(t, "http://"+s.Address()+"/debug/pprof/rivulet"+query, s.secret, nil)
	}
	var pid int
	var length time.Duration
	s.sample = func(_ context.Context, p int, l time.Duration) (*export.Report, error) {
		pid, length = p, l
		return report, nil
	}
	code, body := ask("?pid=4711&seconds=3")
	p, err := profile.ParseData(body)
	if code != 200 || err != nil || len(p.Sample) == 0 || pid != 4711 || length != 3*time.Second {
		t.Errorf("%d, %v, pid %d for %v", code, err, pid, length)
	}
	for query, want := range map[string]string{
		"":                     "say of which JVM", // none is attached to
		"?pid=x":               "not a number",
		"?pid=4294967296":      "say of which JVM",
		"?pid=1&seconds=0":     "from 1 to 300",
		"?pid=1&seconds=301":   "from 1 to 300",
		"?pid=1&seconds=-1":    "not a number",
		"?pid=1&seconds=1e100": "not a number",
	} {
		if code, body := ask(query); code != 400 || !strings.Contains(string(body), want) {
			t.Errorf("%q: %d %s", query, code, body)
		}
	}
	if err := s.live.Attach(t.Context(), 4711, live.AttachOptions{}); err != nil {
		t.Fatal(err)
	}
	pid = 0
	if code, _ := ask(""); code != 200 || pid != 4711 || length != 10*time.Second {
		t.Errorf("%d, pid %d for %v", code, pid, length)
	}
}

// TestPprofInTurn has one scraper wait, refuses another one, and ends the sampling when the first one leaves.
func TestPprofInTurn(t *testing.T) {
	s := running(t, fakejvm.New())
	begun, ended := make(chan struct{}), make(chan struct{})
	s.sample = func(ctx context.Context, _ int, _ time.Duration) (*export.Report, error) {
		close(begun)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}
	ctx, leave := context.WithCancel(context.Background())
	ask := func(ctx context.Context) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, "GET", "http://"+s.Address()+"/debug/pprof/rivulet?pid=1", nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+s.secret)
		return http.DefaultClient.Do(req)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if resp, err := ask(ctx); err == nil {
			resp.Body.Close()
		}
	}()
	<-begun
	resp, err := ask(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "10" {
		t.Error(resp.Status, resp.Header)
	}
	leave() // whoever goes away ends the sampling
	<-ended
	<-gone
}
