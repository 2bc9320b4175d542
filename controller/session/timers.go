package session

import (
	"fmt"
	"math"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/calibrate"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// timers are the cells in a data file where timed methods are recorded. The
// loop makes them; whoever holds the mapping may read them at any time.
type timers struct {
	d       *dataFile
	stripes int64
	most    int32 // methods that the file can hold
	cost    *calibrate.Cost
}

// newTimers takes the room of the nodes, of which a timing needs none.
func newTimers(d *dataFile) *timers {
	stripes := int64(4)
	for stripes < int64(runtime.NumCPU()) && stripes < 16 {
		stripes *= 2
	}
	t := &timers{d: d, stripes: stripes}
	t.most = int32(min((int64(len(d.mem))-wire.OffNodes)/t.size(), math.MaxInt16))
	d.noNodes()
	d.store(wire.TCells, wire.OffNodes)
	d.store32(wire.TStripes, uint32(stripes))
	return t
}

// size is what a method takes, in bytes.
func (t *timers) size() int64 { return 2 * t.stripes << wire.CellShift }

func (t *timers) cell(id int32, i int64) int64 {
	return wire.OffNodes + int64(id)*t.size() + i<<wire.CellShift
}

// reserve makes sure that a method has its cells, and all below it.
func (t *timers) reserve(id int32) error {
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

// A timed is what is recorded of one method. Times are ns, as measured.
type timed struct {
	count, thrown      int64
	total, least, most int64
	buckets            [wire.CellBuckets]int64
}

// read sums a method's cells into v. While the target records, the sums may
// miss what is being written: one invocation a thread.
func (t *timers) read(id int32, v *timed) {
	*v = timed{}
	if id >= int32(t.d.load32(wire.TMethods)) {
		return
	}
	least := int64(0)
	for i := range 2 * t.stripes {
		c := t.cell(id, i)
		if t.d.load(c+wire.CMost) == 0 && t.d.load(c+wire.CLeast) == 0 {
			continue // nobody was here
		}
		for b := range v.buckets {
			if n := t.d.load(c + wire.CBuckets + int64(b)*8); n != 0 {
				v.buckets[b] += n
				v.count += n
			}
		}
		v.thrown += t.d.load(c + wire.CThrown)
		v.total += t.d.load(c + wire.CTotal)
		v.most = max(v.most, t.d.load(c+wire.CMost))
		least = max(least, t.d.load(c+wire.CLeast))
	}
	if v.count > 0 && least > 0 {
		v.least = math.MaxInt64 - least
	}
}

// count sums the invocations of all methods.
func (t *timers) count() (n int64) {
	var v timed
	for id := int32(wire.TimerSample + 1); id < int32(t.d.load32(wire.TMethods)); id++ {
		t.read(id, &v)
		n += v.count
	}
	return n
}

// quantile is the time that a share of the invocations did not exceed, in ns:
// the middle of its bucket, at most 0.8 % off.
func (v *timed) quantile(share float64) int64 {
	rank, n := int64(math.Ceil(share*float64(v.count))), int64(0)
	for i, k := range v.buckets {
		if n += k; k > 0 && n >= rank {
			return v.middle(i)
		}
	}
	return v.most
}

// middle stands for the times of a bucket; none is beyond what was measured.
func (v *timed) middle(bucket int) int64 {
	low, high := wire.BucketRange(bucket)
	return min(max(low+(high-low)/2, v.least), v.most)
}

// progress says what the timers show so far.
func (t *timers) progress(p *Progress) {
	var v, top timed
	for id := int32(wire.TimerSample + 1); id < int32(t.d.load32(wire.TMethods)); id++ {
		t.read(id, &v)
		if v.count == 0 {
			continue
		}
		p.Called++
		p.Calls += v.count
		if v.total >= top.total {
			top = v
		}
	}
	p.RootInvocations = p.Calls
	if top.count > 0 {
		p.Times = fmt.Sprintf("mean %s, p99 %s, max %s", export.Duration(top.total/top.count), export.Duration(top.quantile(0.99)), export.Duration(top.most))
	}
}
