package vmstructs

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// A reader fills a buffer with what lies at an address.
type reader interface {
	Read(p []byte, at uint64) error
}

const (
	pageSize   = 4 << 10
	chunkSize  = 64 << 10
	keptChunks = 1 << 10 // 64 MB; what is read together lies together
	mostChunks = 64 << 10
)

var errMemory = errors.New("too much memory to read")

// A memory keeps what was read last, and the first error. What can't be read is zeros.
type memory struct {
	from   reader
	chunks map[uint64][]byte // nil: nothing there
	last   [4]struct {       // chunks that were used last, by their low bits
		number uint64 // plus one
		b      []byte
	}
	spare [][]byte // chunks to be used first
	reads int
	looks int // at chunks, read before or not
	kept  int // bytes that the result of the reading has
	err   error
}

// What no JVM needs, and one whose memory makes no sense, or is made to harm us, is stopped at.
// Lists that lead back to themselves would be followed for ever.
const (
	mostLooks = 1 << 27
	mostKept  = 512 << 20
)

// keep counts bytes that the result has.
func (m *memory) keep(n int) {
	if m.kept += n; m.kept > mostKept {
		m.fail(errMemory)
	}
}

func newMemory(r reader) *memory { return &memory{from: r, chunks: map[uint64][]byte{}} }

// chunk returns the bytes around an address; pages that can't be read are zeros.
func (m *memory) chunk(n uint64) []byte {
	if m.looks++; m.looks > mostLooks {
		m.fail(errMemory)
		return nil
	}
	last := &m.last[n%uint64(len(m.last))]
	if last.number == n+1 {
		return last.b
	}
	b, ok := m.chunks[n]
	if ok {
		last.number, last.b = n+1, b
		return b
	}
	if m.reads++; m.reads > mostChunks {
		m.fail(errMemory)
		return nil
	}
	if len(m.chunks) >= keptChunks {
		clear(m.chunks)
	}
	if n := len(m.spare); n > 0 {
		b, m.spare = m.spare[n-1], m.spare[:n-1]
	} else {
		b = make([]byte, chunkSize)
	}
	if err := m.from.Read(b, n*chunkSize); err != nil {
		found := false
		for i := uint64(0); i < chunkSize; i += pageSize {
			switch err := m.from.Read(b[i:i+pageSize], n*chunkSize+i); {
			case err == nil:
				found = true
			case !errors.Is(err, unix.EFAULT) && !errors.Is(err, unix.EIO):
				m.fail(fmt.Errorf("read its memory: %w", err))
				return nil
			default:
				clear(b[i : i+pageSize])
			}
		}
		if !found {
			b = nil
		}
	}
	m.chunks[n] = b
	return b
}

// buffers are the chunks, for another memory to read into. This one must not be used again.
func (m *memory) buffers() [][]byte {
	for _, b := range m.chunks {
		if b != nil {
			m.spare = append(m.spare, b)
		}
	}
	return m.spare
}

func (m *memory) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

// bytes returns n bytes, at most a chunk's; nil where there are none.
func (m *memory) bytes(at uint64, n int) []byte {
	if at < pageSize || n <= 0 || n > chunkSize {
		return nil
	}
	c, off := m.chunk(at/chunkSize), int(at%chunkSize)
	if c == nil {
		return nil
	}
	if off+n <= chunkSize {
		return c[off : off+n]
	}
	out := append(make([]byte, 0, n), c[off:]...)
	next := m.chunk(at/chunkSize + 1)
	if next == nil {
		return nil
	}
	return append(out, next[:n-len(out)]...)
}

func (m *memory) u64(at uint64) uint64 {
	if b := m.bytes(at, 8); b != nil {
		return binary.NativeEndian.Uint64(b)
	}
	return 0
}

func (m *memory) u32(at uint64) uint32 {
	if b := m.bytes(at, 4); b != nil {
		return binary.NativeEndian.Uint32(b)
	}
	return 0
}

func (m *memory) u16(at uint64) uint16 {
	if b := m.bytes(at, 2); b != nil {
		return binary.NativeEndian.Uint16(b)
	}
	return 0
}

// name returns a C string of at most so many bytes as names in the tables have.
func (m *memory) name(at uint64) string {
	const most = 200
	for n := 16; n <= most; n += 16 {
		b := m.bytes(at, n)
		if b == nil {
			return ""
		}
		for i, c := range b {
			if c == 0 {
				return string(b[:i])
			}
		}
	}
	return ""
}
