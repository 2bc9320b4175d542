package perf

import (
	"encoding/binary"
	"errors"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A ring is the memory into which the kernel writes the records of one CPU.
type ring struct {
	fd      int
	mem     []byte
	page    *unix.PerfEventMmapPage
	data    []byte // a power of two
	scratch []byte
}

// Sizes of rings in pages, the most first: without privilege the kernel allows 516 KB for
// each CPU, and as much beyond as RLIMIT_MEMLOCK says.
var ringPages = []int{512, 256, 128, 64}

func mapRing(fd int) (*ring, error) {
	page := unix.Getpagesize()
	var err error
	for _, n := range ringPages {
		var mem []byte
		mem, err = unix.Mmap(fd, 0, (1+n)*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err == nil {
			return &ring{fd: fd, mem: mem, page: (*unix.PerfEventMmapPage)(unsafe.Pointer(&mem[0])), data: mem[page:]}, nil
		}
		if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOMEM) {
			break
		}
	}
	return nil, err
}

func (r *ring) unmap() { _ = unix.Munmap(r.mem) } // it is not used any more

const headSize = 8

// drain gives f each record that is there. A record is valid until f returns.
func (r *ring) drain(f func(kind uint32, body []byte)) {
	head := atomic.LoadUint64(&r.page.Data_head)
	tail := r.page.Data_tail
	size := uint64(len(r.data))
	for head-tail >= headSize && head-tail <= size {
		h := r.at(tail, headSize)
		kind, n := binary.LittleEndian.Uint32(h), uint64(binary.LittleEndian.Uint16(h[6:]))
		if n < headSize || n > head-tail {
			break
		}
		f(kind, r.at(tail, n)[headSize:])
		tail += n
		atomic.StoreUint64(&r.page.Data_tail, tail)
	}
	if head != tail { // makes no sense: begin anew
		atomic.StoreUint64(&r.page.Data_tail, head)
	}
}

// at returns bytes of the ring, as they are or, where they wrap, as a copy.
func (r *ring) at(pos, n uint64) []byte {
	off := pos & uint64(len(r.data)-1)
	if off+n <= uint64(len(r.data)) {
		return r.data[off : off+n]
	}
	r.scratch = append(append(r.scratch[:0], r.data[off:]...), r.data[:off+n-uint64(len(r.data))]...)
	return r.scratch
}
