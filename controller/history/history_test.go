package history_test

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/history"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// reading is what counters say after k root calls of k ns each, on a clock of 10 ns a call.
func reading(k int64, calls bool) history.Reading {
	r := history.Reading{At: 10 * k, Calls: history.Unknown, RootCalls: k, Times: make([]int64, wire.Times), CPU: 3 * k, GC: history.Unknown, GCs: history.Unknown, Classes: k / 100, Batches: k / 100}
	for i := int64(1); i <= k; i++ {
		r.Times[wire.TimesOf(1000)]++
		r.TimesSum += 1000
	}
	if calls {
		r.Calls = 7 * k
	}
	return r
}

// Whatever is put together, nothing is lost, and there are no gaps.
func TestRecorder(t *testing.T) {
	var r history.Recorder
	const last = 1500
	for k := int64(0); k <= last; k++ {
		r.Add(reading(k, k%7 == 0 || k == last))
	}
	h := r.History()
	if len(h.Steps) >= history.Most || len(h.Steps) < history.Most/4 {
		t.Fatalf("%d steps", len(h.Steps))
	}
	var calls, roots, ended, cpu, classes, at int64
	for i, s := range h.Steps {
		if s.From != at {
			t.Fatalf("step %d begins at %d, the one before ended at %d", i, s.From, at)
		}
		at = s.From + s.Took
		if s.Calls < 0 || s.GC != history.Unknown || s.Mean != 1000 || s.P99 < 940 || s.P99 > 1064 {
			t.Fatalf("step %d: %+v", i, s)
		}
		calls, roots, ended, cpu, classes = calls+s.Calls, roots+s.RootCalls, ended+s.Ended, cpu+s.CPU, classes+s.Classes
	}
	// What is not a whole step yet is missing: at most one.
	if k := at / 10; calls > 7*last || calls < 7*(k-1) || roots != k || ended != k || cpu != 3*k || classes != k/100 || k < last-8 {
		t.Errorf("up to %d: %d calls, %d root calls, %d of known time, %d ns on a core, %d classes", k, calls, roots, ended, cpu, classes)
	}
	if x := h.Times; x.Count != ended || x.Of != roots || x.Mean != 1000 || x.P50 != h.Steps[0].P99 || len(x.Buckets) != 1 || x.Buckets[0][2] != ended {
		t.Errorf("times: %+v", x)
	}
	r.Reset()
	if r.History() != nil {
		t.Error("there is a history after a reset")
	}
}

// Percentiles are within 6 %.
func TestTimes(t *testing.T) {
	var r history.Recorder
	r.Add(history.Reading{Times: make([]int64, wire.Times)})
	next := history.Reading{At: 1, RootCalls: 1000, Times: make([]int64, wire.Times)}
	for i := int64(1); i <= 1000; i++ {
		next.Times[wire.TimesOf(i*1e5)]++
		next.TimesSum += i * 1e5
	}
	r.Add(next)
	x := r.History().Times
	for _, c := range []struct{ got, want int64 }{{x.P50, 500e5}, {x.P90, 900e5}, {x.P99, 990e5}, {x.P999, 999e5}, {x.Mean, 500.5e5}} {
		if off := float64(c.got-c.want) / float64(c.want); off > 0.065 || off < -0.065 {
			t.Errorf("%d, not %d", c.got, c.want)
		}
	}
}

// Of few, the slowest is none that 99 % are as fast as.
func TestFew(t *testing.T) {
	var r history.Recorder
	r.Add(history.Reading{Times: make([]int64, wire.Times)})
	next := history.Reading{At: 1, RootCalls: 8, Times: make([]int64, wire.Times), TimesSum: 7e6 + 600e6}
	next.Times[wire.TimesOf(1e6)], next.Times[wire.TimesOf(600e6)] = 7, 1
	r.Add(next)
	if x := r.History().Times; x.P50 > 1.1e6 || x.P99 < 500e6 || x.P90 != x.P99 || r.History().Steps[0].P99 != x.P99 {
		t.Errorf("%+v", x)
	}
}

// Where nothing counts times, there are none, and what was not read is unknown.
func TestUnknown(t *testing.T) {
	var r history.Recorder
	r.Add(history.Reading{CPU: history.Unknown})
	r.Add(history.Reading{At: 5, Calls: history.Unknown, CPU: 7, GC: 3, GCs: 1})
	h := r.History()
	if s := h.Steps[0]; s.Calls != history.Unknown || s.CPU != history.Unknown || s.Mean != history.Unknown || s.P99 != history.Unknown || h.Times != nil {
		t.Errorf("%+v, %+v", s, h.Times)
	}
}
