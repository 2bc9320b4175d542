package calibration

import (
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/calibrate"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// TestCostWith: the middle of several counts, and what is doubtful only alone.
func TestCostWith(t *testing.T) {
	found := func(total, spread float64) calibrate.Cost {
		return calibrate.Cost{Inner: total / 2, Outer: total / 2, Spread: spread}
	}
	var c *Cost
	at := time.Now()
	for _, step := range []struct {
		add    calibrate.Cost
		total  float64
		spread float64
	}{
		{found(30, 20), 30, 20}, // doubtful
		{found(12, 1), 12, 1},
		{found(5, 1), 5, 7},
		{found(6, 1), 6, 7},
		{found(40, 25), 6, 7}, // doubtful
		{found(7, 2), 7, 2},   // it stands for most of the time
	} {
		at = at.Add(time.Second)
		if c = c.with(step.add, 10, at); c.Total() != step.total || c.Spread != step.spread {
			t.Errorf("after %+v: %v ± %v, want %v ± %v", step.add, c.Total(), c.Spread, step.total, step.spread)
		}
	}
	if c.Batches != 60 || len(c.found) != 6 || c.Doubtful() {
		t.Errorf("%d batches of %d, doubtful %v", c.Batches, len(c.found), c.Doubtful())
	}
	if c = (*Cost)(nil).with(found(30, 20), 10, at); !c.Doubtful() {
		t.Error("one of a busy machine is not doubtful")
	}
	for range 5 * mostFound {
		at = at.Add(time.Second)
		c = c.with(found(8, 1), 1, at)
	}
	if c.Total() != 8 || len(c.found) > mostFound {
		t.Errorf("%v of %d", c.Total(), len(c.found))
	}
}

// TestCostOfMostCalls: the first calibrations are soon behind each other, when
// little is compiled, and most calls are made later.
func TestCostOfMostCalls(t *testing.T) {
	begin := time.Now()
	var c *Cost
	for _, f := range []struct {
		after time.Duration
		total float64
	}{{100 * time.Millisecond, 31}, {450 * time.Millisecond, 34}, {1150 * time.Millisecond, 9}, {2200 * time.Millisecond, 8}} {
		c = c.with(calibrate.Cost{Inner: f.total / 2, Outer: f.total / 2, Spread: 1}, 10, begin.Add(f.after))
	}
	if c.Total() > 9 {
		t.Errorf("%v ns a call", c.Total())
	}
}

// TestAgainEnds: a calibration that is not the first takes few batches.
func TestAgainEnds(t *testing.T) {
	c := run{Run: Run{Mode: wire.ModeTick, Again: true}, begin: time.Now()}
	n := 0
	for b := (calibrate.Batch{Calls: 1000, Bare: 1000, Probed: 7000, Callee: 3000, Caller: 4000}); c.take(b) != 0; n++ {
		if n > againBatches {
			t.Fatal("it does not end")
		}
	}
}
