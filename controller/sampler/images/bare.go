package images

import (
	"debug/elf"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/sampler/cfi"
	"github.com/rivulet-profiler/rivulet/controller/sampler/unwinder"
)

const (
	fewEntries  = 64       // a C library's table with fewer is as good as none
	bareWords   = 128      // how far from the stack pointer the caller of such a library is looked for
	mostBetween = 64 << 10 // bytes between two frames
)

// bare reports whether the file is a C library without tables that tell how to leave its frames. musl is, on
// Alpine Linux and elsewhere.
func (f *file) bare() bool {
	if !f.looked && f.elf != nil {
		f.looked = true
		if f.table == nil || f.table.Len() < fewEntries {
			all, err := f.elf.DynamicSymbols()
			f.isBare = err == nil && slices.ContainsFunc(all, func(s elf.Symbol) bool { return s.Name == "pthread_create" && s.Value != 0 })
		}
	}
	return f.isBare
}

// exports reports whether an address is in a function that other libraries see.
func (f *file) exports(at uint64) bool {
	if f.exported == nil {
		f.exported = append([]symbol{}, dynamic(f.elf)...)
		slices.SortStableFunc(f.exported, func(a, b symbol) int { return byAddress(a, b.at) })
	}
	i, found := slices.BinarySearchFunc(f.exported, at, byAddress)
	if !found {
		i--
	}
	return i >= 0 && at < f.exported[i].at+f.exported[i].size
}

// leaveBare leaves code that no table tells of. In a C library without tables the caller is where the first return
// address on the stack leads to that has some. Its functions that call a thread's first function are the only ones
// that call others without being seen by other libraries: there the stack ends. Elsewhere it is a function
// in assembly that calls nothing, such as HotSpot's SpinPause: where it returns to is on top of the stack.
func (m *Images) leaveBare(pc, sp, fp uint64, first bool, word func(uint64) (uint64, bool)) (s unwinder.NativeStep, ok bool) {
	g := m.mapping(pc)
	if g == nil || !m.open(g).amd64 {
		return s, false
	}
	words := uint64(1)
	switch bare := m.open(g).bare(); {
	case bare && !first && !g.file.exports(pc-1-g.bias):
		return unwinder.NativeStep{End: true}, true
	case bare:
		words = bareWords
	case !first:
		return s, false
	}
	for i := range words {
		slot := sp + 8*i
		ret, ok := word(slot)
		if !ok {
			return s, false
		}
		r := m.caller(ret)
		if !r.ok || r.End {
			continue
		}
		s = unwinder.NativeStep{PC: ret, SP: slot + 8, FP: fp, Guess: true}
		for below := slot; r.Base == cfi.FP && below >= sp; below -= 8 { // the library may have saved the frame pointer, last before its other registers
			v := s.FP
			if below < slot {
				v, _ = word(below)
			}
			if frame := v + uint64(r.Offset); frame > slot+8 && frame-slot < mostBetween && frame%8 == 0 {
				if ret, ok := word(frame - 8); ok && m.caller(ret).ok {
					s.FP = v
					break
				}
			}
		}
		return s, true
	}
	return s, false
}

// caller is the rule for what a return address leads to, if that is one: it stands behind a call.
func (m *Images) caller(ret uint64) rule {
	const longest = 7 // bytes of a call
	var p [longest]byte
	if ret < longest || m.knownMapping(ret-1) == nil || m.mem.Read(p[:], ret-longest) != nil || !unwinder.BehindCall(p[:]) {
		return rule{}
	}
	return m.rule(ret - 1)
}
