package verify

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// An escape walks from a handler that covers super() or this(), to see that
// each path ends by a throw: an object whose constructor failed must not get
// out. HotSpot walks over the bytes, not along values, and stops at the first
// return without a value; what looks endless to it passes.
type escape struct {
	c        *checker
	paths    []int // offsets to go on from
	handlers []int // then these
	seen     map[int]bool
	met      map[int]bool // handlers that were in handlers
}

// escapes reports whether a handler that covers the instruction may return.
func (c *checker) escapes() bool {
	for i := range c.code.Handlers {
		h := &c.code.Handlers[i]
		if c.in.Offset >= int(h.Start) && c.in.Offset < int(h.End) && !c.endsInThrow(int(h.Handler)) {
			return true
		}
	}
	return false
}

// endsInThrow reports whether all paths from an offset throw or go round for
// ever.
func (c *checker) endsInThrow(at int) bool {
	e := escape{c: c, seen: map[int]bool{}, met: map[int]bool{}}
	for {
		if c.work += 1 + len(c.code.Handlers); c.work > maxWork {
			c.failWith(errWork)
			return false
		}
		in, err := classfile.Decode(c.code.Bytecode, at)
		if err != nil { // the end, or a branch into an instruction, which is refused anyway
			return false
		}
		e.cover(at)
		next, goesOn := e.step(&in)
		if next >= 0 {
			at = next
			continue
		}
		if !goesOn {
			return false
		}
		if at = e.pop(); at < 0 {
			return true
		}
	}
}

// cover notes the handlers that an instruction can get to.
func (e *escape) cover(at int) {
	for i := range e.c.code.Handlers {
		h := &e.c.code.Handlers[i]
		if at >= int(h.Start) && at < int(h.End) && !e.met[int(h.Handler)] {
			e.met[int(h.Handler)] = true
			e.handlers = append(e.handlers, int(h.Handler))
		}
	}
}

// pop returns an offset to go on from, -1 if there is none left.
func (e *escape) pop() int {
	from := &e.paths
	if len(*from) == 0 {
		from = &e.handlers
	}
	n := len(*from) - 1
	if n < 0 {
		return -1
	}
	at := (*from)[n]
	*from = (*from)[:n]
	return at
}

// step returns where to go on, -1 to take another path; ok is false if the
// object can get out.
func (e *escape) step(in *classfile.Instr) (next int, ok bool) {
	n, after := len(e.c.code.Bytecode), in.Offset+in.Size
	flow := in.Op.Info().Flow
	switch {
	case flow == classfile.FlowBranch || flow == classfile.FlowJump:
		target := in.Target()
		if e.seen[in.Offset] {
			return -1, true
		}
		if target < 0 || target >= n {
			return -1, false
		}
		e.seen[in.Offset] = true
		switch {
		case flow == classfile.FlowJump:
		case target > in.Offset:
			e.paths = append(e.paths, target)
			return after, true
		default:
			e.paths = append(e.paths, after)
		}
		return target, true
	case flow == classfile.FlowSwitch:
		sw, fine := in.Switch(e.c.code.Bytecode)
		if !fine || e.seen[in.Offset] {
			return -1, true
		}
		e.seen[in.Offset] = true
		e.paths = append(e.paths, after)
		for i := range sw.Count {
			target := in.Offset + int(sw.Offset(i))
			if target < 0 || target > n {
				return -1, false
			}
			e.paths = append(e.paths, target)
		}
		return in.Offset + int(sw.Default), true
	case in.Op == classfile.OpReturn:
		return -1, false
	case in.Op == classfile.OpAthrow:
		return -1, true
	}
	return after, true
}
