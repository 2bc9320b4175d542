package session_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
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
	t.Parallel()
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
			ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
