package shm

import (
	"sync/atomic"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// An Exit is the end of the last root invocation in a thread record.
type Exit struct {
	Record   int64  // its number
	Epoch    uint32 // of the recording; another one counts Returned from 0
	Thread   int64  // id of the thread that has it
	Returned int64  // root calls that have ended in it
	Took     time.Duration
	Held     bool // the thread waits for [File.Release]
}

// Exits are the records of the recording in which root invocations have ended. Whether a thread
// is held is read after the count of returns, which the target writes later: no return is seen
// whose hold is not. A hold whose return is not counted yet is not seen either: it says of which
// return it is.
func (d *File) Exits() (out []Exit) {
	epoch, n := d.load32(wire.HEpoch), min(d.load(wire.HNextRecord), wire.Records)
	for i := int64(1); i < n; i++ {
		r := int64(wire.OffRecords) + i<<wire.RecordShift
		if d.load32(r+wire.REpoch) != epoch {
			continue
		}
		e := Exit{Record: i, Epoch: epoch, Returned: d.load(r + wire.RReturns)}
		if e.Returned == 0 {
			continue
		}
		e.Held = d.load(r+wire.RHeld) == e.Returned
		e.Thread, e.Took = d.load(r+wire.RTid), time.Duration(d.load(r+wire.RTook))
		out = append(out, e)
	}
	return out
}

// WatchExits has the target say how long root invocations took, and hold threads at the end of
// those that took as long as over, for at most hold; 0 holds none.
func (d *File) WatchExits(over, hold time.Duration) {
	d.store(wire.HUnheld, 0)
	d.store(wire.HOver, int64(over))
	d.store(wire.HHold, int64(hold))
	atomic.OrUint32(d.half(wire.HExits), wire.ExitTell)
}

// LeaveExits ends that. Who is held sees it, and goes on.
func (d *File) LeaveExits() {
	d.store(wire.HHold, 0)
	atomic.AndUint32(d.half(wire.HExits), ^uint32(wire.ExitTell))
}

// Release lets a thread go on that is held. One that has gone on meanwhile, and is held at its
// next exit, stays.
func (d *File) Release(e Exit) {
	atomic.CompareAndSwapInt64(d.word(wire.OffRecords+e.Record<<wire.RecordShift+wire.RHeld), e.Returned, 0)
}

// Unheld is how many threads went on before they were released.
func (d *File) Unheld() int64 { return d.load(wire.HUnheld) }

// CountTimes has root calls counted by how long they took from now on, or no longer.
func (d *File) CountTimes(on bool) {
	if on {
		atomic.OrUint32(d.half(wire.HExits), wire.ExitCount)
	} else {
		atomic.AndUint32(d.half(wire.HExits), ^uint32(wire.ExitCount))
	}
}

// Times are the root calls of the recording that were counted so, by the places of [wire.TimesOf],
// and ns of all. A call that ends meanwhile may be in the sum and not yet in a count.
func (d *File) Times() (counts []int64, sum int64) {
	counts = make([]int64, wire.Times)
	for i := range counts {
		counts[i] = d.load(wire.HTimes + 8*int64(i))
	}
	return counts, d.load(wire.HTimesSum)
}

// forgetTimes begins anew.
func (d *File) forgetTimes() {
	d.store(wire.HTimesSum, 0)
	for i := range int64(wire.Times) {
		d.store(wire.HTimes+8*i, 0)
	}
}
