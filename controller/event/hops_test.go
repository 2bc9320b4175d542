package event_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// taken reads streams in their text form, each of a record of its own.
func taken(t *testing.T, b *event.Builder, streams ...string) {
	t.Helper()
	for _, text := range streams {
		record, text, _ := strings.Cut(text, ":")
		words, err := event.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		b.Take(int(record[0]-'0'), words)
	}
}

func drawHops(all []event.Hop) string {
	slices.SortFunc(all, func(a, b event.Hop) int { return cmp.Or(cmp.Compare(a.Began, b.Began), cmp.Compare(a.At, b.At)) })
	var out []string
	for _, h := range all {
		text := fmt.Sprintf("%d in %d/%d > %d in %d/%d at %d began %d took %d", h.By, h.From, h.FromDepth, h.Method, h.To, h.ToDepth, h.At, h.Began, h.Took)
		if h.Open {
			text += "…"
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

// TestHops follows tasks from thread to thread on the timeline, whichever stream
// is read first, with the slowest root invocations beside it and without: to a
// pool, to a thread that helps in the middle of its own work, in a chain, and to
// an execution that is under way.
func TestHops(t *testing.T) {
	const (
		roots  = "1:thread 1\nroot 1000\nenter 1 +0\nenter 2 +10\nsubmit 10\nexit 2 +1\nsubmit 12\nsubmit 16\nexit 1 +500"
		pool   = "2:thread 2\nroot 1100\nbelong 10\nexecute 6558720\nenter 5 +1\nenter 6 +6\nsubmit 14\nexit 6 +1\nexit 5 +2"
		helper = "3:thread 3\nroot 1200\nenter 9 +0\nbelong 14\nexecute 6559744\nenter 5 +0\nexit 5 +3\nexit 9 +1"
		early  = "5:thread 3\nroot 1001\nbelong 12\nexecute 6560768\nenter 5 +0\nexit 5 +4" // before its hand-over, by the clock's last tick
		under  = "4:thread 4\nroot 1300\nenter 9 +0\nbelong 16\nexecute 6558720\nenter 7 +5\nenter 8 +5"
	)
	want := "1 in 1/0 > 5 in 3/0 at 1013 began 1001 took 4\n" +
		"2 in 1/1 > 5 in 2/0 at 1011 began 1101 took 9\n" + // at the tick at which its invocation began, and 1 ns after it
		"6 in 2/1 > 5 in 3/1 at 1108 began 1201 took 2\n" +
		"1 in 1/0 > 7 in 4/1 at 1014 began 1305 took 695…"
	for _, order := range [][]string{{roots, pool, helper, early, under}, {under, early, helper, pool, roots}, {pool, roots, under, helper, early}} {
		for _, slowest := range []bool{false, true} {
			b := event.NewBuilder()
			b.Timeline = event.NewTimeline(100)
			if slowest {
				b.Slowest, b.Paths = event.NewSlowest(2, 0), true
			}
			taken(t, b, order...)
			hops, left := b.Hops(2000)
			if got := drawHops(hops); got != want || left != 0 || b.Bad() != 0 {
				t.Errorf("%d left, %d bad,\n%s\nwant\n%s", left, b.Bad(), got, want)
			}
			all, _, _ := b.Kept(2000)
			var drawn []string
			for _, s := range all {
				kind := map[[2]bool]string{{true, false}: "root", {false, true}: "task", {}: "call"}[[2]bool{s.Root, s.Task}]
				drawn = append(drawn, fmt.Sprintf("%d/%d %d %s from %d", s.Thread, s.Depth, s.Method, kind, s.Start))
			}
			slices.Sort(drawn)
			const wanted = "1/0 1 root from 1000, 1/1 2 call from 1010, 2/0 5 task from 1101, 2/1 6 call from 1107, 3/0 5 task from 1001, 3/0 9 root from 1200, 3/1 5 task from 1201, " +
				"4/0 9 root from 1300, 4/1 7 task from 1305, 4/2 8 call from 1310"
			if got := strings.Join(drawn, ", "); got != wanted {
				t.Errorf("slices\n%s, want\n%s", got, wanted)
			}
		}
	}
}

// TestHopsBound keeps the longest, and says how many it left out; hand-overs that
// nothing executes, and executions of what nobody handed over, take bounded room.
func TestHopsBound(t *testing.T) {
	b := event.NewBuilder()
	b.Timeline = event.NewTimeline(80)
	const all = 1000
	for i := range int64(all) {
		at := i * 1e6
		b.Take(1, []event.Word{event.Valued(wire.EvThread, 1), event.Valued(wire.EvRoot, at), event.Timed(wire.EvEnter, 1, 0), event.Valued(wire.EvSubmit, 2*i), event.Timed(wire.EvExit, 1, 5)})
		b.Take(2, []event.Word{event.Valued(wire.EvThread, 2), event.Valued(wire.EvRoot, at+i*7919%all), event.Valued(wire.EvBelong, 2*i), event.Valued(wire.EvExecute, 64), event.Timed(wire.EvEnter, 2, 0), event.Timed(wire.EvExit, 2, 0)})
	}
	hops, left := b.Hops(0)
	if int64(len(hops))+left != all || len(hops) == 0 || len(hops) >= 10 {
		t.Fatalf("%d kept, %d left out", len(hops), left)
	}
	if longest := slices.MaxFunc(hops, func(a, b event.Hop) int { return cmp.Compare(a.Began-a.At, b.Began-b.At) }); longest.Began-longest.At != all-2 { // it was handed over 1 ns after its invocation began
		t.Errorf("the longest is gone: %+v", longest)
	}
	for i := range int64(3 << 16) {
		b.Take(3, []event.Word{event.Valued(wire.EvRoot, i), event.Valued(wire.EvBelong, 1e9+2*i), event.Valued(wire.EvExecute, 64), event.Timed(wire.EvEnter, 2, 0), event.Timed(wire.EvExit, 2, 0)})
	}
	if kept := b.Waiting(); kept > 1<<16 {
		t.Errorf("%d executions are kept", kept)
	}
}

// TestRepeated reads a schedule's first execution before its hand-over: the later
// ones belong there, too.
func TestRepeated(t *testing.T) {
	b := event.NewBuilder()
	b.Slowest, b.Timeline = event.NewSlowest(1, 0), event.NewTimeline(100)
	taken(t, b,
		"2:thread 2\nroot 1100\nbelong 11\nexecute 6558720\nenter 5 +0\nexit 5 +2",
		"1:thread 1\nroot 1000\nenter 1 +0\nsubmit 11\nexit 1 +10",
		"2:root 1200\nbelong 11\nexecute 6558720\nenter 5 +0\nexit 5 +3\nroot 1300\nbelong 11\nexecute 6558720\nenter 5 +0\nexit 5 +4")
	hops, _ := b.Hops(0)
	const want = "1 in 1/0 > 5 in 2/0 at 1001 began 1100 took 2\n1 in 1/0 > 5 in 2/0 at 1001 began 1200 took 3\n1 in 1/0 > 5 in 2/0 at 1001 began 1300 took 4"
	if got := drawHops(hops); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	kept, _ := b.SlowestSoFar()
	if c := kept[0].Tree.Children; len(c) != 1 || c[0].Calls != 3 || c[0].Self != 9 {
		t.Errorf("the slowest: %+v", c)
	}
}
