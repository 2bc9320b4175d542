// Package cfi decodes what ELF files say about their frames on x86-64 for unwinding
// (.eh_frame_hdr and .eh_frame: Linux Standard Base 5.0, 10.6, and DWARF 5, section 6.4): for
// a place in the code, where its caller goes on. It keeps to what compilers write for code
// with fixed frames: the frame's address is the stack or the frame pointer plus a number,
// the return address is just below it, and the frame pointer is saved at a fixed place. For
// anything else it says that it doesn't know.
//
// It is pure, reads nothing but the bytes it is given, and stands bytes that make no sense.
// A [Table] does not change and is safe for concurrent use.
package cfi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
)

// ErrUnknown reports tables, or a place in the code, that this package can't say anything
// about.
var ErrUnknown = errors.New("no usable frame information")

// Registers, as DWARF numbers them on x86-64.
const (
	FP     = 6  // rbp
	SP     = 7  // rsp
	Return = 16 // the return address
)

// A Rule says how to leave a frame.
type Rule struct {
	Base   uint8 // FP or SP
	Offset int64 // of the frame's address from Base; the return address is 8 below it
	Saved  bool  // the frame pointer was saved
	FP     int64 // where, from the frame's address
	PLT    bool  // of a .plt: 8 more where the last 4 bits of the pc are 11 or above
	End    bool  // there is no caller
}

// A Table is what one ELF file has. Addresses are those in the file.
type Table struct {
	index   []byte // pairs of location and entry, in order, relative to indexAt
	indexAt uint64
	frames  []byte // .eh_frame
	at      uint64 // its address
}

const (
	headVersion = 1
	encCount    = 0x03 // u4
	encTable    = 0x3B // signed 4 bytes, relative to the section
	maxProgram  = 1 << 16
	maxStates   = 32
)

// New makes a table of the two sections and their addresses. It wraps [ErrUnknown] if the
// index is of another form than linkers write.
func New(hdr []byte, hdrAt uint64, frames []byte, framesAt uint64) (*Table, error) {
	if len(hdr) < 12 || hdr[0] != headVersion || hdr[2] != encCount || hdr[3] != encTable {
		return nil, fmt.Errorf("index: %w", ErrUnknown)
	}
	skip := 4
	switch hdr[1] & 0x0F { // the address of .eh_frame, which the caller knows
	case 0x03, 0x0B:
		skip += 4
	case 0x04, 0x0C, 0x00:
		skip += 8
	default:
		return nil, fmt.Errorf("index: %w", ErrUnknown)
	}
	if len(hdr) < skip+4 {
		return nil, fmt.Errorf("index: %w", ErrUnknown)
	}
	n := uint64(binary.LittleEndian.Uint32(hdr[skip:]))
	if rest := hdr[skip+4:]; n <= uint64(len(rest))/8 {
		return &Table{rest[:n*8], hdrAt, frames, framesAt}, nil
	}
	return nil, fmt.Errorf("index: %w", ErrUnknown)
}

// Len returns for how many functions it has rules.
func (t *Table) Len() int { return len(t.index) / 8 }

// Find returns the rule for an address. The error wraps [ErrUnknown] where there is
// none, or one beyond what the package knows.
func (t *Table) Find(pc uint64) (Rule, error) {
	entry := func(i int) (location, at uint64) {
		p := t.index[8*i:]
		return t.indexAt + uint64(int64(int32(binary.LittleEndian.Uint32(p)))), t.indexAt + uint64(int64(int32(binary.LittleEndian.Uint32(p[4:]))))
	}
	i := sort.Search(len(t.index)/8, func(i int) bool { l, _ := entry(i); return l > pc })
	if i == 0 {
		return Rule{}, ErrUnknown
	}
	_, at := entry(i - 1)
	f, err := t.entry(at)
	if err != nil {
		return Rule{}, err
	}
	if pc < f.begin || pc-f.begin >= f.size {
		return Rule{}, ErrUnknown
	}
	m := machine{cie: &f.cie, pc: pc, at: f.begin}
	if !m.run(f.cie.program) {
		return Rule{}, ErrUnknown
	}
	m.initial = m.state
	m.past = false
	if !m.run(f.program) {
		return Rule{}, ErrUnknown
	}
	return m.rule()
}

// A cie is what entries have in common.
type cie struct {
	code      uint64
	data      int64
	encoding  byte // of addresses
	augmented bool
	signal    bool
	program   []byte
}

// An fde is the entry of one function.
type fde struct {
	cie
	begin, size uint64
	program     []byte
}

// record returns the body of the record at an address, with that of its end.
func (t *Table) record(at uint64) (r reader, err error) {
	if at < t.at || at-t.at >= uint64(len(t.frames)) {
		return r, ErrUnknown
	}
	r = reader{p: t.frames[at-t.at:], at: at}
	n := uint64(r.u32())
	if n == 0xFFFFFFFF {
		n = r.u64()
	}
	if r.bad || n > uint64(len(r.p)) || n < 4 {
		return r, ErrUnknown
	}
	r.p = r.p[:n]
	return r, nil
}

func (t *Table) entry(at uint64) (*fde, error) {
	r, err := t.record(at)
	if err != nil {
		return nil, err
	}
	here := r.at
	back := uint64(r.u32())
	if back == 0 || back > here {
		return nil, ErrUnknown
	}
	f := &fde{}
	if f.cie, err = t.common(here - back); err != nil {
		return nil, err
	}
	f.begin = r.encoded(f.encoding)
	f.size = r.encoded(f.encoding & 0x0F)
	if f.augmented {
		r.skip(r.uleb())
	}
	if r.bad {
		return nil, ErrUnknown
	}
	f.program = r.p
	return f, nil
}

func (t *Table) common(at uint64) (c cie, err error) {
	r, err := t.record(at)
	if err != nil {
		return c, err
	}
	if r.u32() != 0 {
		return c, ErrUnknown
	}
	version := r.u8()
	augmentation := r.text()
	c.code, c.data = r.uleb(), r.sleb()
	ret := uint64(0)
	if version == 1 {
		ret = uint64(r.u8())
	} else {
		ret = r.uleb()
	}
	if ret != Return || r.bad || version != 1 && version != 3 {
		return c, ErrUnknown
	}
	for i, a := range augmentation {
		switch {
		case i == 0 && a == 'z':
			c.augmented = true
			if n := r.uleb(); n > uint64(len(r.p)) {
				return c, ErrUnknown
			}
		case a == 'R':
			c.encoding = r.u8()
		case a == 'L':
			r.u8()
		case a == 'P':
			r.encoded(r.u8())
		case a == 'S':
			c.signal = true
		default:
			return c, ErrUnknown
		}
	}
	if r.bad {
		return c, ErrUnknown
	}
	c.program = r.p
	return c, nil
}
