package shm

import "github.com/rivulet-profiler/rivulet/jvmside/wire"

// A SlowCall is a root call that was among the slowest when it ended. Times are ns.
type SlowCall struct {
	Thread int64 // its id
	Method int32 // the root's number; 0 if unknown
	Thrown bool
	Began  int64 // on the target's nanoTime
	Took   int64 // less Waited
	Waited int64 // that the profiler made it wait
}

// SlowCalls calls f for each of the slowest root calls that the target has left. Some of them
// share a place, which has the slowest call of a round ([File.KeepSlow]); one that is being
// written is left out, and found next time. So is a call that was found before.
func (d *File) SlowCalls(f func(SlowCall)) {
	for i := range int64(wire.SlowPlaces) {
		p := wire.OffSlow + i<<wire.SlowShift
		check, round := d.load(p+wire.LCheck), d.load(p+wire.LRound)
		if check == 0 {
			continue
		}
		c := SlowCall{Thread: d.load(p + wire.LThread), Began: d.load(p + wire.LBegan), Took: d.load(p + wire.LTook), Waited: d.load(p + wire.LWaited)}
		method := d.load(p + wire.LMethod)
		c.Method, c.Thrown = int32(method&(wire.MaxMethods-1)), method&wire.LThrown != 0
		if check == round^c.Took^c.Began^c.Waited^c.Thread<<20^method<<40 {
			f(c)
		}
	}
}

// KeepSlow has the target leave root calls that take least ns or longer, in another round.
func (d *File) KeepSlow(least int64) {
	d.store(wire.HSlow, least)
	d.store(wire.HSlowRound, d.load(wire.HSlowRound)+1)
}

// forgetSlow begins anew.
func (d *File) forgetSlow() {
	for i := range int64(wire.SlowPlaces) {
		d.store(wire.OffSlow+i<<wire.SlowShift+wire.LCheck, 0)
	}
	d.KeepSlow(0)
}
