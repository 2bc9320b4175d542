package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// example is one of the scripts of docs/agents.
func example(t *testing.T, name string, args map[string]string) Source {
	t.Helper()
	src, err := Read(filepath.Join("../../docs/agents", name+".star"), t.TempDir(), args)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func file(t *testing.T, src Source, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(src.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRates(t *testing.T) {
	m := &Metrics{}
	src := example(t, "rates", nil)
	a := hosted(t, &fake{calls: 4, returned: 1, counted: true}, Config{Metrics: m}, src, nil) // which has gone on for 2 s
	want(t, a, "2 packages, 6 calls in 2000 ms")
	var b strings.Builder
	m.WriteTo(&b) //nolint:errcheck // it is memory
	for _, line := range []string{
		`rivulet_calls_per_second{package="shop.data"} 2`, `rivulet_calls_per_second{package="shop"} 1`,
		`rivulet_self_bytecodes_per_second{package="shop.data"} 8`, "# TYPE rivulet_calls_per_second gauge",
	} {
		if !strings.Contains(b.String(), line+"\n") {
			t.Errorf("no %s in\n%s", line, b.String())
		}
	}
}

func TestMerge(t *testing.T) {
	src := example(t, "merge", nil)
	want(t, hosted(t, &fake{calls: 4, returned: 1, counted: true}, Config{}, src, nil), "3 contexts of 1 threads")
	if got := file(t, src, "tree.txt"); got != `# context calls thrown self_bytecodes
shop.Main.main 1 0 5
shop.Main.main;shop.Main.other 1 0 2
shop.Main.main;shop.data.Item.work 4 1 16
` {
		t.Errorf("tree.txt:\n%s", got)
	}
}

func TestWatchdog(t *testing.T) {
	f := &fake{}
	src := example(t, "watchdog", map[string]string{"figure": "calls", "most": "100", "exact": "yes"})
	a := hosted(t, f, Config{}, src, func(h *Host) {
		f.invoke(t, 90, time.Millisecond)
		f.invoke(t, 99, time.Millisecond)
		select {
		case <-h.Stopped():
			t.Error("stopped early")
		default:
		}
		f.invoke(t, 200, time.Millisecond)
		<-h.Stopped()
		if h.Why() != "stopped by agent watchdog: a root call had 201 calls" {
			t.Error(h.Why())
		}
	})
	want(t, a, "a root call of thread main: 201 calls, more than 100")
	if got := file(t, src, "too-much.json"); !strings.Contains(got, `"calls":389`) {
		t.Errorf("too-much.json: %s", got)
	}
}

func TestFit(t *testing.T) {
	f := &fake{}
	src := example(t, "fit", map[string]string{"size": "shop.data.Item.work", "cost": "self_ns"})
	a := hosted(t, f, Config{}, src, func(*Host) {
		for _, n := range []int64{10, 20, 40, 20} {
			f.invoke(t, n, time.Millisecond)
		}
	})
	want(t, a, "self_ns grows like size^0.77 over 3 sizes, like size^1.00 between the two largest")
	if got := file(t, src, "points.txt"); got != "size invocations mean_self_ns\n10 1 41\n20 2 60\n40 1 120\n" {
		t.Errorf("points.txt:\n%s", got)
	}
}

// Each example says how it is called.
func TestExamplesLoad(t *testing.T) {
	paths, err := filepath.Glob("../../docs/agents/*.star")
	if err != nil || len(paths) < 4 {
		t.Fatalf("%q, %v", paths, err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".star")
		src := example(t, name, nil)
		if !strings.Contains(src.Text, "--agent "+name+".star") {
			t.Errorf("%s has no example", path)
		}
		h, err := New([]Source{src}, Config{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		h.Finish(context.Background(), (&fake{}).report())
	}
}
