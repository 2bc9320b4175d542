package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

const (
	// growStep is how much of the data file is allocated at a time. The
	// target sees room ahead of at least half of it.
	growStep = 16 << 20
	// maxMemory is what one FileChannel.map can take.
	maxMemory = math.MaxInt32 &^ (1<<20 - 1)
)

// A dataFile is the memory that the target records into, mapped. Words are
// read and written atomically; who writes which is in package wire.
type dataFile struct {
	f   *os.File
	mem []byte
}

// newDataFile sizes, allocates as far as it is needed at first, and maps a
// file. limit bounds its size in bytes; a tmpfs with less room bounds it too.
func newDataFile(f *os.File, limit int64, tag uint64) (*dataFile, error) {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil {
		return nil, err
	}
	size := min(limit, maxMemory)
	if free := int64(fs.Bavail) * fs.Bsize; fs.Blocks > 0 {
		size = min(size, free*3/4) // others live there too
	}
	size &^= 1<<20 - 1
	first := int64(wire.OffNodes) + 1<<20
	if size < first {
		return nil, fmt.Errorf("the tmpfs of %s has room for %d MB, Rivulet needs %d; enlarge it (docker: --shm-size)", f.Name(), size>>20, first>>20+1)
	}
	if err := f.Truncate(size); err != nil {
		return nil, err
	}
	d := &dataFile{f: f}
	if err := unix.Fallocate(int(f.Fd()), 0, 0, first); err != nil {
		return nil, fmt.Errorf("allocate %d MB of shared memory for the target: %w; enlarge its /dev/shm (docker: --shm-size)", first>>20, err)
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %d MB: %w", size>>20, err)
	}
	d.mem = mem
	binary.NativeEndian.PutUint32(mem[wire.HVersion:], wire.Version)
	d.store(wire.HTag, int64(tag<<wire.IndexBits))
	d.store(wire.HBudget, math.MaxInt64)
	d.store(wire.HNextNode, wire.NodeChunk) // node 0 is none
	d.store(wire.HNextRecord, 1)
	d.store(wire.HNodeMax, (size-wire.OffNodes)>>wire.NodeShift)
	d.store(wire.HNodeLimit, (first-wire.OffNodes)>>wire.NodeShift)
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

func (d *dataFile) setGate(open bool) {
	v := uint32(0)
	if open {
		v = 1
	}
	d.store32(wire.HGate, v)
}

func (d *dataFile) mode(method int32) byte       { return d.mem[wire.OffModes+int(method)] }
func (d *dataFile) setMode(method int32, m byte) { d.mem[wire.OffModes+int(method)] = m }

// grow allocates more of the file when the target comes near the end of what
// there is. It reports whether it did; a full tmpfs ends the growth, and the
// target's new contexts are counted as overflow.
func (d *dataFile) grow() (bool, error) {
	limit, highest := d.load(wire.HNodeLimit), d.load(wire.HNodeMax)
	if limit >= highest || d.load(wire.HNextNode)+growStep>>wire.NodeShift/2 < limit {
		return false, nil
	}
	next := min(limit+growStep>>wire.NodeShift, highest)
	off := int64(wire.OffNodes) + limit<<wire.NodeShift
	err := unix.Fallocate(int(d.f.Fd()), 0, off, (next-limit)<<wire.NodeShift)
	if err != nil {
		d.store(wire.HNodeMax, limit)
		return false, fmt.Errorf("the tmpfs of the target is full, contexts beyond %d nodes are not told apart: %w", limit, err)
	}
	d.store(wire.HNodeLimit, next)
	return true, nil
}

// returns sums the root invocations that have begun and ended.
func (d *dataFile) roots() (entries, returns int64) {
	n := min(d.load(wire.HNextRecord), wire.Records)
	for i := int64(1); i < n; i++ {
		r := int64(wire.OffRecords) + i<<wire.RecordShift
		returns += d.load(r + wire.RReturns)
		entries += d.load(r + wire.REntries)
	}
	return entries, returns
}

func (d *dataFile) close() error {
	return errors.Join(unix.Munmap(d.mem), d.f.Close())
}
