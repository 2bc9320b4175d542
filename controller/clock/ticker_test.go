package clock

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/rivulet-profiler/rivulet/controller/shm"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// TestTicksSeen: how far apart ticks are is said of those at which some thread is
// inside. Threads that are rarely inside see ticks of the idle clock.
func TestTicksSeen(t *testing.T) {
	ctx, end := context.WithCancel(context.Background())
	mem := make([]byte, wire.OffNodes)
	gate := (*atomic.Uint32)(unsafe.Pointer(&mem[wire.HGate])) // of the low half, how many threads are inside
	ticker := NewTicker(shm.InMemory(mem), Monotonic)
	var done sync.WaitGroup
	done.Go(func() { ticker.Run(ctx) })
	defer done.Wait()
	defer end()
	ticks := func() int64 {
		if k := ticker.Figures(); k != nil {
			return k.Ticks
		}
		return 0
	}
	const times = 10
	for range times {
		before := ticks()
		gate.Store(1)
		for end := time.Now().Add(40 * time.Second); ticks() == before; {
			if time.Now().After(end) {
				t.Fatal("no tick is seen")
			}
		}
		gate.Store(0)
		time.Sleep(3 * lookEvery * Period) // the fast clock goes on for a while
	}
	k := ticker.Figures()
	t.Logf("%+v", *k)
	if k.Ticks > times*lookEvery/4 {
		t.Errorf("%d ticks, of %d times that a thread was inside until one was seen", k.Ticks, times)
	}
}

// TestFigures: few long gaps move the mean little, and the mean square by it much.
func TestFigures(t *testing.T) {
	k := NewTicker(shm.InMemory(make([]byte, wire.OffNodes)), Monotonic)
	if k.Figures() != nil {
		t.Error("figures without a thread inside")
	}
	for range 99 {
		k.note(150 * time.Microsecond)
	}
	k.note(10 * time.Millisecond)
	if got := k.Figures(); got.Ticks != 100 || got.Period != 248_500 || int64(got.Weighted) != 4_113_782 || got.Longest != 10e6 || got.Gaps != 1 {
		t.Errorf("%+v", got)
	}
	k.Forget()
	if k.Figures() != nil {
		t.Error("figures of a recording before")
	}
}
