package event_test

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// tasksWord makes a word of three bytes, of few methods, tasks, threads and
// hand-overs, so that words of different streams often meet.
func tasksWord(op, a, b byte) event.Word {
	ns, small := int64(b)*7, int64(a%8)
	switch op % 16 {
	case 0, 1, 2, 3:
		return event.Timed(wire.EvEnter, int32(small), ns)
	case 4, 5, 6:
		return event.Timed(wire.EvExit, int32(small), ns)
	case 7:
		return event.Timed(wire.EvThrown, int32(small), ns)
	case 8:
		return event.Valued(wire.EvSubmit, small)
	case 9:
		return event.Valued(wire.EvBelong, small)
	case 10:
		return event.Valued(wire.EvExecute, wire.OffNodes+small<<wire.NodeShift)
	case 11, 12:
		return event.Timed(wire.EvCharge, int32(small), ns)
	case 13:
		return event.Valued(wire.EvRoot, 1000*int64(a)+int64(b))
	case 14:
		return event.Valued(wire.EvThread, small)
	}
	return event.Valued([]int{wire.EvAdjust, wire.EvCut, wire.EvLost, wire.EvTime}[a%4], int64(int8(b))*100)
}

// FuzzTasks feeds a Builder with streams of four threads that hand each other
// tasks over, wait and let each other go on, in an order that makes no sense as
// often as not: whatever is said of them stays bounded by what came.
func FuzzTasks(f *testing.F) {
	// root of method 1 hands task 2 over and waits; another thread executes it, and lets it go on.
	f.Add([]byte{14, 1, 0, 13, 1, 0, 0, 1, 0, 8, 2, 0, 11, 1, 5, 64 + 14, 2, 0, 64 + 13, 1, 50, 64 + 9, 2, 0, 64 + 10, 3, 0, 64, 5, 1, 64 + 9, 1, 0, 64 + 11, 5, 1, 64 + 4, 5, 9, 11, 4, 40, 4, 1, 3})
	// The execution is read first, and hands its own task over; a schedule's, twice.
	f.Add([]byte{64 + 13, 1, 50, 64 + 9, 3, 0, 64 + 10, 3, 0, 64, 5, 1, 64 + 8, 3, 0, 64 + 4, 5, 9, 13, 1, 0, 0, 1, 0, 8, 3, 0, 4, 1, 3, 64 + 13, 2, 50, 64 + 9, 3, 0, 64 + 10, 3, 0, 64, 5, 1, 64 + 4, 5, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		b := event.NewBuilder()
		b.Slowest, b.Timeline, b.Paths = event.NewSlowest(2, 0), event.NewTimeline(64), true
		words := 0
		for ; len(data) >= 3; data = data[3:] {
			b.Take(int(data[0]>>6), []event.Word{tasksWord(data[0], data[1], data[2])})
			if words++; words%100 == 0 || len(data) < 6 {
				lookAt(t, b, int64(words))
			}
		}
	})
}

func lookAt(t *testing.T, b *event.Builder, words int64) {
	t.Helper()
	s := b.Snapshot(func(ns int64) int64 { return ns })
	if sums := cct.Sum(s.Roots()); sums.Nodes > words || sums.Calls > words || sums.Thrown > sums.Calls {
		t.Errorf("%d words made %+v", words, sums)
	}
	kept, of := b.SlowestSoFar()
	if int64(len(kept)) > min(2, of) || of > words {
		t.Errorf("%d kept of %d, of %d words", len(kept), of, words)
	}
	for _, i := range kept {
		if sums := cct.Sum([]*cct.Node{i.Tree}); sums.Nodes > words || sums.Calls+i.CutCalls > words {
			t.Errorf("an invocation of %d words has %+v, and %d cut", words, sums, i.CutCalls)
		}
		if i.Path == nil { // of a root call that was not said to begin
			continue
		}
		if int64(len(i.Path.Segments)) > 4*words+70 || len(i.Path.Segments) > 500 || len(i.Path.Shares) > 9 {
			t.Errorf("a path of %d words has %d segments and %d methods", words, len(i.Path.Segments), len(i.Path.Shares))
		}
	}
	hops, left := b.Hops(1 << 40)
	if int64(len(hops))+left > words || len(hops) > 8+int(words) {
		t.Errorf("%d words made %d hops, and %d left out", words, len(hops), left)
	}
	for _, h := range hops {
		if h.Took < 0 {
			t.Errorf("%+v", h)
		}
	}
	if all, left, _ := b.Kept(1 << 40); int64(len(all))+left > 2*words {
		t.Errorf("%d words made %d slices, and %d left out", words, len(all), left)
	}
}
