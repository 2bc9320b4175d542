package session

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/calibrate"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// TestFixCounted: what methods that count only take is taken off the time of who
// called them, however deep they are nested.
func TestFixCounted(t *testing.T) {
	root := &cct.Node{Method: 1, Calls: 1, Self: 1000, Children: []*cct.Node{
		{Method: 2, Calls: 10, Children: []*cct.Node{{Method: 2, Calls: 1000, Self: 9000}}},
	}}
	b := basis{clock: wire.ModeTick, modes: []byte{0, 0, wire.ModeCounted}, costs: map[byte]*cost{
		wire.ModeTick:    {Cost: calibrate.Cost{Inner: 2, Outer: 2}},
		wire.ModeCounted: {Cost: calibrate.Cost{Outer: 5}},
	}}
	got := b.fix(&cct.Snapshot{Threads: []*cct.Thread{{Roots: []*cct.Node{root}}}})
	if want := (cct.Correction{Subtracted: 1010*5 + 2}); got != want || root.Self != 10_000-want.Subtracted {
		t.Errorf("%+v, want %+v; self %d", got, want, root.Self)
	}
}
