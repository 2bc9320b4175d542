package pauses

import (
	"testing"
	"time"
)

// TestPauseWatch reads the counters of a JVM that stops its threads for
// redefinitions and for collections.
func TestPauseWatch(t *testing.T) {
	const tick = 10 // ns each
	c := fakeCounters{"sun.os.hrt.frequency": 1e9 / tick, "sun.rt.safepointTime": 5e6, "sun.gc.collector.0.time": 2e6, "sun.gc.collector.1.time": 0}
	p := newSafepoints(c)
	step := func(counter string, d time.Duration) {
		c[counter] += int64(d) / tick
		p.look()
	}
	expect := func(wantLongest, wantTotal time.Duration) {
		t.Helper()
		if longest, total, known := p.Lap(); !known || longest != wantLongest || total != wantTotal {
			t.Errorf("longest %v, all %v, known %v; want %v and %v", longest, total, known, wantLongest, wantTotal)
		}
	}
	expect(0, 0) // what was before nobody is charged with
	step("sun.rt.safepointTime", 30*time.Millisecond)
	step("sun.rt.safepointTime", 20*time.Millisecond)
	expect(30*time.Millisecond, 50*time.Millisecond)
	step("sun.gc.collector.0.time", 80*time.Millisecond) // the safepoint has not ended
	expect(0, 0)
	step("sun.rt.safepointTime", 81*time.Millisecond)
	expect(time.Millisecond, time.Millisecond)
	step("sun.gc.collector.1.time", time.Second) // beside the program
	step("sun.rt.safepointTime", 20*time.Millisecond)
	expect(20*time.Millisecond, 20*time.Millisecond)
	expect(0, 0)

	if _, _, known := newSafepoints(fakeCounters{}).Lap(); known {
		t.Error("pauses are known without counters")
	}
	var none *Safepoints
	none.Watch(true)
	if _, _, known := none.Lap(); known || none.End() != nil {
		t.Error("pauses are known without a watch")
	}
}
