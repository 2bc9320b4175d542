package calibrate_test

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/calibrate"
)

func TestMeasureTimer(t *testing.T) {
	quantile := func(share float64) int64 { return 20 + int64(share*8) }
	if _, ok := calibrate.MeasureTimer([]calibrate.Batch{{Calls: 0, Probed: 5}, {Calls: 5, Probed: 0}}, quantile); ok {
		t.Error("batches that say nothing were measured")
	}
	got, ok := calibrate.MeasureTimer([]calibrate.Batch{
		{Calls: 100, Bare: 300, Probed: 9000}, // disturbed
		{Calls: 100, Bare: 100, Probed: 4900},
		{Calls: 200, Bare: 220, Probed: 9700},
	}, quantile)
	want := calibrate.Cost{Inner: 24, Outer: 48.5 - 1 - 24, Spread: 2}
	if !ok || got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, _ = calibrate.MeasureTimer([]calibrate.Batch{{Calls: 100, Bare: 100, Probed: 900}}, quantile); got.Outer != 0 {
		t.Errorf("less than nothing: %+v", got)
	}
}
