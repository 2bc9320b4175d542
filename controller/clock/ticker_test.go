package clock

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/shm"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// seldom has a thread inside at few looks, and counts them.
type seldom struct{ looks, inside atomic.Int64 }

func (s *seldom) Tick(int64) {}

func (s *seldom) AnyInside() bool {
	if s.looks.Add(1)%(3*lookEvery) != 0 { // the fast clock ends meanwhile
		return false
	}
	s.inside.Add(1)
	return true
}

// TestTicksSeen: how far apart ticks are is said of those at which some thread is
// inside. Threads that are rarely inside see ticks of the idle clock.
func TestTicksSeen(t *testing.T) {
	ctx, end := context.WithCancel(context.Background())
	threads := &seldom{}
	ticker := NewTicker(threads, Monotonic)
	var done sync.WaitGroup
	done.Go(func() { ticker.Run(ctx) })
	const times = 10
	for over := time.Now().Add(2 * time.Minute); threads.inside.Load() < times; time.Sleep(time.Millisecond) {
		if time.Now().After(over) {
			t.Error("too few ticks")
			break
		}
	}
	end()
	done.Wait()
	if k, inside := ticker.Figures(), threads.inside.Load(); k == nil || k.Ticks != inside {
		t.Errorf("%+v, and a thread was inside at %d", k, inside)
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
