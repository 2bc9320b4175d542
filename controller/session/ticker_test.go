package session

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/shm"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// TestTicksSeen: how far apart ticks are is said of those at which some thread is
// inside. Threads that are rarely inside see ticks of the idle clock.
func TestTicksSeen(t *testing.T) {
	ctx, end := context.WithCancel(context.Background())
	mem := make([]byte, wire.OffNodes)
	s := &Session{ctx: ctx, data: shm.InMemory(mem)}
	s.startTicker()
	defer s.wg.Wait()
	defer end()
	ticks := func() int64 {
		if k := s.ticker.figures(); k != nil {
			return k.Ticks
		}
		return 0
	}
	const times = 10
	for range times {
		before := ticks()
		binary.NativeEndian.PutUint32(mem[wire.HGate:], 1)
		for end := time.Now().Add(40 * time.Second); ticks() == before; {
			if time.Now().After(end) {
				t.Fatal("no tick is seen")
			}
		}
		binary.NativeEndian.PutUint32(mem[wire.HGate:], 0)
		time.Sleep(3 * lookEvery * tickPeriod) // the fast clock goes on for a while
	}
	k := s.ticker.figures()
	t.Logf("%+v", *k)
	if k.Ticks > times*lookEvery/4 {
		t.Errorf("%d ticks, of %d times that a thread was inside until one was seen", k.Ticks, times)
	}
}
