package session_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestMarks collects, loads and reveals in a recorded method: each collection
// that the program caused has a mark within the call that caused it, on every
// JVM, whatever its time base; and the timeline can be queried meanwhile.
func TestMarks(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Marks")
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		const times = 4
		p := program(t, j, dir, "Marks", nil)
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Marks.root"}, Scheme: "B", Timeline: 1000, Slowest: 1, Natives: session.NativesOff})
		p.Send(fmt.Sprint(times))
		p.WaitLine(fmt.Sprint("DONE ", times))
		v, err := s.Timeline(t.Context(), event.Query{Most: 3})
		if err != nil || len(v.Slices) != 3 || !v.Slices[0].Root || len(v.Lanes) != 1 || v.Left == 0 {
			t.Errorf("queried: %+v, %v", v, err)
		}
		if none, err := s.Timeline(t.Context(), event.Query{From: 1e15}); err != nil || len(none.Slices) != 0 || len(none.Marks) != 0 {
			t.Errorf("after the end: %+v, %v", none, err)
		}
		r := stopped(t, s)
		agree(t, r)
		kinds := map[event.MarkKind][]event.Mark{}
		for _, k := range r.Marks.All {
			kinds[k.Kind] = append(kinds[k.Kind], k)
		}
		var inside int64 // ns of root that calls of System.gc took: pauses take no more
		for line := range strings.Lines(strings.Join(p.Stdout(), "\n")) {
			var from, to int64
			if n, err := fmt.Sscanf(line, "GC %d %d", &from, &to); n != 2 || err != nil {
				continue
			}
			inside += to - from
			found := false
			for _, k := range kinds[event.GC] {
				at := k.Start + r.Events.Began
				if k.Count == 1 {
					found = found || at >= from-k.Off && at+k.Took <= to+k.Off && k.Took > 0
				} else { // a look came late, on a busy machine, and found several
					found = found || at <= to+k.Off && at+k.Took >= from-k.Off
				}
			}
			if !found {
				t.Errorf("no collection from %d to %d (the recording began at %d): %+v", from, to, r.Events.Began, kinds[event.GC])
			}
		}
		count := func(kind event.MarkKind, name string) (n int) {
			for _, k := range kinds[kind] {
				if k.Name == name {
					n++
				}
			}
			return n
		}
		collected := 0
		for _, k := range kinds[event.GC] {
			collected += int(k.Count)
		}
		if collected < times || count(event.Loading, "t.Marks$Late") != 1 || count(event.Revealing, "t.Marks.root(I)V") != 1 || len(kinds[event.Redefining]) == 0 {
			t.Errorf("marks: %+v, %s", r.Marks.All, r.Marks.Note)
		}
		for _, m := range kinds[event.Loading] {
			if m.Name == "t.Marks$Late" && m.Cause != "t.Marks.root(I)V" {
				t.Errorf("the class was needed by %q", m.Cause)
			}
		}
		k := r.Pauses
		if k == nil || k.Unknown != "" || k.Collections < times || k.Time <= 0 || k.Safepoints == nil || k.Safepoints.Time < k.Time {
			t.Fatalf("pauses %+v", k)
		}
		caused := k.Unseen // on a busy machine a look may come late
		for _, c := range k.Causes {
			if c.Cause == "System.gc()" {
				caused += c.Collections
			}
		}
		if caused != times && caused != 2*times { // the parallel collector counts one of the young generation, too
			t.Errorf("%d collections by System.gc(), of %+v", caused, k)
		}
		// All collections that the program caused were inside of the only root invocation.
		if i := r.Slowest.Invocations; len(i) != 1 || i[0].Paused == nil || i[0].Paused.Least <= 0 || i[0].Paused.Least > inside || i[0].Paused.Most > k.Time || i[0].Paused.Most < i[0].Paused.Least {
			t.Errorf("slowest %+v; System.gc took %d, collections %d", i, inside, k.Time)
		} else {
			t.Logf("paused %s of %s; %v", i[0].Paused, export.Duration(i[0].Took), k.Lines())
		}
		var trace strings.Builder
		if err := r.Trace(&trace); err != nil {
			t.Fatal(err)
		}
		if roots, names := readTrace(t, trace.String()); roots != 1 || names["t.Marks.collect()V"] != times || names["t.Marks.root(I)V"] != 2 { // itself, and its reveal
			t.Errorf("%d root calls in the trace, %v", roots, names)
		}
		p.Send("end")
	}, 8, 25)
}

// TestNoCounters records a timeline of a JVM that publishes no counters: it says
// so, and has all other marks.
func TestNoCounters(t *testing.T) {
	t.Parallel()
	p := program(t, jvmtest.Any(t), sources(t, "Marks"), "Marks", []string{"-XX:-UsePerfData"})
	s := attached(t, p)
	if _, err := s.Timeline(t.Context(), event.Query{}); !errors.Is(err, export.ErrNoTimeline) {
		t.Errorf("before the start: %v", err)
	}
	start(t, s, session.Recording{Roots: []string{"t.Marks.root"}, Scheme: "B", Timeline: 1000, Slowest: 1})
	p.Send("1")
	p.WaitLine("DONE 1")
	r := stopped(t, s)
	agree(t, r)
	if !strings.Contains(r.Marks.Note, "-XX:-UsePerfData") || len(r.Marks.All) == 0 {
		t.Errorf("note %q, marks %v", r.Marks.Note, r.Marks.All)
	}
	if k := r.Pauses; k == nil || !strings.Contains(k.Unknown, "-XX:-UsePerfData") || k.Collections != 0 || len(r.Slowest.Invocations) != 1 || r.Slowest.Invocations[0].Paused != nil {
		t.Errorf("pauses %+v, slowest %+v", k, r.Slowest.Invocations)
	}
	p.Send("end")
}
