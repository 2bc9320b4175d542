package unwinder

import (
	"encoding/binary"

	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// A Memory is that of the target.
type Memory interface {
	// Read fills p with what lies at an address, all of it, or returns an error.
	Read(p []byte, at uint64) error
	// ReadMany reads many pieces and marks those that it could read. Its error says that
	// nothing can be read any more.
	ReadMany(spans []vmstructs.Span) error
}

func u64(p []byte) uint64 { return binary.LittleEndian.Uint64(p) }
func u32(p []byte) uint32 { return binary.LittleEndian.Uint32(p) }
func u16(p []byte) uint16 { return binary.LittleEndian.Uint16(p) }

// word returns the 8 bytes at an offset of a header that was read, 0 beyond it.
func word(p []byte, off uint64) uint64 {
	if off > uint64(len(p)) || uint64(len(p))-off < 8 {
		return 0
	}
	return u64(p[off:])
}

func half(p []byte, off uint64) uint32 {
	if off > uint64(len(p)) || uint64(len(p))-off < 4 {
		return 0
	}
	return u32(p[off:])
}

func quarter(p []byte, off uint64) uint16 {
	if off > uint64(len(p)) || uint64(len(p))-off < 2 {
		return 0
	}
	return u16(p[off:])
}

// bytes reads n bytes at an address; nil if they can't be read.
func (u *Unwinder) bytes(at uint64, n int) []byte {
	if n <= 0 || n > maxPiece || at < minAddress || at > maxAddress || !u.spend(n) {
		return nil
	}
	p := make([]byte, n)
	if u.mem.Read(p, at) != nil {
		return nil
	}
	u.reads++
	return p
}

// spend takes what a read costs off what one walk, or one look around, may cost. A target that
// lies may else keep a walk busy for long.
func (u *Unwinder) spend(n int) bool {
	u.budget -= 64 + n/64
	return u.budget >= 0
}

// u64 reads a word.
func (u *Unwinder) u64(at uint64) (uint64, bool) {
	p := u.bytes(at, 8)
	if p == nil {
		return 0, false
	}
	return u64(p), true
}

// many reads some pieces with one call. What can't be read is nil.
func (u *Unwinder) many(at []uint64, size []int) [][]byte {
	spans := make([]vmstructs.Span, 0, len(at))
	out := make([][]byte, len(at))
	index := make([]int, 0, len(at))
	for i, a := range at {
		if a < minAddress || a > maxAddress || size[i] <= 0 || size[i] > maxPiece || !u.spend(size[i]) {
			continue
		}
		spans = append(spans, vmstructs.Span{At: a, P: make([]byte, size[i])})
		index = append(index, i)
	}
	if len(spans) == 0 || u.mem.ReadMany(spans) != nil {
		return out
	}
	u.reads++
	for i, s := range spans {
		if s.OK {
			out[index[i]] = s.P
		}
	}
	return out
}

// Bounds of what is read and followed. Nothing of a JVM's comes near them.
const (
	minAddress   = 1 << 12
	maxAddress   = 1<<47 - 1<<12
	maxPiece     = 16 << 20 // of a read
	maxBlob      = 16 << 20
	walkBudget   = 1 << 20 // words that one walk may look at, where a read costs as 64 and more
	minBlob      = 32
	maxFrame     = 1 << 16 // words
	maxScopes    = 200     // that are inlined into each other
	maxHops      = 64      // in the segment map
	maxHeaps     = 16
	maxThreads   = 1 << 16
	maxSymbol    = 1 << 16
	maxFrames    = 4096
	maxNative    = 200
	maxPlaces    = 1 << 18
	maxMethods   = 1 << 17
	maxKept      = 32 << 20 // bytes of code and debug info
	maxStack     = 1 << 30
	maxLineTable = 1 << 20
)
