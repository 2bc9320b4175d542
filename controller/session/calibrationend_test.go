package session

import (
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/calibrate"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// TestCalibrationEnd: what can't be believed is no reason to end, for a while.
func TestCalibrationEnd(t *testing.T) {
	dear := calibrate.Batch{Calls: 1000, Bare: 1000, Probed: 500_000, Callee: 200_000, Caller: 299_000} // not compiled yet
	good := calibrate.Batch{Calls: 100_000, Bare: 100_000, Probed: 600_000, Callee: 200_000, Caller: 400_000}
	for _, c := range []struct {
		name    string
		passed  time.Duration
		batches []calibrate.Batch
		steady  int
		goes    bool
	}{
		{"soon", 50 * time.Millisecond, []calibrate.Batch{good, good, good, good}, calibrationSteady, true},
		{"steady", 200 * time.Millisecond, []calibrate.Batch{dear, good, good, good}, calibrationSteady, false},
		{"steady, not compiled", 200 * time.Millisecond, []calibrate.Batch{dear, dear, dear, dear}, calibrationSteady, true},
		{"late, not compiled", time.Second, []calibrate.Batch{dear, dear, dear, dear}, 0, true},
		{"late", time.Second, []calibrate.Batch{dear, good, good, good}, 0, false},
		{"too late", 3 * time.Second, []calibrate.Batch{dear, dear, dear, dear}, 0, false},
	} {
		k := calibration{mode: wire.ModeTick, begin: time.Now().Add(-c.passed), batches: c.batches, best: 1, steady: c.steady - 1}
		if goes := k.take(c.batches[len(c.batches)-1]) != 0; goes != c.goes {
			t.Errorf("%s: goes on %v, want %v", c.name, goes, c.goes)
		}
	}
}
