package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest/fakejvm"
)

// TestScrapeToken: the token of scrapers reads what is for them, by any name of the
// machine, and opens nothing else.
func TestScrapeToken(t *testing.T) {
	s := running(t, fakejvm.New())
	s.token = "0123456789abcdef0123456789abcdef"
	b, err := os.ReadFile("../controller/export/testdata/sample.json")
	if err != nil {
		t.Fatal(err)
	}
	report, err := export.ReadJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var sampled int
	s.sample = func(_ context.Context, pid int, _ time.Duration) (*export.Report, error) {
		sampled = pid
		return report, nil
	}
	s.find = func(_ context.Context, rules []string) (int, error) {
		if fmt.Sprint(rules) != "[main=*Order* user=shop]" {
			return 0, errors.New("no JVM is meant")
		}
		return 42, nil
	}
	ask := func(method, path, token, host string) (int, string, http.Header) {
		t.Helper()
		req, err := http.NewRequest(method, "http://"+s.Address()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(body), res.Header
	}
	own, other := "127.0.0.1:"+s.port, "orders.example:7007"
	for _, c := range []struct {
		method, path, token, host string
		want                      int
		says                      string
	}{
		{"GET", "/metrics", s.token, own, 200, "rivulet_recording 0\n"},
		{"GET", "/metrics", s.token, other, 200, "# EOF\n"},
		{"GET", "/metrics", s.secret, own, 200, "# EOF\n"},
		{"GET", "/metrics", s.secret, other, 421, ""},
		{"GET", "/metrics", s.token[1:], own, 401, ""},
		{"GET", "/metrics", "", own, 401, ""},
		{"POST", "/metrics", s.token, own, 401, ""},
		{"GET", "/debug/pprof/rivulet?match=main=*Order*&match=user=shop", s.token, other, 200, ""},
		{"GET", "/debug/pprof/rivulet?match=main=x", s.token, own, 400, "no JVM is meant"},
		{"GET", "/debug/pprof/rivulet?match=main=x&pid=3", s.token, own, 400, "give pid, or match"},
		{"GET", "/api/state", s.token, own, 401, ""},
		{"GET", "/api/targets", s.token, own, 401, ""},
		{"POST", "/api/attach", s.token, own, 401, ""},
		{"GET", "/ws", s.token, own, 401, ""},
		{"GET", "/metrics/", s.token, other, 421, ""},
	} {
		if code, body, _ := ask(c.method, c.path, c.token, c.host); code != c.want || !strings.Contains(body, c.says) {
			t.Errorf("%s %s for %s: %d %s", c.method, c.path, c.host, code, body)
		}
	}
	if sampled != 42 {
		t.Errorf("JVM %d was sampled, want 42", sampled)
	}
	// Scrapers have to wait; whoever has the page's secret has not.
	soon := 0
	for range 20 {
		code, body, header := ask("GET", "/debug/pprof/rivulet?pid=1", s.token, own)
		switch {
		case code == 429 && header.Get("Retry-After") != "" && strings.Contains(body, "too often"):
			soon++
		case code != 200:
			t.Errorf("%d %s", code, body)
		}
		if code, body, _ := ask("GET", "/debug/pprof/rivulet?pid=1", s.secret, own); code != 200 {
			t.Errorf("with the secret: %d %s", code, body)
		}
	}
	if soon < 10 {
		t.Errorf("%d of 20 requests at once had to wait", soon)
	}
	s.token = ""
	if code, _, _ := ask("GET", "/metrics", "", own); code != 401 {
		t.Errorf("without any token: %d", code)
	}
}

// TestCheckToken refuses what can be guessed, or can't travel in a header.
func TestCheckToken(t *testing.T) {
	for token, ok := range map[string]bool{
		"0123456789abcdef0123": true, "": false, "secret": false, "0123456789abcdef 0123": false, "0123456789abcdef0123\n": false, "0123456789abcdefghij-ö": false,
	} {
		if err := CheckToken(token); (err == nil) != ok {
			t.Errorf("%q: %v", token, err)
		}
	}
}
