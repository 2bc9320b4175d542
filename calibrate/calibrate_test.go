package calibrate_test

import (
	"math"
	"testing"

	"github.com/rivulet-profiler/rivulet/calibrate"
)

func TestMeasure(t *testing.T) {
	batches := []calibrate.Batch{
		{Calls: 1000, Bare: 70000, Probed: 60000, Callee: 26000, Caller: 31000}, // disturbed without probes
		{Calls: 1000, Bare: 2000, Probed: 50000, Callee: 24000, Caller: 26000},  // the cheapest: 49 ns
		{Calls: 1000, Bare: 1000, Probed: 160000, Callee: 90000, Caller: 70000},
		{Calls: 1000, Bare: 2000, Probed: 52000, Callee: 24000, Caller: 26000},
		{Calls: 0, Probed: 1, Callee: 1, Caller: 1},
		{Calls: 10, Probed: 10, Callee: -1, Caller: 1},
	}
	c, ok := calibrate.Measure(batches)
	if !ok || c.Inner != 24 || c.Outer != 25 || c.Spread != 2 {
		t.Errorf("cost %+v, %v; want 24, 25 and 2", c, ok)
	}
	for range 10 { // ten that agree are enough of many
		batches = append(batches, calibrate.Batch{Calls: 1000, Bare: 2000, Probed: 50000, Callee: 24000, Caller: 26000})
	}
	for range 90 {
		batches = append(batches, calibrate.Batch{Calls: 1000, Bare: 2000, Probed: 150000, Callee: 24000, Caller: 26000})
	}
	if c, _ := calibrate.Measure(batches); c.Spread != 0 {
		t.Errorf("spread %v", c.Spread)
	}
	if _, ok := calibrate.Measure(nil); ok {
		t.Error("a cost from no batch")
	}
	// A coarse clock may see a batch in one of the two only.
	c, _ = calibrate.Measure([]calibrate.Batch{
		{Calls: 1000, Bare: 500, Probed: 3500, Callee: 0, Caller: 3500},
		{Calls: 1000, Bare: 500, Probed: 3500, Callee: 3000, Caller: 0},
	})
	if c.Total() != 3 {
		t.Errorf("cost %+v", c)
	}
	c, _ = calibrate.Measure([]calibrate.Batch{{Calls: 10, Bare: 20, Probed: 10, Callee: 5, Caller: 5}})
	if c.Total() != 0 {
		t.Errorf("%+v: probes gain nothing", c)
	}
}

func TestCombine(t *testing.T) {
	cost := func(inner, outer, spread float64) calibrate.Cost {
		return calibrate.Cost{Inner: inner, Outer: outer, Spread: spread}
	}
	found := func(inner, outer, spread, weight float64) calibrate.Found {
		return calibrate.Found{Cost: cost(inner, outer, spread), Weight: weight}
	}
	for _, c := range []struct {
		found []calibrate.Found
		want  calibrate.Cost
	}{
		{nil, calibrate.Cost{}},
		{[]calibrate.Found{found(2, 4, 1, 1)}, cost(2, 4, 1)},
		{[]calibrate.Found{found(6, 6, 1, 1), found(3, 3, 1, 1)}, cost(3, 3, 6)}, // the cheaper of two
		{[]calibrate.Found{found(6, 6, 1, 1), found(2, 4, 1, 1), found(2, 4, 1, 1), found(2, 4, 1, 1), found(2, 4, 1, 1)}, cost(6*14./36, 6*22./36, 1)},
		{[]calibrate.Found{found(20, 20, 1, 0.3), found(20, 20, 1, 0.3), found(4, 4, 1, 6)}, cost(4, 4, 1)}, // before it was compiled
		{[]calibrate.Found{found(6, 6, 1, 5), found(3, 3, 1, 1)}, cost(6, 6, 1)},
	} {
		got := calibrate.Combine(c.found)
		if math.Abs(got.Inner-c.want.Inner) > 1e-9 || math.Abs(got.Outer-c.want.Outer) > 1e-9 || got.Spread != c.want.Spread {
			t.Errorf("%+v: %+v, want %+v", c.found, got, c.want)
		}
	}
}

func TestCorrect(t *testing.T) {
	cost := calibrate.Cost{Inner: 10, Outer: 5}
	for _, c := range []struct {
		self, calls      int64
		children         float64
		exact, sub, lost int64
	}{
		{1000, 10, 100, 800, 200, 0},
		{150, 10, 100, 0, 150, 50},
		{0, 0, 0, 0, 0, 0},
		{7, 0, 0, 7, 0, 0},
	} {
		exact, sub, lost := calibrate.Correct(c.self, c.calls, cost, c.children)
		if exact != c.exact || sub != c.sub || lost != c.lost {
			t.Errorf("%+v: %d, %d, %d", c, exact, sub, lost)
		}
		if exact+sub != c.self {
			t.Errorf("%+v: time is not conserved", c)
		}
	}
}
