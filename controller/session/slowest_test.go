package session_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// secondSnapshot takes snapshots until two in a row were corrected with the same
// measured costs, and wants the slowest to be the same in both: what one
// corrects, the other must not find corrected. The costs are measured, and
// measured again, while the recording is on: between two snapshots they may change.
func secondSnapshot(t *testing.T, s *session.Session) *export.Report {
	t.Helper()
	var before, last *export.Report
	until(t, "two snapshots are corrected with the same costs", jvmtest.Patience, func() bool {
		r, err := s.Snapshot(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		before, last = last, r
		return before != nil && last.Calibration != nil && reflect.DeepEqual(before.Calibration, last.Calibration)
	})
	if a, b := before.Slowest.Invocations[0].Tree().Total, last.Slowest.Invocations[0].Tree().Total; a != b {
		t.Errorf("total %d after %d, with %+v", b, a, last.Calibration)
	}
	return last
}

// TestSlowest keeps the slowest of root invocations that a program makes slow:
// which they are, their own trees, and what bounds them.
func TestSlowest(t *testing.T) {
	t.Parallel()
	j := jvmtest.Any(t)
	dir := sources(t, "Slow")
	for _, c := range []struct {
		over time.Duration
		n    int
	}{
		{0, 5},
		{290 * time.Millisecond, 9}, // four, and those that the machine has made as slow
	} {
		t.Run(fmt.Sprint(c.n, "-", c.over), func(t *testing.T) {
			p := program(t, j, dir, "Slow", nil, "60")
			s := attached(t, p)
			start(t, s, session.Recording{Roots: []string{"t.Slow.work"}, Clock: "precise", Slowest: c.n, Over: c.over, Timeline: 1000, Natives: session.NativesOff})
			p.Send("go")
			p.WaitLine("OK")
			before := secondSnapshot(t, s)
			r := stopped(t, s)
			agree(t, r)
			for i, k := range before.Slowest.Invocations {
				if last := r.Slowest.Invocations[i]; k.Took != last.Took || k.Start != last.Start || cct.Sum(k.Thread.Roots).Calls != cct.Sum(last.Thread.Roots).Calls {
					t.Errorf("slowest %d while it was recorded: %+v, at the end %+v", i, k, last)
				}
			}
			if n := len(before.Slowest.Invocations); n != len(r.Slowest.Invocations) || before.Slowest.Of != r.Slowest.Of {
				t.Errorf("while it was recorded %d of %d, at the end %d of %d", n, before.Slowest.Of, len(r.Slowest.Invocations), r.Slowest.Of)
			}
			var kept []float64
			for _, i := range r.Slowest.Invocations {
				kept = append(kept, float64(i.Took))
				calls := map[string]int64{}
				for n := range cct.All(i.Thread.Roots) {
					m, _ := r.Lookup(n.Method)
					calls[m.Name] += n.Calls
				}
				steps := calls["t.Slow.step()V"]
				pauses := map[bool]int64{true: 1}[steps%10 == 0]
				text := fmt.Sprintf("%s %d", i.Thread.Name, steps)
				if i.Thrown != (steps == 50) {
					t.Errorf("%s: thrown is %v", text, i.Thrown)
				}
				if calls["t.Slow.work(I)V"] != 1 || calls["t.Slow.pause(I)V"] != pauses || int64(len(calls)) != 2+pauses {
					t.Errorf("%s: %v", text, calls)
				}
				if i.Start < 0 || i.Took <= int64(c.over) || i.Tree().Total > i.Took {
					t.Errorf("%s: start %d, took %d, tree %d", text, i.Start, i.Took, i.Tree().Total)
				}
			}
			if c.over == 0 && r.Slowest.Of != 120 {
				t.Errorf("of %d, want 120", r.Slowest.Of)
			}
			var trace strings.Builder
			if err := r.Trace(&trace); err != nil {
				t.Fatal(err)
			}
			// The timeline has all root calls, and how long each took.
			var want []float64
			for _, ns := range rootTimes(t, trace.String()) {
				if ns > float64(c.over) {
					want = append(want, ns)
				}
			}
			want = want[:min(c.n, len(want))]
			if len(want) < 4 || !slices.EqualFunc(kept, want, func(a, b float64) bool { return math.Abs(a-b) < 1 }) {
				t.Errorf("kept %v, want %v", kept, want)
			}
			roots, names := readTrace(t, trace.String())
			if roots != 120 || names["t.Slow.pause(I)V"] != 12 {
				t.Errorf("%d root calls in the timeline, %v", roots, names)
			}
			p.Send("e")
		})
	}
}

// rootTimes is how long the root calls of a timeline took, in ns, the longest first.
func rootTimes(t *testing.T, text string) (out []float64) {
	t.Helper()
	var f struct {
		TraceEvents []struct {
			Cat string
			Dur float64 // us
		}
	}
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	for _, e := range f.TraceEvents {
		if e.Cat == "root" {
			out = append(out, math.Round(1000*e.Dur))
		}
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out
}

// readTrace checks a timeline against the Chrome trace-event format, and that
// slices of a thread lie within each other or apart; both ends of a flow, in a
// slice. It counts the slices by name, flows as "task", and root invocations.
func readTrace(t *testing.T, text string) (roots int, names map[string]int) {
	t.Helper()
	var f struct {
		TraceEvents []struct {
			Ph, Name, Cat string
			ID            int64
			PID, TID      *int64
			TS, Dur       *float64
			Args          map[string]any
		}
		DisplayTimeUnit string
	}
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&f); err != nil {
		t.Fatalf("trace: %v", err)
	}
	type span struct{ from, to float64 }
	threads := map[int64][]span{}
	named := map[int64]bool{}
	type end struct {
		thread int64
		at     float64
	}
	flows := map[string]map[int64]end{"s": {}, "f": {}}
	names = map[string]int{}
	for i, e := range f.TraceEvents {
		if e.PID == nil || e.TID == nil || e.Name == "" {
			t.Fatalf("trace event %d lacks a field: %+v", i, e)
		}
		switch e.Ph {
		case "M":
			if e.Args["name"] == "" || e.Args["name"] == nil {
				t.Errorf("metadata without a name: %+v", e)
			}
			named[*e.TID] = true
		case "X":
			if e.TS == nil || e.Dur == nil || *e.TS < 0 || *e.Dur < 0 || e.Cat == "" {
				t.Fatalf("slice %d: %+v", i, e)
			}
			threads[*e.TID] = append(threads[*e.TID], span{*e.TS, *e.TS + *e.Dur})
			names[e.Name]++
			if e.Cat == "root" {
				roots++
			}
		case "i":
			if e.TS == nil || *e.TS < 0 || e.Cat != "load" || !named[*e.TID] {
				t.Errorf("instant %d: %+v", i, e)
			}
		case "s", "f":
			if _, twice := flows[e.Ph][e.ID]; e.TS == nil || e.ID == 0 || e.Cat != "task" || twice {
				t.Fatalf("flow %d: %+v", i, e)
			}
			flows[e.Ph][e.ID] = end{*e.TID, *e.TS}
		default:
			t.Errorf("phase %q", e.Ph)
		}
	}
	const rounding = 0.002 // two times rounded to ns
	for id, spans := range threads {
		if !named[id] {
			t.Errorf("thread %d has no name", id)
		}
		slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
		var open []span
		for _, s := range spans {
			for len(open) > 0 && open[len(open)-1].to <= s.from+rounding {
				open = open[:len(open)-1]
			}
			if len(open) > 0 && s.to > open[len(open)-1].to+rounding {
				t.Errorf("thread %d: %v crosses %v", id, s, open[len(open)-1])
			}
			open = append(open, s)
		}
	}
	for id, from := range flows["s"] {
		to, both := flows["f"][id]
		within := func(e end) bool {
			return slices.ContainsFunc(threads[e.thread], func(s span) bool { return s.from <= e.at && e.at < s.to })
		}
		if !both || to.at < from.at || !within(from) || !within(to) {
			t.Errorf("flow %d from %v to %v", id, from, to)
		}
		names["task"]++
	}
	if len(flows["s"]) != len(flows["f"]) {
		t.Errorf("%d flows begin, %d end", len(flows["s"]), len(flows["f"]))
	}
	return roots, names
}
