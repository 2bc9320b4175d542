package export_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// met is a node that samples have found innermost so often.
func met(method int32, entries, samples int64, children ...*cct.Node) *cct.Node {
	n := node(method, entries, 0, samples*10e6, children...)
	if samples > 0 {
		n.Details().Sample = &cct.Sample{Ran: samples * 10e6, Wall: samples * 10e6, Count: samples}
		n.Error = n.Sample().Error()
	}
	return n
}

// sampled is a report of 200 samples, at 100 Hz, of two threads.
func sampled() *export.Report {
	price := met(2, 40, 60)
	price.Sample().Lines = []cct.Line{{Line: 57, Count: 40}, {Line: 58, Count: 20}}
	wait := met(3, 5, 20)
	wait.Sample().Ran, wait.Sample().Unsure = 0, 3
	return &export.Report{
		Target: export.Target{PID: 4711, Java: "17.0.15", VM: "OpenJDK 64-Bit Server VM", Main: "shop.Main"},
		Time:   2 * time.Second, Ended: "stopped", Notes: []string{"the JVM runs without -XX:+DebugNonSafepoints"},
		Tree: &cct.Snapshot{Threads: []*cct.Thread{
			{ID: 1, Name: "main", Roots: cct.Merge([]*cct.Node{met(0, 1, 10, price, met(4, 1, 80, met(4, 2, 10)), wait)})},
			{ID: 23, Name: "worker", Roots: cct.Merge([]*cct.Node{met(0, 1, 0, met(2, 3, 20))})},
		}},
		Lookup: lookup,
		Sampling: &export.Sampling{
			Source: "perf", Mode: export.CPUMode, Hz: 100, Samples: 200, Complete: 198, Heuristic: 3, Lost: 1, Seconds: 2, First: 41.5,
			Share: 0.0021, Why: "perf_event_paranoid is 2", Detached: 1, Broken: map[string]int64{"no return address": 2},
			States: map[string]int64{"running": 180, "waiting": 20}, Skewed: true,
		},
	}
}

// sampledWall is the same by the wall clock, with what the threads did.
func sampledWall() *export.Report {
	r := sampled()
	r.Sampling.Mode, r.CPU = export.WallMode, &export.CPU{Samples: 200}
	for n := range cct.All(r.Tree.Roots()) {
		if s := n.Sample(); s != nil {
			s.States = make([]int64, len(export.StateNames))
			running := s.Count * s.Ran / s.Wall
			s.States[1], s.States[4] = running, s.Count-running
		}
	}
	price := r.Tree.Threads[0].Roots[0].Children[0].Sample()
	price.Ran, price.States = 300e6, []int64{0, 30, 0, 30}
	return r
}

func TestSampleGolden(t *testing.T) {
	none := &export.Report{Target: export.Target{PID: 1}, Time: time.Second, Sampling: &export.Sampling{Source: "perf", Mode: export.CPUMode, Hz: 99}}
	twice := export.Merge(sampled(), sampled())
	for file, write := range map[string]func(*bytes.Buffer) error{
		"sample.txt":        func(b *bytes.Buffer) error { return sampled().Text(b, export.TextOptions{Top: 3}) },
		"sample.json":       func(b *bytes.Buffer) error { return sampled().JSON(b, export.JSONOptions{}) },
		"sample-depth.json": func(b *bytes.Buffer) error { return sampled().JSON(b, export.JSONOptions{Depth: 1}) },
		"sample.collapsed":  func(b *bytes.Buffer) error { return sampled().Collapsed(b, "") },
		"sample-wall.txt":   func(b *bytes.Buffer) error { return sampledWall().Text(b, export.TextOptions{Top: 3}) },
		"sample-wall.json":  func(b *bytes.Buffer) error { return sampledWall().JSON(b, export.JSONOptions{}) },
		"sample-none.txt":   func(b *bytes.Buffer) error { return none.Text(b, export.TextOptions{}) },
		"sample-merged.txt": func(b *bytes.Buffer) error { return twice.Text(b, export.TextOptions{}) },
	} {
		t.Run(file, func(t *testing.T) {
			var got bytes.Buffer
			if err := write(&got); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", file)
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("differs from %s:\n%s", golden, got.String())
			}
		})
	}
}

// TestSampleReadAgain: written again, a report of samples is the same.
func TestSampleReadAgain(t *testing.T) {
	for _, sampled := range []func() *export.Report{sampled, sampledWall} {
		readAgain(t, sampled)
	}
}

func readAgain(t *testing.T, sampled func() *export.Report) {
	t.Helper()
	var first, second, text, again bytes.Buffer
	if err := sampled().Snapshot(&first); err != nil {
		t.Fatal(err)
	}
	r, err := export.ReadJSON(&first)
	if err != nil {
		t.Fatal(err)
	}
	first.Reset()
	sampled().JSON(&first, export.JSONOptions{})
	r.JSON(&second, export.JSONOptions{})
	if first.String() != second.String() {
		t.Errorf("read again it is\n%s", second.String())
	}
	sampled().Text(&text, export.TextOptions{})
	r.Text(&again, export.TextOptions{})
	if text.String() != again.String() {
		t.Errorf("read again its text is\n%s\nit was\n%s", again.String(), text.String())
	}
	if r.Exact() {
		t.Error("samples are said to be exact")
	}
}

func TestSampleDamaged(t *testing.T) {
	var b bytes.Buffer
	sampled().JSON(&b, export.JSONOptions{})
	for _, change := range [][2]string{
		{`"samples": 200`, `"samples": 201`},
		{`"self_samples":60`, `"self_samples":61`},
		{`"kind": "sample"`, `"kind": "other"`},
		{`"sampling": {`, `"sampled": {`},
	} {
		text := strings.Replace(b.String(), change[0], change[1], 2)
		if text == b.String() {
			t.Fatalf("nothing to change: %s", change[0])
		}
		if _, err := export.ReadJSON(strings.NewReader(text)); err == nil {
			t.Errorf("with %s it is read", change[1])
		}
	}
}

func TestSamplePprof(t *testing.T) {
	var b bytes.Buffer
	if err := sampled().Pprof(&b); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	var sums [3]int64
	for _, s := range p.Sample {
		for i, v := range s.Value {
			sums[i] += v
		}
	}
	if sums != [3]int64{200, 2e9, 53} || p.DefaultSampleType != "cpu" || p.Period != 10e6 {
		t.Errorf("sums %v, default %q, period %d", sums, p.DefaultSampleType, p.Period)
	}
}

func TestComparable(t *testing.T) {
	wall := sampled()
	wall.Sampling.Mode = export.WallMode
	for _, c := range []struct {
		reports []*export.Report
		mixed   bool
	}{
		{[]*export.Report{sampled(), sampled(), sampled()}, false},
		{[]*export.Report{report(), report()}, false},
		{[]*export.Report{report(), sampled()}, true},
		{[]*export.Report{sampled(), report()}, true},
		{[]*export.Report{sampled(), wall}, true},
	} {
		if err := export.Comparable(c.reports...); errors.Is(err, export.ErrMixed) != c.mixed {
			t.Errorf("%v, want mixed %v", err, c.mixed)
		}
	}
}

// TestWilson holds the interval against the binomial distribution: the true share is
// within it in about 95 % of the cases.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n int64
		want string
	}{
		{0, 0, "0.000 1.000"}, {0, 10, "0.000 0.278"}, {10, 10, "0.722 1.000"}, {50, 100, "0.404 0.596"}, {300, 1000, "0.272 0.329"},
	} {
		if low, high := export.Wilson(c.k, c.n); fmt.Sprintf("%.3f %.3f", low, high) != c.want {
			t.Errorf("Wilson(%d, %d) = %.3f %.3f, want %s", c.k, c.n, low, high, c.want)
		}
	}
	for _, p := range []float64{0.02, 0.3, 0.5, 0.9} {
		const n = 200
		within := 0.0
		for k := range int64(n + 1) {
			if low, high := export.Wilson(k, n); low <= p && p <= high {
				a, _ := math.Lgamma(n + 1)
				b, _ := math.Lgamma(float64(k + 1))
				c, _ := math.Lgamma(float64(n - k + 1))
				within += math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log(1-p))
			}
		}
		if within < 0.93 || within > 0.98 {
			t.Errorf("a share of %v is within the interval in %.3f of the cases", p, within)
		}
	}
}
