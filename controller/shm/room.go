package shm

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// allocate has pages for a range of the file. A signal to this process, such as
// Go's scheduler sends itself, may interrupt the call without a harm.
func (d *File) allocate(off, n int64) error {
	for {
		if err := unix.Fallocate(int(d.f.Fd()), 0, off, n); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Grow allocates more of the file when the target comes near the end of what
// there is. It reports whether it did; a full tmpfs ends the growth, and the
// target's new contexts are counted as overflow, and the error says so.
func (d *File) Grow() (bool, error) {
	d.growing.Lock()
	defer d.growing.Unlock()
	limit, highest, used := d.load(wire.HNodeLimit), d.load(wire.HNodeMax), d.load(wire.HNextNode)
	step := int64(growStep)
	if d.load32(wire.HEvents) != 0 {
		step = eventStep
	}
	ahead := max(min(step>>wire.NodeShift, highest/stepPart), 2*wire.NodeChunk, used/4) // a tree that has grown fast goes on to
	if limit >= highest || used+ahead/2 < limit {
		if 2*limit >= highest {
			return false, d.allocateReserve()
		}
		return false, nil
	}
	next := min(max(used, limit-ahead/2)+ahead, highest)
	off := int64(wire.OffNodes) + limit<<wire.NodeShift
	err := d.allocate(off, (next-limit)<<wire.NodeShift)
	for err != nil && next-limit > wire.NodeChunk { // there may be room for less
		next = limit + max((next-limit)/2&^(wire.NodeChunk-1), wire.NodeChunk)
		err = d.allocate(off, (next-limit)<<wire.NodeShift)
	}
	if err != nil {
		d.store(wire.HNodeMax, limit)
		return false, errors.Join(fmt.Errorf("the tmpfs of the target is full, call paths beyond %d nodes are not told apart: %w", limit, err), d.allocateReserve())
	}
	d.store(wire.HNodeLimit, next)
	return true, nil
}

// GrowRecords allocates more thread records when the target comes near the end
// of what there are. On a full tmpfs those there are must do, and the error says so.
func (d *File) GrowRecords() error {
	d.growing.Lock()
	defer d.growing.Unlock()
	limit, highest, used := d.load(wire.HRecordLimit), d.load(wire.HRecordMax), d.load(wire.HNextRecord)
	if limit >= highest || used+firstRecords/2 < limit {
		return nil
	}
	next := min(max(limit+firstRecords, used+used/2), highest)
	if err := d.allocate(wire.OffRecords+limit<<wire.RecordShift, (next-limit)<<wire.RecordShift); err != nil {
		d.store(wire.HRecordMax, limit)
		return fmt.Errorf("the tmpfs of the target is full, no more than %d threads are recorded at a time: %w", limit, err)
	}
	d.store(wire.HRecordLimit, next)
	return nil
}

// reserve is how many of the nodes are for calls that find no room in the tree.
// They are the first ones, and allocated when half of the room is.
func reserve(nodes int64) int64 { return nodes / 16 &^ (wire.NodeChunk - 1) }

func (d *File) nodes() int64 { return int64(len(d.mem)-wire.OffNodes) >> wire.NodeShift }

// base is the first node that is not of the reserve.
func (d *File) base() int64 { return wire.NodeChunk + reserve(d.nodes()) }

// allocateReserve makes the reserve ready, once.
func (d *File) allocateReserve() error {
	end := d.base()
	if d.full || d.load(wire.HReserveEnd) == end {
		return nil
	}
	off := int64(wire.OffNodes) + wire.NodeChunk<<wire.NodeShift
	if err := d.allocate(off, (end-wire.NodeChunk)<<wire.NodeShift); err != nil {
		d.full = true
		return fmt.Errorf("no room for the reserve, calls without room are not told apart by method: %w", err)
	}
	d.store(wire.HReserveNext, wire.NodeChunk)
	d.store(wire.HReserveEnd, end)
	return nil
}

// noNodes keeps the room of the nodes for something else.
func (d *File) noNodes() {
	d.growing.Lock()
	defer d.growing.Unlock()
	d.full = true
	d.store(wire.HNodeMax, d.load(wire.HNodeLimit))
}

// HasSpare reports whether there is a record, and room for a tree, that nobody
// lacks if the sample takes it.
func (d *File) HasSpare() bool {
	return d.load(wire.HNextRecord) < d.load(wire.HRecordMax) && d.load(wire.HNextNode)+2*wire.NodeChunk <= d.load(wire.HNodeMax)
}

// Reuse frees the nodes of all recordings so far. The gate must be shut and no
// thread be within a probe. It fails where the tmpfs has become full; calls are
// counted without contexts then.
func (d *File) Reuse() error {
	d.growing.Lock()
	defer d.growing.Unlock()
	if err := d.untrack(); err != nil {
		return err
	}
	from := int64(wire.OffNodes) + wire.NodeChunk<<wire.NodeShift
	d.store(wire.HReserveEnd, 0) // until all is well again, the target gets none
	d.store(wire.HNodeMax, 0)
	for i := int64(0); i < wire.RingSizes; i++ {
		d.store(wire.HFreeRings+8*i, 0)
	}
	if err := unix.Fallocate(int(d.f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, int64(len(d.mem))-from); err != nil {
		return err
	}
	if err := d.allocate(wire.OffNodes+d.base()<<wire.NodeShift, firstNodes); err != nil {
		return err
	}
	d.full = false
	d.store(wire.HNodeMax, d.nodes())
	d.store(wire.HNodeLimit, d.base()+firstNodes>>wire.NodeShift)
	d.store(wire.HNextNode, d.base())
	return nil
}

// Room is how many bytes of the room for trees are taken, and how many there
// are.
func (d *File) Room() (used, most int64) {
	most = d.load(wire.HNodeMax) - d.base()
	return min(max(d.load(wire.HNextNode)-d.base(), 0), most) << wire.NodeShift, most << wire.NodeShift
}

// QuarterUsed tells whether trees have taken more than a quarter of their room:
// before another recording it is worth freeing ([File.Reuse]).
func (d *File) QuarterUsed() bool { return d.load(wire.HNextNode)-d.base() > d.nodes()/4 }
