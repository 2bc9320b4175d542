package event_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// pathText is a path in one line: segments, shares, what else there is.
func pathText(p *event.Path) string {
	var b strings.Builder
	for _, s := range p.Segments {
		fmt.Fprintf(&b, "%s t%d m%d %d-%d", []string{"run", "queue", "wait"}[s.Kind], s.Thread, s.Method, s.From, s.To)
		if s.Cause != event.NoCause {
			fmt.Fprintf(&b, " by %d", s.Cause)
		}
		b.WriteString("; ")
	}
	for _, s := range p.Shares {
		fmt.Fprintf(&b, "m%d %d/%d/%d ", s.Method, s.Run, s.Queue, s.Wait)
	}
	fmt.Fprintf(&b, "profiler %d lacking %d", p.Profiler, p.Lacking)
	return b.String()
}

// TestPath finds the critical path of a root invocation that hands two tasks
// over and parks until the second one, which was let wait by the profiler, lets
// it go on, whichever stream is read first.
func TestPath(t *testing.T) {
	const (
		root = `thread 1
			root 1000
			enter 1 +0
			charge 0 +100
			submit 10
			charge 0 +100
			submit 12
			charge 1 +100       # parks at 1300
			charge 4 +1000      # goes on at 2300
			enter 2 +10
			exit 2 +190
			exit 1 +0`
		first = `thread 2
			root 1150
			belong 10
			execute 6558720
			enter 5 +0
			belong 1
			charge 5 +50        # lets go on what has not parked yet
			exit 5 +50`
		second = `thread 3
			root 1500
			belong 12
			execute 6559744
			enter 5 +0
			enter 6 +100
			suspend 0 +100
			adjust 200
			exit 6 +100
			belong 1
			charge 5 +200       # at 2200
			exit 5 +500`
	)
	const want = "run t1 m1 1000-1200; queue t3 m6 1200-1500; run t3 m5 1500-2200; wait t1 m1 2200-2300 by 1; run t1 m2 2300-2500; " +
		"m6 200/300/0 m1 210/0/100 m5 300/0/0 m2 190/0/0 profiler 200 lacking 0"
	for _, order := range [][]string{{root, first, second}, {second, first, root}, {second, root, first}} {
		b := event.NewBuilder()
		b.Slowest, b.Paths = event.NewSlowest(1, 0), true
		for i, text := range order {
			words, err := event.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			b.Take(i, words)
		}
		kept, _ := b.SlowestSoFar()
		if len(kept) != 1 || kept[0].Path == nil {
			t.Fatalf("%d kept, %+v", len(kept), kept)
		}
		if got := pathText(kept[0].Path); got != want {
			t.Errorf("\n%s\nwant\n%s", got, want)
		}
	}
}

// TestLongPath has more samples, waits and segments than there is room for: the
// parts add up, and what is left out is said.
func TestLongPath(t *testing.T) {
	const waits = 6000
	words := []event.Word{event.Valued(wire.EvThread, 1), event.Valued(wire.EvRoot, 0), event.Timed(wire.EvEnter, 1, 0)}
	for range waits {
		words = append(words, event.Timed(wire.EvEnter, 2, 30), event.Timed(wire.EvExit, 2, 10),
			event.Timed(wire.EvCharge, wire.MarkPark, 5), event.Timed(wire.EvCharge, wire.MarkWoke, 5))
	}
	words = append(words, event.Timed(wire.EvExit, 1, 0))
	b := event.NewBuilder()
	b.Slowest, b.Paths = event.NewSlowest(1, 0), true
	b.Take(0, words)
	kept, _ := b.SlowestSoFar()
	p := kept[0].Path
	segments := p.LeftTime
	for _, s := range p.Segments {
		segments += s.To - s.From
	}
	if all := p.Run + p.Wait; all != waits*50 || segments != waits*50 || p.Left == 0 || p.Lacking == 0 || p.Grain == 0 {
		t.Errorf("%d ns, segments of %d, want %d; %d left out, %d lacking, grain %d", all, segments, waits*50, p.Left, p.Lacking, p.Grain)
	}
	for _, s := range p.Shares { // the second method has a quarter of what ran, and is looked at by chance
		if s.Method == 2 && (s.Run < p.Run/8 || s.Run > p.Run/2) {
			t.Errorf("method 2 ran %d of %d", s.Run, p.Run)
		}
	}
}

// TestAnyPath makes paths of streams that make no sense.
func TestAnyPath(t *testing.T) {
	kinds := []func(r *rand.Rand) event.Word{
		func(r *rand.Rand) event.Word { return event.Timed(wire.EvEnter, r.Int32N(3), r.Int64N(9)) },
		func(r *rand.Rand) event.Word { return event.Timed(wire.EvExit, r.Int32N(3), r.Int64N(9)) },
		func(r *rand.Rand) event.Word { return event.Timed(wire.EvCharge, r.Int32N(9), r.Int64N(9)) },
		func(r *rand.Rand) event.Word { return event.Valued(wire.EvRoot, r.Int64N(99)) },
		func(r *rand.Rand) event.Word { return event.Valued(wire.EvThread, r.Int64N(4)) },
		func(r *rand.Rand) event.Word { return event.Valued(wire.EvBelong, r.Int64N(4)) },
		func(r *rand.Rand) event.Word { return event.Valued(wire.EvSubmit, r.Int64N(4)) },
		func(r *rand.Rand) event.Word { return event.Valued(wire.EvAdjust, r.Int64N(9)-4) },
		func(r *rand.Rand) event.Word {
			return event.Valued(wire.EvExecute, wire.OffNodes+r.Int64N(4)<<wire.NodeShift)
		},
	}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := event.NewBuilder()
		b.Slowest, b.Paths = event.NewSlowest(3, 0), true
		for range 40 {
			words := make([]event.Word, 1+r.IntN(30))
			for i := range words {
				words[i] = kinds[r.IntN(len(kinds))](r)
			}
			b.Take(r.IntN(4), words)
		}
		kept, _ := b.SlowestSoFar()
		for _, k := range kept {
			if k.Path == nil {
				continue
			}
			for _, s := range k.Path.Segments {
				if s.To < s.From {
					t.Fatalf("seed %d: %+v", seed, s)
				}
			}
		}
	}
}
