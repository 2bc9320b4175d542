package session

import (
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/calibrate"
	"github.com/rivulet-profiler/rivulet/controller/calibration"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// TestFixCounted: what methods that count only take is taken off the time of who
// called them, however deep they are nested.
func TestFixCounted(t *testing.T) {
	root := &cct.Node{Method: 1, Calls: 1, Self: 1000, Children: []*cct.Node{
		{Method: 2, Calls: 10, Children: []*cct.Node{{Method: 2, Calls: 1000, Self: 9000}}},
	}}
	b := correctionInputs{clock: wire.ModeTick, modes: []byte{0, 0, wire.ModeCounted}, costs: map[byte]*calibration.Cost{
		wire.ModeTick:    {Cost: calibrate.Cost{Inner: 2, Outer: 2}},
		wire.ModeCounted: {Cost: calibrate.Cost{Outer: 5}},
	}}
	got := b.fix(&cct.Snapshot{Threads: []*cct.Thread{{Roots: []*cct.Node{root}}}})
	if want := (cct.Correction{Subtracted: 1010*5 + 2}); got != want || root.Self != 10_000-want.Subtracted {
		t.Errorf("%+v, want %+v; self %d", got, want, root.Self)
	}
}

// TestTickError: few long gaps leave a time less certain than their mean says, as
// each is charged to one method.
func TestTickError(t *testing.T) {
	tick := &export.Tick{Ticks: 100, Period: 248_500, Weighted: 4_113_783} // as of TestFigures of package clock
	root := &cct.Node{Method: 1, Calls: 1, Self: int64(10 * time.Second)}
	b := correctionInputs{clock: wire.ModeTick, costs: map[byte]*calibration.Cost{wire.ModeTick: {}}, tick: tick}
	b.fix(&cct.Snapshot{Threads: []*cct.Thread{{Roots: []*cct.Node{root}}}})
	// The mean is 249 µs; the mean square by it, 4.1 ms.
	if want := 203 * time.Millisecond; time.Duration(root.Error).Round(time.Millisecond) != want {
		t.Errorf("off by %v, want %v; %+v", time.Duration(root.Error), want, *b.tick)
	}
}

// TestAtBest: probes without a clock may cost twice in a program what the sample
// says; those of the precise clock cost what was measured.
func TestAtBest(t *testing.T) {
	for mode, want := range map[byte]int64{wire.ModeTick: 5 + 1000*5/2, wire.ModePrecise: 1 + 1000/2} {
		leaf := &cct.Node{Method: 2, Calls: 1000, Self: 9000}
		root := &cct.Node{Method: 1, Calls: 2, Self: 10_000, Children: []*cct.Node{leaf}}
		b := correctionInputs{clock: mode, tick: &export.Tick{}, costs: map[byte]*calibration.Cost{mode: {Cost: calibrate.Cost{Inner: 2, Outer: 3, Spread: 1}}}}
		b.fix(&cct.Snapshot{Threads: []*cct.Thread{{Roots: []*cct.Node{root}}}})
		if root.Spread != want || leaf.Self != 9000-2*1000 {
			t.Errorf("mode %d: root %+v, want a spread of %d; leaf %+v", mode, root.Uncertainty, want, leaf)
		}
	}
}
