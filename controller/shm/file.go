package shm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
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
	// stepPart is the part of all room that a step takes at the most, unless a large tree asks for more.
	stepPart = 4
	// firstNodes is what is allocated for nodes at first, in bytes.
	firstNodes = 1 << 20
	// firstRecords is how many thread records are allocated at first, and how many
	// free ones are kept ready at least.
	firstRecords = 1024
	// maxMemory is what one FileChannel.map can take.
	maxMemory = math.MaxInt32 &^ (1<<20 - 1)
)

// A File is the memory that the target records into, mapped. Words are read
// and written atomically; package wire says who writes which. Unless a method
// says that it is for the owner alone (the goroutine that opens and shuts the
// gate), any goroutine may call it at any time before [File.Close].
type File struct {
	f   *os.File
	mem []byte
	tag uint64 // of the last part of a recording, as in a token but not shifted

	closed map[int64]int64 // when the parts that have ended did, by tag; the owner's

	growing sync.Mutex // how much is allocated
	full    bool       // not even the reserve could be

	track uint32 // what H_TRACK has in a recording; the owner's

	gone bool // somebody has truncated the file; see Guard
}

// Create sizes a file, allocates what is needed at first, and maps it. The file
// has to lie on a tmpfs. memory bounds what nodes may take of it, in bytes; a
// tmpfs with less room bounds it too. tag is the tag before that of the first
// part of the recording. It fails, with the way out in the text, where the tmpfs
// is too small. The file is the result's then, else still the caller's.
func Create(f *os.File, memory int64, tag uint64) (*File, error) {
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
	d := &File{f: f, tag: tag, closed: map[int64]int64{}}
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

// InMemory is a data file without a file, for tests: mem has to hold
// wire.OffNodes bytes at least. It can't grow or be closed.
func InMemory(mem []byte) *File { return &File{mem: mem, closed: map[int64]int64{}} }

func (d *File) word(off int64) *int64  { return (*int64)(unsafe.Pointer(&d.mem[off])) }
func (d *File) half(off int64) *uint32 { return (*uint32)(unsafe.Pointer(&d.mem[off])) }

func (d *File) load(off int64) int64        { return atomic.LoadInt64(d.word(off)) }
func (d *File) store(off, v int64)          { atomic.StoreInt64(d.word(off), v) }
func (d *File) add(off, n int64)            { atomic.AddInt64(d.word(off), n) }
func (d *File) load32(off int64) uint32     { return atomic.LoadUint32(d.half(off)) }
func (d *File) store32(off int64, v uint32) { atomic.StoreUint32(d.half(off), v) }

func (d *File) swap32(off int64, from, to uint32) bool {
	return atomic.CompareAndSwapUint32(d.half(off), from, to)
}

// Open lets the probes record, as a part of the recording of its own: nothing
// that was begun in an earlier part goes on. Like [File.Shut], it is for the
// owner alone.
func (d *File) Open() {
	d.tag = (d.tag + 1) & (1<<(64-wire.IndexBits-1) - 1)
	d.tag = max(d.tag, 1)
	d.cutOff()
	d.store(wire.HGate, int64(d.tag<<wire.IndexBits))
	d.store(wire.HTag, int64(d.tag<<wire.IndexBits))
}

// Shut silences the probes. now is the target's time, in ns.
func (d *File) Shut(now int64) {
	tag := d.load(wire.HTag)
	if tag == 0 {
		return
	}
	d.store(wire.HTag, 0)
	d.store(wire.HGate, 0)
	d.closed[tag] = now
}

// IsOpen tells whether the probes record.
func (d *File) IsOpen() bool { return d.load(wire.HTag) != 0 }

// Part is the tag of the part of the recording that is on, as the header has
// it; 0 if none is.
func (d *File) Part() int64 { return d.load(wire.HTag) }

// Closed is when the parts that have ended did, in the target's time (ns), by
// tag. It is a copy. It is for the owner alone.
func (d *File) Closed() map[int64]int64 { return maps.Clone(d.closed) }

// Memory is the mapping, nil once the file is closed. Who reads it while
// another goroutine may close the file has to prevent that.
func (d *File) Memory() []byte { return d.mem }

// Close unmaps and closes the file. No other method may be used afterwards
// except [File.Memory].
func (d *File) Close() error {
	err := errors.Join(unix.Munmap(d.mem), d.f.Close())
	d.mem = nil
	return err
}
