package session_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// agree wants that events came and that the tree made of them is the recorded
// one, in every context and to the last ns.
func agree(t *testing.T, r *export.Report) {
	t.Helper()
	e := r.Events
	if e == nil {
		t.Fatal("no events")
	}
	sums := cct.Sum(r.Tree.Roots())
	if e.Words < 2*sums.Calls-int64(len(r.Tree.Threads)) || e.Bad+e.Dropped+e.Muted != 0 {
		t.Errorf("%d calls made %+v", sums.Calls, *e)
	}
	if e.Differ == nil {
		t.Error("trees were not compared")
	} else if *e.Differ != 0 {
		t.Errorf("trees differ in %d contexts: %+v", *e.Differ, *e)
	}
}

// TestEvents records programs that count their own calls with events: both
// trees have the program's counts.
func TestEvents(t *testing.T) {
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for clock, threads := range map[string]int64{"tick": 8, "precise": 2} {
			t.Run(clock, func(t *testing.T) {
				const times = 5
				p := truthProgram(t, j, "before", fmt.Sprint(threads), fmt.Sprint(times))
				s := attached(t, p)
				start(t, s, session.Recording{Roots: []string{"t.Truth.root"}, Scheme: "B", Clock: clock, Stream: event.DefaultDump, UntilCalls: threads * times})
				p.Send("go")
				r := finish(t, s)
				compare(t, recorded(r), expectations(t, p, "TOTAL"), 1, once)
				agree(t, r)
				streamed(t, r)
				p.Send("end")
			})
		}
		t.Run("middle", func(t *testing.T) {
			p := truthProgram(t, j, "middle", "4")
			s := attached(t, p)
			start(t, s, session.Recording{Roots: []string{"t.Truth.root"}, Scheme: "A", Events: true, Slowest: 3})
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			for n := int64(1); n <= 3; n++ { // what is open is cut off each time
				for s.Progress().RootInvocations < 10*n && ctx.Err() == nil {
					time.Sleep(time.Millisecond)
				}
				if err := s.Pause(ctx); err != nil {
					t.Fatal(err)
				}
				if err := s.Resume(ctx); err != nil {
					t.Fatal(err)
				}
			}
			r := stopped(t, s)
			p.Send("stop")
			agree(t, r)
			if len(r.Slowest.Invocations) != 3 {
				t.Errorf("%d invocations kept", len(r.Slowest.Invocations))
			}
			p.Send("end")
		})
	}, 8, 25)
}

// TestEventsEnd: a root invocation that begins while the recording is being ended, later
// than its end, has no time in either tree, whatever is measured afterwards.
func TestEventsEnd(t *testing.T) {
	dir := sources(t, "Brief")
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Brief", nil)
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Brief.root"}, Clock: "tick", Events: true, Modes: []session.ModeRule{rule(t, "t.Brief.early=precise")}})
		time.Sleep(500 * time.Millisecond)
		s.Lag(5 * time.Millisecond)
		r := stopped(t, s)
		p.Send("end")
		p.WaitLine("OK")
		agree(t, r)
	}, 8, 17, 25)
}

// streamed reads the events' text form, and makes a tree of it that has the calls
// of the recorded one.
func streamed(t *testing.T, r *export.Report) {
	t.Helper()
	var text bytes.Buffer
	must(t, "write", func(context.Context) error { return r.StreamText(&text) })
	pieces, err := event.ReadDump(&text)
	if err != nil {
		t.Fatal(err)
	}
	b := event.NewBuilder()
	words := 0
	for _, p := range pieces {
		b.Take(p.Record, p.Words)
		words += len(p.Words)
	}
	if kept, left := r.Stream.Len(); left != 0 || kept != words || int64(kept) != r.Events.Words {
		t.Errorf("%d events kept, %d left, %d read, of %d", kept, left, words, r.Events.Words)
	}
	calls := func(s *cct.Snapshot) map[int32]int64 {
		out := map[int32]int64{}
		for _, f := range cct.FlatOf(s.Roots()) {
			out[f.Method] += f.Calls
		}
		return out
	}
	got := calls(b.Snapshot(func(ns int64) int64 { return ns }))
	if diff := gocmp.Diff(calls(r.Tree), got); diff != "" {
		t.Errorf("calls of the tree and of the text's: %s", diff)
	}
}

// TestEventTraps runs traps with events: whatever ends an invocation, the
// streams stay balanced.
func TestEventTraps(t *testing.T) {
	dir := sources(t, "Traps")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		for _, tr := range traps {
			if j.Version < tr.from || j.Version == 8 && tr.name != "overflow" || !slices.Contains([]string{"overflow", "roots", "init", "crowd", "virtual"}, tr.name) {
				continue
			}
			t.Run(fmt.Sprint(tr.name, tr.jvm), func(t *testing.T) {
				p := program(t, j, dir, "Traps", tr.jvm, tr.name)
				s := attached(t, p)
				start(t, s, session.Recording{Roots: tr.roots, Wait: true, Events: true})
				p.Send("go")
				p.WaitLine("OK")
				r := stopped(t, s)
				want := counted(p)
				for k, v := range tr.want {
					want[k] = v
				}
				wantCalls(t, r, want)
				if e := r.Events; e.Bad+e.Dropped+e.Muted != 0 || e.Differ == nil || *e.Differ != 0 {
					t.Errorf("events: %+v", *e)
				}
				p.Send("end")
			})
		}
	}, 8, 21)
}

// secondSnapshot takes two snapshots and wants the slowest to be the same: what
// one corrects, the other must not find corrected.
func secondSnapshot(t *testing.T, s *session.Session) *export.Report {
	t.Helper()
	var last *export.Report
	for range 2 {
		time.Sleep(50 * time.Millisecond) // the drain takes what has been written
		r, err := s.Snapshot(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if last != nil && r.Slowest.Invocations[0].Tree().Total != last.Slowest.Invocations[0].Tree().Total {
			t.Errorf("total %d after %d", r.Slowest.Invocations[0].Tree().Total, last.Slowest.Invocations[0].Tree().Total)
		}
		last = r
	}
	return last
}

// TestSlowest keeps the slowest of root invocations that a program makes slow:
// which they are, their own trees, and what bounds them.
func TestSlowest(t *testing.T) {
	j := jvmtest.Any(t)
	dir := sources(t, "Slow")
	for _, c := range []struct {
		over time.Duration
		n    int
		want string
	}{
		{0, 5, "b 60 | a 60 | b 50! | a 50! | a 40"},
		{290 * time.Millisecond, 9, "b 60 | a 60 | b 50! | a 50!"},
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
			var got []string
			for _, i := range r.Slowest.Invocations {
				calls := map[string]int64{}
				for n := range cct.All(i.Thread.Roots) {
					m, _ := r.Lookup(n.Method)
					calls[m.Name] += n.Calls
				}
				text := fmt.Sprintf("%s %d", i.Thread.Name, calls["t.Slow.step()V"])
				if i.Thrown {
					text += "!"
				}
				got = append(got, text)
				if calls["t.Slow.work(I)V"] != 1 || calls["t.Slow.pause(I)V"] != 1 || len(calls) != 3 {
					t.Errorf("%s: %v", text, calls)
				}
				if i.Start < 0 || i.Took <= int64(c.over) || i.Tree().Total > i.Took {
					t.Errorf("%s: start %d, took %d, tree %d", text, i.Start, i.Took, i.Tree().Total)
				}
			}
			if text := strings.Join(got, " | "); sortPairs(text) != sortPairs(c.want) {
				t.Errorf("kept %s, want %s", text, c.want)
			}
			if c.over == 0 && r.Slowest.Of != 120 {
				t.Errorf("of %d, want 120", r.Slowest.Of)
			}
			var trace strings.Builder
			if err := r.Trace(&trace); err != nil {
				t.Fatal(err)
			}
			roots, names := readTrace(t, trace.String())
			if roots != 120 || names["t.Slow.pause(I)V"] != 12 {
				t.Errorf("%d root calls in the timeline, %v", roots, names)
			}
			p.Send("e")
		})
	}
}

// sortPairs makes equal what only the schedule of threads a and b tells apart.
func sortPairs(text string) string {
	f := strings.Split(text, " | ")
	slices.SortStableFunc(f, func(a, b string) int { return strings.Compare(last(b), last(a)) })
	for i := range f {
		f[i] = last(f[i])
	}
	return strings.Join(f, " ")
}

func last(text string) string { return text[strings.LastIndexByte(text, ' ')+1:] }

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

// TestNobodyReads lets the rings run full: the target waits two seconds, once,
// and goes on; what is dropped is said, the tree lacks nothing, and the events of
// later root invocations are there again.
func TestNobodyReads(t *testing.T) {
	j := jvmtest.Any(t)
	p := program(t, j, sources(t, "Rings"), "Rings", nil)
	s := attached(t, p)
	start(t, s, session.Recording{Roots: []string{"t.Rings.root"}, Slowest: 10})
	run := func(line string) {
		t.Helper()
		p.Send(line)
		p.WaitLine("DONE " + line)
	}
	run("1 10")
	release := s.HoldEvents()
	const many = 2_000_000
	run(fmt.Sprint("1 ", many))
	release()
	run("1 20")
	r := stopped(t, s)
	exact(t, r)
	wantCalls(t, r, map[string]int64{"Rings.root": 3, "Rings.leaf": many + 30})
	e := r.Events
	if e.Dropped == 0 || e.Words+e.Dropped < 2*(many+33) || e.Waits != 1 || e.Differ != nil || e.Bad != 0 {
		t.Errorf("%+v", *e)
	}
	var got []int64
	for _, i := range r.Slowest.Invocations {
		got = append(got, i.Tree().Children[0].Calls)
	}
	slices.Sort(got)
	if !slices.Equal(got, []int64{10, 20}) {
		t.Errorf("invocations with %v calls", got)
	}
	p.Send("end")
}

// TestRingsComeBack runs many threads that end: rings are used again.
func TestRingsComeBack(t *testing.T) {
	j := jvmtest.Any(t)
	p := program(t, j, sources(t, "Rings"), "Rings", nil)
	s := attached(t, p)
	start(t, s, session.Recording{Roots: []string{"t.Rings.root"}, Events: true})
	const threads, calls = 60, 100_000
	line := fmt.Sprint(threads, " ", calls)
	p.Send(line)
	p.WaitLine("DONE " + line)
	r := stopped(t, s)
	exact(t, r)
	agree(t, r)
	wantCalls(t, r, map[string]int64{"Rings.root": threads, "Rings.leaf": threads * calls})
	if e := r.Events; e.Rings < 2*threads || e.RingBytes > threads*3<<20 {
		t.Errorf("%d rings in %d bytes", e.Rings, e.RingBytes)
	}
	p.Send("end")
}

// TestEventsNoRoom fills the room of a recording with events, and frees it by a
// reset: the tree counts every call in between, events that find no room are
// said to be missing, and afterwards all is there.
func TestEventsNoRoom(t *testing.T) {
	j := jvmtest.Any(t)
	p := program(t, j, sources(t, "Parts"), "Parts", nil)
	s := attachedBy(t, p, session.Config{Memory: 3 << 20}) // 49,152 nodes
	start(t, s, session.Recording{Roots: []string{"t.Parts.wide"}, Events: true, Slowest: 5})
	p.Send("wide 9") // 78,721 contexts
	p.WaitLine("WIDE")
	r, err := s.Snapshot(t.Context())
	if err != nil || r.Tree.Overflow == 0 || r.Tree.Uncounted != 0 {
		t.Fatalf("overflow %d, %v", r.Tree.Overflow, err)
	}
	wantCalls(t, r, wideCalls(9))
	must(t, "reset", s.Reset)
	p.Send("wide 6")
	p.WaitLine("WIDE")
	r = closed(t, s)
	wantCalls(t, r, wideCalls(6))
	agree(t, r)
	if len(r.Slowest.Invocations) != 1 {
		t.Errorf("%d invocations", len(r.Slowest.Invocations))
	}
}
