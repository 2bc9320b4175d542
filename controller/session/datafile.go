package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

const (
	// growStep is how much of the data file is allocated at a time, at least. The
	// target sees room ahead of at least half of it.
	growStep = 16 << 20
	// eventStep is that where events are recorded: threads take rings without
	// waiting for room.
	eventStep = 64 << 20
	// firstNodes is what is allocated for nodes at first, in bytes.
	firstNodes = 1 << 20
	// firstRecords is how many thread records are allocated at first, and how many
	// free ones are kept ready at least.
	firstRecords = 1024
	// maxMemory is what one FileChannel.map can take.
	maxMemory = math.MaxInt32 &^ (1<<20 - 1)
)

// A dataFile is the memory that the target records into, mapped. Words are
// read and written atomically; who writes which is in package wire.
type dataFile struct {
	f   *os.File
	mem []byte
	tag uint64 // of the last part of a recording, as in a token but not shifted

	closed map[int64]int64 // when the parts that have ended did, by tag; the loop's

	growing sync.Mutex // how much is allocated
	full    bool       // not even the reserve could be
}

// newDataFile sizes, allocates as far as it is needed at first, and maps a
// file. memory bounds what nodes may take of it, in bytes; a tmpfs with less
// room bounds it too.
func newDataFile(f *os.File, memory int64, tag uint64) (*dataFile, error) {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil {
		return nil, err
	}
	// What is there without nodes, and without the records that few targets need.
	const fixed = wire.OffNodes - (wire.Records-firstRecords)<<wire.RecordShift
	if free := int64(fs.Bavail) * fs.Bsize; fs.Blocks > 0 {
		memory = min(memory, free*3/4-fixed) // others live there too
	}
	size := min(wire.OffNodes+memory, maxMemory) &^ (1<<20 - 1)
	nodes := (size - wire.OffNodes) >> wire.NodeShift
	base := wire.NodeChunk + reserve(nodes)
	first := int64(wire.OffNodes) + base<<wire.NodeShift + firstNodes
	if nodes <= 0 || first > size {
		return nil, fmt.Errorf("the tmpfs of %s has room for %d MB, Rivulet needs %d; enlarge it (docker: --shm-size)", f.Name(), (memory+fixed)>>20, (fixed+2*firstNodes)>>20+1)
	}
	if err := f.Truncate(size); err != nil {
		return nil, err
	}
	d := &dataFile{f: f, tag: tag, closed: map[int64]int64{}}
	if err := errors.Join(
		d.allocate(0, wire.OffRecords+firstRecords<<wire.RecordShift),
		d.allocate(wire.OffBoxes, wire.OffNodes-wire.OffBoxes+wire.NodeChunk<<wire.NodeShift),
		d.allocate(first-firstNodes, firstNodes),
	); err != nil {
		return nil, fmt.Errorf("allocate %d MB of shared memory for the target: %w; enlarge its /dev/shm (docker: --shm-size)", (fixed+firstNodes)>>20, err)
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %d MB: %w", size>>20, err)
	}
	d.mem = mem
	binary.NativeEndian.PutUint32(mem[wire.HVersion:], wire.Version)
	d.store(wire.HBudget, math.MaxInt64)
	d.store32(wire.HEpoch, 1)
	d.store(wire.HNextNode, base)
	d.store(wire.HNextRecord, 1)
	d.store(wire.HRecordLimit, firstRecords)
	d.store(wire.HRecordMax, wire.Records)
	d.store(wire.HNodeMax, nodes)
	d.store(wire.HNodeLimit, base+firstNodes>>wire.NodeShift)
	d.store(wire.HMagic, wire.Magic)
	return d, nil
}

func (d *dataFile) word(off int64) *int64  { return (*int64)(unsafe.Pointer(&d.mem[off])) }
func (d *dataFile) half(off int64) *uint32 { return (*uint32)(unsafe.Pointer(&d.mem[off])) }

func (d *dataFile) load(off int64) int64        { return atomic.LoadInt64(d.word(off)) }
func (d *dataFile) store(off, v int64)          { atomic.StoreInt64(d.word(off), v) }
func (d *dataFile) add(off, n int64)            { atomic.AddInt64(d.word(off), n) }
func (d *dataFile) load32(off int64) uint32     { return atomic.LoadUint32(d.half(off)) }
func (d *dataFile) store32(off int64, v uint32) { atomic.StoreUint32(d.half(off), v) }

func (d *dataFile) swap32(off int64, from, to uint32) bool {
	return atomic.CompareAndSwapUint32(d.half(off), from, to)
}

// open lets the probes record, as a part of the recording of its own: nothing
// that was begun in an earlier part goes on.
func (d *dataFile) open() {
	d.tag = (d.tag + 1) & (1<<(64-wire.IndexBits-1) - 1)
	d.tag = max(d.tag, 1)
	d.cutOff()
	d.store(wire.HGate, int64(d.tag<<wire.IndexBits))
	d.store(wire.HTag, int64(d.tag<<wire.IndexBits))
}

// cutOff says in each record with a root invocation that an earlier part's end cut off
// when that was: whoever has the record next charges it up to there. A thread that
// comes in later than it looks was stopped in between, and finds the gate shut.
func (d *dataFile) cutOff() {
	if len(d.closed) == 0 {
		return
	}
	n := min(d.load(wire.HNextRecord), wire.Records)
	for i := int64(1); i < n; i++ {
		r := wire.OffRecords + i<<wire.RecordShift
		if d.load(r+wire.RCursor) == 0 {
			continue
		}
		if at, ok := d.closed[d.load(r+wire.RKey)>>wire.IndexBits<<wire.IndexBits]; ok {
			d.store(r+wire.RClosed, at)
		}
	}
}

// shut silences the probes. now is the target's time.
func (d *dataFile) shut(now int64) {
	tag := d.load(wire.HTag)
	if tag == 0 {
		return
	}
	d.store(wire.HTag, 0)
	d.store(wire.HGate, 0)
	d.closed[tag] = now
}

// keep notes words of the header; the result puts them back.
func (d *dataFile) keep(words ...int64) (restore func()) {
	values := make([]int64, len(words))
	for i, w := range words {
		values[i] = d.load(w)
	}
	return func() {
		for i, w := range words {
			d.store(w, values[i])
		}
	}
}

// allocate has pages for a range of the file. A signal to this process, such as
// Go's scheduler sends itself, may interrupt the call without a harm.
func (d *dataFile) allocate(off, n int64) error {
	for {
		if err := unix.Fallocate(int(d.f.Fd()), 0, off, n); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// isOpen tells whether the probes record.
func (d *dataFile) isOpen() bool { return d.load(wire.HTag) != 0 }

func (d *dataFile) mode(method int32) byte       { return d.mem[wire.OffModes+int(method)] }
func (d *dataFile) setMode(method int32, m byte) { d.mem[wire.OffModes+int(method)] = m }

// grow allocates more of the file when the target comes near the end of what
// there is. It reports whether it did; a full tmpfs ends the growth, and the
// target's new contexts are counted as overflow.
func (d *dataFile) grow() (bool, error) {
	d.growing.Lock()
	defer d.growing.Unlock()
	limit, highest, used := d.load(wire.HNodeLimit), d.load(wire.HNodeMax), d.load(wire.HNextNode)
	ahead := max(growStep>>wire.NodeShift, used/4) // a tree that has grown fast goes on to
	if d.load32(wire.HEvents) != 0 {
		ahead = max(ahead, eventStep>>wire.NodeShift)
	}
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
		return false, errors.Join(fmt.Errorf("the tmpfs of the target is full, contexts beyond %d nodes are not told apart: %w", limit, err), d.allocateReserve())
	}
	d.store(wire.HNodeLimit, next)
	return true, nil
}

// growRecords allocates more thread records when the target comes near the end
// of what there are. On a full tmpfs those there are must do.
func (d *dataFile) growRecords() error {
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

func (d *dataFile) nodes() int64 { return int64(len(d.mem)-wire.OffNodes) >> wire.NodeShift }

// base is the first node that is not of the reserve.
func (d *dataFile) base() int64 { return wire.NodeChunk + reserve(d.nodes()) }

// allocateReserve makes the reserve ready, once.
func (d *dataFile) allocateReserve() error {
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
func (d *dataFile) noNodes() {
	d.growing.Lock()
	defer d.growing.Unlock()
	d.full = true
	d.store(wire.HNodeMax, d.load(wire.HNodeLimit))
}

// hasSpare reports whether there is a record, and room for a tree, that nobody
// lacks if the sample takes it.
func (d *dataFile) hasSpare() bool {
	return d.load(wire.HNextRecord) < d.load(wire.HRecordMax) && d.load(wire.HNextNode)+2*wire.NodeChunk <= d.load(wire.HNodeMax)
}

// reuse frees the nodes of all recordings so far. The gate must be shut and no
// thread be within a probe.
func (d *dataFile) reuse() error {
	d.growing.Lock()
	defer d.growing.Unlock()
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

// roots sums the root invocations that have begun and ended.
func (d *dataFile) roots() (entries, returns int64) {
	n := min(d.load(wire.HNextRecord), wire.Records)
	for i := int64(1); i < n; i++ {
		r := int64(wire.OffRecords) + i<<wire.RecordShift
		if d.load32(r+wire.REpoch) != d.load32(wire.HEpoch) {
			continue
		}
		returns += d.load(r + wire.RReturns)
		entries += d.load(r + wire.REntries)
	}
	return entries, returns
}

func (d *dataFile) close() error {
	return errors.Join(unix.Munmap(d.mem), d.f.Close())
}
