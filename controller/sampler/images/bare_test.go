package images

import (
	"encoding/binary"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/sampler/cfi"
	"github.com/rivulet-profiler/rivulet/controller/sampler/unwinder"
)

// code is memory of which every word stands behind a call, but at plain.
type code struct{ plain uint64 }

func (c code) Read(p []byte, at uint64) error {
	clear(p)
	if at+uint64(len(p)) != c.plain {
		p[len(p)-5] = 0xE8
	}
	return nil
}

// TestBare leaves a C library without tables, and code in assembly: the frames are those that the words of
// a stack say.
func TestBare(t *testing.T) {
	const libc, jvm, arm, stack, limit = 0x10000, 0x20000, 0x30000, 0x7000, 0x7000 + 8*8
	const inside, caller, byFrame, plain, outer = libc + 0x100, jvm + 0x100, jvm + 0x200, jvm + 0x300, jvm + 0x400
	m := New(0, code{plain})
	m.maps = []mapping{
		{begin: libc, end: libc + 0x1000, bias: libc, file: &file{amd64: true, looked: true, isBare: true, exported: []symbol{{0x80, 0x40, "qsort"}}}},
		{begin: jvm, end: jvm + 0x1000, bias: jvm, file: &file{amd64: true, looked: true}},
		{begin: arm, end: arm + 0x1000, bias: arm, file: &file{looked: true, isBare: true}},
	}
	m.now = 10 * rereadAfter
	bySP, byFP := cfi.Rule{Base: cfi.SP, Offset: 16}, cfi.Rule{Base: cfi.FP, Offset: 16}
	for at, r := range map[uint64]rule{caller - 1: {bySP, true}, byFrame - 1: {byFP, true}, plain - 1: {bySP, true}, outer - 1: {bySP, true}} {
		m.rules[at] = r
	}
	const lost, saved = 0x1234, stack + 4*8 // what is in the frame pointer, and the caller's
	for _, c := range []struct {
		name  string
		pc    uint64
		first bool
		words [8]uint64
		want  unwinder.NativeStep
		ok    bool
	}{
		{
			"top of the library", libc + 0x10, true,
			[8]uint64{5, inside, plain, caller},
			unwinder.NativeStep{PC: caller, SP: stack + 4*8, FP: lost, Guess: true},
			true,
		},
		{
			"its caller has a frame pointer, which it saved", libc + 0x10, true,
			[8]uint64{saved, 5, inside, byFrame, 0, outer},
			unwinder.NativeStep{PC: byFrame, SP: stack + 4*8, FP: saved, Guess: true},
			true,
		},
		{
			"its caller has one, which is not found", libc + 0x10, true,
			[8]uint64{5, 5, inside, byFrame},
			unwinder.NativeStep{PC: byFrame, SP: stack + 4*8, FP: lost, Guess: true},
			true,
		},
		{
			"a function that others see calls back", libc + 0x90, false,
			[8]uint64{5, caller},
			unwinder.NativeStep{PC: caller, SP: stack + 2*8, FP: lost, Guess: true},
			true,
		},
		{"the thread's beginning", libc + 0x200, false, [8]uint64{5, caller}, unwinder.NativeStep{End: true}, true},
		{"nobody called the library", libc + 0x10, true, [8]uint64{5, inside, plain}, unwinder.NativeStep{}, false},
		{"assembly", jvm + 0x10, true, [8]uint64{caller}, unwinder.NativeStep{PC: caller, SP: stack + 8, FP: lost, Guess: true}, true},
		{"assembly with a frame", jvm + 0x10, true, [8]uint64{5, caller}, unwinder.NativeStep{}, false},
		{"another processor's code", arm + 0x10, true, [8]uint64{caller}, unwinder.NativeStep{}, false},
		{"the beginning of another processor's thread", arm + 0x10, false, [8]uint64{caller}, unwinder.NativeStep{}, false},
		{"assembly that calls", jvm + 0x10, false, [8]uint64{caller}, unwinder.NativeStep{}, false},
	} {
		word := func(at uint64) (uint64, bool) {
			if at < stack || at >= limit || at%8 != 0 {
				return 0, false
			}
			return c.words[(at-stack)/8], true
		}
		s, ok := m.Step(c.pc, stack, lost, c.first, word)
		if s != c.want || ok != c.ok {
			t.Errorf("%s: %+v, %v; want %+v, %v", c.name, s, ok, c.want, c.ok)
		}
	}
	if m.read != -rereadAfter {
		t.Error("a word that is no address had the mappings read again")
	}
}

// FuzzBare: whatever is on the stack, a step goes up.
func FuzzBare(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x00\x00\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x00"), uint64(0x7010), uint64(0x10010), true)
	const libc, jvm, sp = 0x10000, 0x20000, 0x7000
	m := New(0, code{})
	m.maps = []mapping{
		{begin: libc, end: libc + 0x1000, bias: libc, file: &file{amd64: true, looked: true, isBare: true, exported: []symbol{{0x80, 0x40, "qsort"}}}},
		{begin: jvm, end: jvm + 0x1000, bias: jvm, file: &file{amd64: true, looked: true}},
	}
	for at := uint64(jvm); at < jvm+0x800; at++ {
		m.rules[at] = rule{cfi.Rule{Base: cfi.FP, Offset: 16}, true}
	}
	f.Fuzz(func(t *testing.T, stack []byte, fp, pc uint64, first bool) {
		s, ok := m.leaveBare(pc, sp, fp, first, func(at uint64) (uint64, bool) {
			if at < sp || at-sp+8 > uint64(len(stack)) {
				return 0, false
			}
			return binary.LittleEndian.Uint64(stack[at-sp:]), true
		})
		if ok && !s.End && (s.SP <= sp || !s.Guess) {
			t.Errorf("%+v", s)
		}
	})
}
