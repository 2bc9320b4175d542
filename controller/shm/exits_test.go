package shm

import (
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// A thread is held before its return is counted: it is seen with it, once, and only that hold is
// released.
func TestExits(t *testing.T) {
	d := InMemory(make([]byte, wire.OffNodes))
	r := int64(wire.OffRecords) + 1<<wire.RecordShift
	d.store32(wire.HEpoch, 3)
	d.store32(r+wire.REpoch, 3)
	d.store(wire.HNextRecord, 2)
	d.store(r+wire.RTid, 7)
	ends := func(n int64, took time.Duration) { // as Exits.took does
		d.store(r+wire.RTook, int64(took))
		d.store(r+wire.RHeld, n)
	}
	look := func() Exit {
		t.Helper()
		out := d.Exits()
		if len(out) != 1 {
			t.Fatalf("%v", out)
		}
		return out[0]
	}
	ends(1, 5)
	if out := d.Exits(); len(out) != 0 {
		t.Errorf("%+v: no return has been counted", out)
	}
	d.store(r+wire.RReturns, 1)
	first := look()
	if want := (Exit{Record: 1, Epoch: 3, Thread: 7, Returned: 1, Took: 5, Held: true}); first != want {
		t.Errorf("%+v, want %+v", first, want)
	}
	d.Release(first)
	if e := look(); e.Held {
		t.Errorf("%+v: it was released", e)
	}
	ends(2, 5) // not counted yet
	if e := look(); e.Held || e.Returned != 1 {
		t.Errorf("%+v: the hold is of the next return", e)
	}
	d.Release(first)
	d.store(r+wire.RReturns, 2)
	if e := look(); !e.Held || e.Returned != 2 {
		t.Errorf("%+v: the second return has a hold of its own", e)
	}
}
