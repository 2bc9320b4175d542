package heap

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrMemory says that the analysis needs more than Options.MaxMemory allows and can't do
// without.
var ErrMemory = errors.New("not enough memory")

// A block is an array outside of Go's heap: zeroed, without pointers, and gone as soon
// as it is freed, so that the peak is what was planned.
type block struct {
	data   []byte
	size   int64    // asked for; data may be longer
	file   *os.File // nil: anonymous memory
	pooled int64    // bytes that count against the limit
}

func (b *block) u8() []byte { return b.data }

func (b *block) u32() []uint32 {
	if len(b.data) == 0 {
		return nil
	}
	return unsafe.Slice((*uint32)(unsafe.Pointer(&b.data[0])), b.size/4)
}

func (b *block) u64() []uint64 {
	if len(b.data) == 0 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&b.data[0])), b.size/8)
}

// A pool hands out blocks and keeps what is resident below a limit.
type pool struct {
	limit int64 // of what blocks take
	most  int64 // of what the process has resident
	temp  string
	tight bool // what is not in use all the time goes to files from the start

	mu     sync.Mutex
	used   int64
	blocks map[*block]bool

	quit, done chan struct{}
}

// How often the pool looks at what is resident, and how soon again after it was too much:
// pages that the kernel has cached come back at some GB/s.
const (
	trimEvery = 10 * time.Millisecond
	trimAgain = 4 * time.Millisecond
)

// newPool starts a goroutine that close ends.
func newPool(limit, most int64, temp string) *pool {
	p := &pool{limit: limit, most: most, temp: temp, blocks: map[*block]bool{}, quit: make(chan struct{}), done: make(chan struct{})}
	go p.trim()
	return p
}

// get returns a block of n bytes, of which touched is an estimate of how many will be
// written. A cold one is read and written in one phase, or in order.
func (p *pool) get(n, touched int64, cold bool) (*block, error) {
	b := &block{size: n}
	if n == 0 {
		return b, nil
	}
	n = (n + 7) &^ 7
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	if p.used+touched <= p.limit && !(cold && p.tight) {
		b.data, err = unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
		if err != nil {
			return nil, fmt.Errorf("%w: %d MB: %w", ErrMemory, n>>20, err)
		}
		b.pooled = touched
		p.used += touched
	} else if err := p.mapFile(b, n); err != nil {
		return nil, err
	}
	p.blocks[b] = true
	return b, nil
}

// settle says how many bytes of a block are in use in the end.
func (p *pool) settle(b *block, touched int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.file == nil {
		p.used += touched - b.pooled
		b.pooled = touched
	}
}

// park moves a block that is not used for a while into a file, if memory is tight. Slices
// of it are no longer valid.
func (p *pool) park(b *block) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.tight || b.file != nil || b.data == nil {
		return nil
	}
	old := *b
	if err := p.mapFile(b, int64(len(old.data))); err != nil {
		*b = old
		return err
	}
	// Written, not copied: what is written is not resident here.
	for at := 0; at < len(old.data); {
		n, err := b.file.WriteAt(old.data[at:min(at+pieceBytes, len(old.data))], int64(at))
		if err != nil {
			_ = unix.Munmap(b.data)
			b.file.Close()
			*b = old
			return fmt.Errorf("%d MB of a temporary file: %w", b.size>>20, err)
		}
		at += n
	}
	_ = unix.Munmap(old.data)
	p.used -= old.pooled
	b.pooled = 0
	return nil
}

// pieceBytes is how much is moved at once.
const pieceBytes = 4 << 20

// promote moves a block that is about to be used all over into memory, if it is in a file
// and there is room by now. Slices of it are no longer valid.
func (p *pool) promote(b *block) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.file == nil || p.used+b.size > p.limit {
		return
	}
	data, err := unix.Mmap(-1, 0, len(b.data), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return
	}
	// Piece by piece, lest both are resident at once.
	for at := 0; at < len(data); at += pieceBytes {
		end := min(at+pieceBytes, len(data))
		copy(data[at:end], b.data[at:end])
		_ = unix.Madvise(b.data[at:end], unix.MADV_DONTNEED)
	}
	_ = unix.Munmap(b.data)
	b.file.Close()
	b.data, b.file, b.pooled = data, nil, b.size
	p.used += b.size
}

func (p *pool) mapFile(b *block, n int64) error {
	f, err := os.CreateTemp(p.temp, "rivulet-heap-*")
	if err != nil {
		return fmt.Errorf("no place for what doesn't fit into memory: %w; choose another folder with --temp, or give more with --max-memory", err)
	}
	if err = os.Remove(f.Name()); err == nil {
		err = f.Truncate(n)
	}
	if err == nil {
		b.data, err = unix.Mmap(int(f.Fd()), 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		f.Close()
		return fmt.Errorf("%d MB of a temporary file: %w", n>>20, err)
	}
	b.file = f
	return nil
}

// free gives a block back. It may be nil.
func (p *pool) free(b *block) {
	if b == nil || b.data == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(b)
}

func (p *pool) drop(b *block) {
	_ = unix.Munmap(b.data)
	if b.file != nil {
		b.file.Close()
	}
	p.used -= b.pooled
	delete(p.blocks, b)
	b.data = nil
}

// close frees all blocks.
func (p *pool) close() {
	close(p.quit)
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	for b := range p.blocks {
		p.drop(b)
	}
}

// trim takes pages of files away when too much is resident. They stay in the kernel's
// page cache as long as it has room, and come back by a page fault.
func (p *pool) trim() {
	defer close(p.done)
	t := time.NewTimer(trimEvery)
	defer t.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-t.C:
		}
		if resident() < p.most-p.most/8 {
			t.Reset(trimEvery)
			continue
		}
		p.mu.Lock()
		for b := range p.blocks {
			if b.file != nil {
				_ = unix.Madvise(b.data, unix.MADV_DONTNEED)
			}
		}
		p.mu.Unlock()
		t.Reset(trimAgain)
	}
}

// resident is how much memory this process has, in bytes; 0 if that can't be told.
func resident() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	f := bytes.Fields(b)
	if len(f) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(f[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// A bitset has a bit for each object.
type bitset []uint64

func newBitset(n int) bitset        { return make(bitset, (n+63)/64) }
func (b bitset) has(i uint32) bool  { return b[i>>6]&(1<<(i&63)) != 0 }
func (b bitset) set(i uint32)       { b[i>>6] |= 1 << (i & 63) }
func (b bitset) setAtomic(i uint32) { atomic.OrUint64(&b[i>>6], 1<<(i&63)) }

func (b bitset) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// pairs is a block of two words each.
func pairs(b *block) []textHash {
	if len(b.data) == 0 {
		return nil
	}
	return unsafe.Slice((*textHash)(unsafe.Pointer(&b.data[0])), b.size/16)
}
