package cfi

import (
	"encoding/binary"
	"errors"
	"testing"
)

const (
	framesAt = 0x2000
	hdrAt    = 0x1000
)

// table makes the two sections for one function of 0x100 bytes at 0x5000, whose program is
// given, with the CIE that GCC writes: the frame's address is rsp + 8, the return address
// below it.
func table(program []byte) (hdr, frames []byte) {
	pad := func(p []byte) []byte {
		for len(p)%8 != 4 {
			p = append(p, 0)
		}
		return p
	}
	le := binary.LittleEndian
	cie := []byte{0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1B, 0x0C, 7, 8, 0x90, 1}
	cie = pad(cie)
	frames = append(le.AppendUint32(nil, uint32(len(cie))), cie...)
	fdeAt := len(frames)
	body := le.AppendUint32(nil, uint32(fdeAt+4)) // back to the CIE
	at := framesAt + fdeAt + 8
	body = le.AppendUint32(body, uint32(int32(0x5000-at)))
	body = le.AppendUint32(body, 0x100)
	body = append(body, 0)
	body = pad(append(body, program...))
	frames = append(le.AppendUint32(frames, uint32(len(body))), body...)
	hdr = []byte{1, 0x1B, 0x03, 0x3B}
	hdr = le.AppendUint32(hdr, uint32(int32(framesAt-(hdrAt+4))))
	hdr = le.AppendUint32(hdr, 1)
	hdr = le.AppendUint32(hdr, uint32(int32(0x5000-hdrAt)))
	hdr = le.AppendUint32(hdr, uint32(int32(framesAt+fdeAt-hdrAt)))
	return hdr, frames
}

// usual is what GCC writes for push rbp; mov rbp, rsp; ...; leave; ret.
var usual = []byte{
	0x41, 0x0E, 16, 0x86, 2, // 1 byte on: rsp + 16; rbp is at -16
	0x43, 0x0D, 6, // 3 on: rbp + 16
	0x02, 0x80, 0x0C, 7, 8, 0xC6, // 128 on: rsp + 8; rbp as at first
}

// TestFind follows a function through its prologue and epilogue.
func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		program []byte
		pc      uint64
		want    Rule
		unknown bool
	}{
		"entry":           {usual, 0x5000, Rule{Base: SP, Offset: 8}, false},
		"pushed":          {usual, 0x5001, Rule{Base: SP, Offset: 16, Saved: true, FP: -16}, false},
		"body":            {usual, 0x5004, Rule{Base: FP, Offset: 16, Saved: true, FP: -16}, false},
		"before the end":  {usual, 0x5083, Rule{Base: FP, Offset: 16, Saved: true, FP: -16}, false},
		"end":             {usual, 0x5084, Rule{Base: SP, Offset: 8}, false},
		"before it":       {usual, 0x4FFF, Rule{}, true},
		"behind it":       {usual, 0x5100, Rule{}, true},
		"first of all":    {[]byte{0x07, 16}, 0x5000, Rule{End: true}, false},
		"plt":             {append([]byte{0x0F, byte(len(pltExpression))}, pltExpression...), 0x5000, Rule{Base: SP, Offset: 8, PLT: true}, false},
		"expression":      {[]byte{0x0F, 2, 0x77, 0x08}, 0x5000, Rule{}, true},
		"other register":  {[]byte{0x0C, 10, 0}, 0x5000, Rule{}, true},
		"rbp by a rule":   {[]byte{0x10, 6, 2, 0x76, 0}, 0x5000, Rule{}, true},
		"remembers":       {[]byte{0x0A, 0x0E, 32, 0x0B}, 0x5000, Rule{Base: SP, Offset: 8}, false},
		"has nothing":     {[]byte{0x0B}, 0x5000, Rule{}, true},
		"no instruction":  {[]byte{0x3F}, 0x5000, Rule{}, true},
		"a long way":      {[]byte{0x0E, 0xFF, 0x01}, 0x5000, Rule{Base: SP, Offset: 255}, false},
		"in both factors": {[]byte{0x12, 7, 0x7D, 0x13, 0x7C}, 0x5000, Rule{Base: SP, Offset: 32}, false},
	} {
		hdr, frames := table(c.program)
		tab, err := New(hdr, hdrAt, frames, framesAt)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tab.Find(c.pc)
		if got != c.want || c.unknown != errors.Is(err, ErrUnknown) || !c.unknown && err != nil {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, c.want)
		}
	}
}

// TestNew takes no index that it can't search.
func TestNew(t *testing.T) {
	hdr, frames := table(usual)
	for i, b := range map[int]byte{0: 2, 1: 0xFF, 2: 0x0B, 3: 0x1B, 8: 200} {
		other := append([]byte(nil), hdr...)
		other[i] = b
		if _, err := New(other, hdrAt, frames, framesAt); !errors.Is(err, ErrUnknown) {
			t.Errorf("byte %d: %v", i, err)
		}
	}
	for n := range hdr {
		if _, err := New(hdr[:n], hdrAt, frames, framesAt); !errors.Is(err, ErrUnknown) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// FuzzFind searches tables that make no sense.
func FuzzFind(f *testing.F) {
	hdr, frames := table(usual)
	f.Add(hdr, frames, uint64(0x5004))
	f.Add(hdr, frames[:30], uint64(0x5000))
	f.Fuzz(func(t *testing.T, hdr, frames []byte, pc uint64) {
		tab, err := New(hdr, hdrAt, frames, framesAt)
		if err != nil {
			return
		}
		if r, err := tab.Find(pc); err == nil && !r.End && r.Base != FP && r.Base != SP {
			t.Errorf("%+v", r)
		}
	})
}
