package shm

import (
	"fmt"
	"math"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// Timers are the cells in a data file where timed methods are recorded. Any
// goroutine may read them at any time before the file is closed;
// [Timers.Reserve] is for the file's owner alone.
type Timers struct {
	d       *File
	stripes int64
	most    int32 // methods that the file can hold
}

// NewTimers takes the room of the nodes, of which a timing needs none.
func NewTimers(d *File) *Timers {
	stripes := int64(4)
	for stripes < int64(runtime.NumCPU()) && stripes < 16 {
		stripes *= 2
	}
	t := &Timers{d: d, stripes: stripes}
	t.most = int32(min((int64(len(d.mem))-wire.OffNodes)/t.size(), math.MaxInt16))
	d.noNodes()
	d.store(wire.TCells, wire.OffNodes)
	d.store32(wire.TStripes, uint32(stripes))
	return t
}

// size is what a method takes, in bytes.
func (t *Timers) size() int64 { return 2 * t.stripes << wire.CellShift }

func (t *Timers) cell(id int32, i int64) int64 {
	return wire.OffNodes + int64(id)*t.size() + i<<wire.CellShift
}

// Reserve makes sure that a method has its cells, and all below it. It fails,
// with the way out in the text, where there is no room.
func (t *Timers) Reserve(id int32) error {
	have := int32(t.d.load32(wire.TMethods))
	if id < have {
		return nil
	}
	if id >= t.most {
		return fmt.Errorf("there is room for the timers of %d methods only; give fewer roots, or enlarge the target's /dev/shm (docker: --shm-size)", t.most-1)
	}
	if err := unix.Fallocate(int(t.d.f.Fd()), 0, t.cell(have, 0), int64(id+1-have)*t.size()); err != nil {
		return fmt.Errorf("no room for its timer: %w; enlarge the target's /dev/shm (docker: --shm-size)", err)
	}
	t.d.store32(wire.TMethods, uint32(id+1))
	return nil
}

// A Timed is what is recorded of one method. Times are ns, as measured.
type Timed struct {
	Count, Thrown      int64
	Total, Least, Most int64
	Buckets            [wire.CellBuckets]int64 // invocations, by wire.BucketRange
}

// Read sums a method's cells into v. While the target records, the sums may
// miss what is being written: one invocation a thread.
func (t *Timers) Read(id int32, v *Timed) {
	*v = Timed{}
	if id >= int32(t.d.load32(wire.TMethods)) {
		return
	}
	least := int64(0)
	for i := range 2 * t.stripes {
		c := t.cell(id, i)
		if t.d.load(c+wire.CMost) == 0 && t.d.load(c+wire.CLeast) == 0 {
			continue // nobody was here
		}
		for b := range v.Buckets {
			if n := t.d.load(c + wire.CBuckets + int64(b)*8); n != 0 {
				v.Buckets[b] += n
				v.Count += n
			}
		}
		v.Thrown += t.d.load(c + wire.CThrown)
		v.Total += t.d.load(c + wire.CTotal)
		v.Most = max(v.Most, t.d.load(c+wire.CMost))
		least = max(least, t.d.load(c+wire.CLeast))
	}
	if v.Count > 0 && least > 0 {
		v.Least = math.MaxInt64 - least
	}
}

// Count sums the invocations of all methods.
func (t *Timers) Count() (n int64) {
	var v Timed
	for id := int32(wire.TimerSample + 1); id < int32(t.d.load32(wire.TMethods)); id++ {
		t.Read(id, &v)
		n += v.Count
	}
	return n
}

// Quantile is the time that a share of the invocations did not exceed, in ns:
// the middle of its bucket, at most 0.8 % off.
func (v *Timed) Quantile(share float64) int64 {
	rank, n := int64(math.Ceil(share*float64(v.Count))), int64(0)
	for i, k := range v.Buckets {
		if n += k; k > 0 && n >= rank {
			return v.Middle(i)
		}
	}
	return v.Most
}

// Middle stands for the times of a bucket; none is beyond what was measured.
func (v *Timed) Middle(bucket int) int64 {
	low, high := wire.BucketRange(bucket)
	return min(max(low+(high-low)/2, v.Least), v.Most)
}

// Sum is how many methods have been called, how often in all, and the method
// with the most time.
func (t *Timers) Sum() (called int, calls int64, top Timed) {
	var v Timed
	for id := int32(wire.TimerSample + 1); id < int32(t.d.load32(wire.TMethods)); id++ {
		t.Read(id, &v)
		if v.Count == 0 {
			continue
		}
		called++
		calls += v.Count
		if v.Total >= top.Total {
			top = v
		}
	}
	return called, calls, top
}
