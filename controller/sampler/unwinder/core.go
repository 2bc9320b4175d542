package unwinder

import (
	"errors"

	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// A Core is all that one walk needs, so that it can be done again without the JVM: for
// tests, and for a report of a fault. It has parts of the target's stack and code.
type Core struct {
	Layout    Layout
	Registers Registers
	Dump      []byte
	Thread    Thread
	Anchor    bool    // it is of a thread that waits: [Unwinder.WalkAnchor]
	Base      uint64  // then the address of Dump
	Memory    []Piece // what was read
	Steps     []Step  // how native code was left
}

// A Piece is what lies at an address; nothing can be read there if it is empty.
type Piece struct {
	At    uint64
	Bytes []byte
	Size  int // that was asked for
}

// A Step is what [Native] said of one frame.
type Step struct {
	PC, SP, FP uint64
	First      bool
	To         NativeStep
	OK         bool
}

// Record walks as [Unwinder.Walk] does with a fresh unwinder, and returns what it needed, in
// Memory and Steps of a copy of c.
func Record(c Core, mem Memory, native Native) (*Walk, *Core) {
	c.Memory, c.Steps = nil, nil
	out := &c
	w := out.walk(&recorder{mem, out}, &steps{native, out})
	return w, out
}

// Walk walks a core again.
func (c *Core) Walk() *Walk {
	pieces := make(map[uint64][]Piece, len(c.Memory))
	for _, p := range c.Memory {
		pieces[p.At] = append(pieces[p.At], p)
	}
	return c.walk(replay(pieces), &steps{nil, c})
}

func (c *Core) walk(mem Memory, native Native) *Walk {
	u := New(&c.Layout, mem, native, false)
	if c.Anchor {
		return u.WalkAnchor(c.Registers, c.Dump, c.Base, c.Thread)
	}
	return u.Walk(c.Registers, c.Dump, c.Thread)
}

// A recorder keeps what is read of another memory.
type recorder struct {
	from Memory
	core *Core
}

func (r *recorder) Read(p []byte, at uint64) error {
	err := r.from.Read(p, at)
	r.keep(p, at, err == nil)
	return err
}

func (r *recorder) ReadMany(spans []vmstructs.Span) error {
	err := r.from.ReadMany(spans)
	for _, s := range spans {
		r.keep(s.P, s.At, s.OK && err == nil)
	}
	return err
}

func (r *recorder) keep(p []byte, at uint64, ok bool) {
	k := Piece{At: at, Size: len(p)}
	if ok {
		k.Bytes = append([]byte(nil), p...)
	}
	r.core.Memory = append(r.core.Memory, k)
}

// A replay is the memory of a core, by address.
type replay map[uint64][]Piece

var errNotThere = errors.New("not in this core")

func (r replay) Read(p []byte, at uint64) error {
	for _, k := range r[at] {
		if k.Size == len(p) && len(k.Bytes) == len(p) {
			copy(p, k.Bytes)
			return nil
		}
	}
	for from, pieces := range r { // a part of what was read
		for _, k := range pieces {
			if from <= at && at-from+uint64(len(p)) <= uint64(len(k.Bytes)) {
				copy(p, k.Bytes[at-from:])
				return nil
			}
		}
	}
	return errNotThere
}

func (r replay) ReadMany(spans []vmstructs.Span) error {
	for i := range spans {
		spans[i].OK = r.Read(spans[i].P, spans[i].At) == nil
	}
	return nil
}

// steps are those of a core, or are added to one.
type steps struct {
	from Native
	core *Core
}

func (s *steps) Step(pc, sp, fp uint64, first bool, word func(uint64) (uint64, bool)) (NativeStep, bool) {
	if s.from == nil {
		for _, k := range s.core.Steps {
			if k.PC == pc && k.SP == sp && k.FP == fp && k.First == first {
				return k.To, k.OK
			}
		}
		return NativeStep{}, false
	}
	to, ok := s.from.Step(pc, sp, fp, first, word)
	s.core.Steps = append(s.core.Steps, Step{pc, sp, fp, first, to, ok})
	return to, ok
}

func (s *steps) Name(uint64) string { return "" }
