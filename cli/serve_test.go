package cli

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/web/webtest"
)

// A watchedOutput calls back when the page's address is printed.
type watchedOutput struct {
	mu   sync.Mutex
	text bytes.Buffer
	once sync.Once
	url  chan string
}

func (w *watchedOutput) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	if _, rest, ok := strings.Cut(w.text.String(), "the page is at "); ok && strings.Contains(rest, "\n") {
		w.once.Do(func() { w.url <- rest[:strings.IndexByte(rest, '\n')] })
	}
	return len(p), nil
}

// serving runs a command with a page and returns what was printed, when it has
// ended by Ctrl-C; during gets the page's REST interface.
func (f *fake) serving(t *testing.T, during func(call func(path, body string) string), args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("XDG_DATA_HOME", t.TempDir()) // where the page keeps snapshots
	var out bytes.Buffer
	w := &watchedOutput{url: make(chan string, 1)}
	a := &app{backend: f, stdin: strings.NewReader(""), stdout: &out, stderr: w}
	ended := make(chan int)
	go func() { ended <- a.run(args) }()
	var url string
	select {
	case url = <-w.url:
	case code := <-ended:
		return code, out.String(), w.text.String()
	case <-time.After(5 * time.Minute):
		t.Fatal("no address")
	}
	page, secret, _ := strings.Cut(url, "/#")
	during(func(path, body string) string {
		_, b := webtest.Ask(t, page+"/api/"+path, secret, []byte(body))
		return string(b)
	})
	signalSelf(t, syscall.SIGINT)
	select {
	case code = <-ended:
	case <-time.After(5 * time.Minute):
		t.Fatal("Ctrl-C does not end it")
	}
	return code, out.String(), w.text.String()
}

func TestServe(t *testing.T) {
	f := newFake()
	code, _, stderr := f.serving(t, func(call func(path, body string) string) {
		if got := call("targets", ""); !strings.Contains(got, `"pid":4711`) || strings.Contains(got, "\x1b") {
			t.Error("targets:", got)
		}
		call("attach", `{"pid":4711}`)
		if got := call("methods?q=of", ""); !strings.Contains(got, `"shop.Price.of(I)J"`) {
			t.Error("methods:", got)
		}
		if got := call("start", `{"roots":["Price"]}`); !strings.Contains(got, "no class before the method") {
			t.Error("a root that is none:", got)
		}
		if got := call("start", `{"roots":["shop.Price::of"],"scheme":"A"}`); !strings.Contains(got, `"phase":"recording"`) {
			t.Error("start:", got)
		}
	}, "serve")
	if code != 0 || !strings.Contains(stderr, "http://127.0.0.1:") {
		t.Errorf("%d: %s", code, stderr)
	}
	if f.rec.Roots[0] != "shop.Price.of" || f.rec.Scheme != "A" {
		t.Errorf("recorded %+v", f.rec)
	}
	if got := f.steps(); got != "attach start finish" {
		t.Error("steps:", got)
	}
}

func TestServeFails(t *testing.T) {
	f := newFake()
	for _, test := range []struct {
		args   []string
		stderr string
	}{
		{[]string{"serve", "x"}, `"x" is not a process id`},
		{[]string{"serve", "--listen", "127.0.0.1:99999"}, "choose another address with --listen"},
		{[]string{"serve", "1", "2"}, `"2" is one argument too many`},
	} {
		f.run(t, test.args...).want(t, 2, "", test.stderr)
	}
}

// TestProfileOnPage wants the same report as from profile without a page.
func TestProfileOnPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.json")
	f := newFake()
	code, stdout, stderr := f.serving(t, func(call func(path, body string) string) {
		var state struct{ Phase string }
		if err := json.Unmarshal([]byte(call("state", "")), &state); err != nil || state.Phase != "recording" {
			t.Error(state, err)
		}
	}, "profile", "4711", "--ui", "--root", "shop/Price#of(I)J", "--scheme", "c", "--wait")
	if code != 0 || !strings.Contains(stdout, "shop.Price.of") || !strings.Contains(stderr, "stopped after 1.00 s") {
		t.Errorf("%d: %s %s", code, stdout, stderr)
	}
	if f.rec.Scheme != "C" || !f.rec.Wait || f.rec.Roots[0] != "shop.Price.of(I)J" {
		t.Errorf("recorded %+v", f.rec)
	}
	f = newFake()
	f.attachErr = errString("no socket")
	code, _, stderr = f.serving(t, nil, "profile", "4711", "--ui", "--root", "a.B.c", "-o", path)
	if code != 1 || !strings.Contains(stderr, "rivulet: no socket") {
		t.Errorf("%d: %s", code, stderr)
	}
}

type errString string

func (e errString) Error() string { return string(e) }
