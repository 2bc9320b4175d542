package cli

import (
	"strings"
	"testing"
	"time"
)

// TestCompareOnPage wants the page to compare as the command does, without what is
// of single invocations, and a root that is none to be the user's fault.
func TestCompareOnPage(t *testing.T) {
	f := newFake()
	f.serving(t, func(call func(path, body string) string) {
		call("attach", `{"pid":4711}`)
		if got := call("compare", `{"roots":["Price"]}`); !strings.Contains(got, "no class before the method") {
			t.Error("a root that is none:", got)
		}
		got := call("compare", `{"roots":["shop.Price::of"],"schemes":["C","A"],"seconds":2.5,"natives":"all","probes":"called","filter":["--jdk"]}`)
		if !strings.Contains(got, `"kind":"comparison"`) || !strings.Contains(got, `"snapshot":1`) {
			t.Error("compared:", got)
		}
		if log := call("log", ""); !strings.Contains(log, "comparing schemes: recording by scheme A") {
			t.Error("the log:", log)
		}
	}, "serve")
	rec := f.comparing.Recording
	if f.comparing.For != 2500*time.Millisecond || strings.Join(f.comparing.Schemes, "") != "CA" || rec.Roots[0] != "shop.Price.of" || rec.Natives != "all" || rec.Probes != "called" || !rec.Filter.JDK || rec.Clock != "tick" {
		t.Errorf("compared %+v", f.comparing)
	}

	f = newFake()
	f.serving(t, func(call func(path, body string) string) {
		call("stop", "{}")
		call("compare", `{"roots":["shop.Price.of"],"seconds":1}`)
	}, "profile", "4711", "--ui", "--root", "shop.Price.of", "--slowest", "3", "--warmup", "5s", "--follow", "--cpu", "--mode", "a.*=off")
	if rec := f.comparing.Recording; rec.Slowest+int(rec.Warmup) != 0 || rec.Events || rec.Follow || rec.CPU || len(rec.Modes) != 1 {
		t.Errorf("of what the command line said: %+v", rec)
	}
}
