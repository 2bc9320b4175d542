package shm

import (
	"slices"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// TestSlowCalls reads places as the target leaves them: whole ones, one that is being written, and none
// of a recording before.
func TestSlowCalls(t *testing.T) {
	d := onTmpfs(t, 1<<24)
	put := func(place int64, c SlowCall, check int64) {
		p := wire.OffSlow + place<<wire.SlowShift
		method := int64(c.Method)
		if c.Thrown {
			method |= wire.LThrown
		}
		d.store(p+wire.LRound, 3)
		d.store(p+wire.LTook, c.Took)
		d.store(p+wire.LBegan, c.Began)
		d.store(p+wire.LWaited, c.Waited)
		d.store(p+wire.LThread, c.Thread)
		d.store(p+wire.LMethod, method)
		d.store(p+wire.LCheck, check^3^c.Took^c.Began^c.Waited^c.Thread<<20^method<<40)
	}
	a, b := SlowCall{Thread: 7, Method: 5, Thrown: true, Began: 1e9, Took: 3e6, Waited: 12}, SlowCall{Thread: 1 << 33, Method: wire.MaxMethods - 3, Began: 2e9, Took: 4e6}
	put(0, a, 0)
	put(wire.SlowPlaces-1, b, 0)
	put(5, SlowCall{Thread: 8, Began: 5, Took: 9e6}, 1)
	read := func() (got []SlowCall) {
		d.SlowCalls(func(c SlowCall) { got = append(got, c) })
		return got
	}
	if got := read(); !slices.Equal(got, []SlowCall{a, b}) {
		t.Errorf("%+v", got)
	}
	d.KeepSlow(4e6)
	if least := d.load(wire.HSlow); least != 4e6 {
		t.Error(least)
	}
	d.Renew()
	if got := read(); got != nil || d.load(wire.HSlow) != 0 {
		t.Errorf("of the recording before: %+v", got)
	}
}
