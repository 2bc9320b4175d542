package probe

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// thisState says whether super() or this() was called before an instruction.
type thisState uint8

const (
	thisUnseen thisState = iota // not reached
	thisBefore
	thisAfter
	thisMixed // both, by different paths
)

// ctorFlow finds out by data flow which instructions of a constructor run
// before super() or this() and which run after it. It follows the values that
// are the uninitialized this through the stack and the locals; all else is
// "something". Its memory serves one constructor after the other.
type ctorFlow struct {
	layout *layout
	code   *classfile.Code
	pool   *classfile.Pool

	state  []thisState        // by offset, at the start of the instruction
	joins  map[int]ctorValues // values at targets and handlers reached before super()
	work   []int              // targets and handlers to follow again
	now    ctorValues         // values at the instruction being followed
	always []bool             // locals that hold this at every instruction before super()
	budget int
}

// ctorValues says which stack words and locals are the uninitialized this.
type ctorValues struct{ stack, locals []bool }

func (v ctorValues) clone() ctorValues {
	return ctorValues{append([]bool(nil), v.stack...), append([]bool(nil), v.locals...)}
}

// ctorBudget bounds the work on one constructor: handlers looked at and values
// copied. Real ones take less than a thousandth.
const ctorBudget = 1 << 26

// catches returns the catch-alls of a constructor: one for what runs before
// super(), if anything does, and one for what runs after it. Both leave out
// the call itself, returns, and code that is never reached.
func (f *ctorFlow) catches(l *layout, code *classfile.Code, m *classfile.Member, p *classfile.Pool, maps bool) ([]catch, error) {
	f.layout, f.code, f.pool = l, code, p
	if err := f.run(); err != nil {
		return nil, err
	}
	before, after := catch{this: -1}, catch{this: -1}
	n := len(code.Bytecode)
	var open *catch
	for at := 0; at <= n; at++ {
		if at < n && l.marks[at]&markStart == 0 {
			continue
		}
		var in *catch
		if at < n && l.marks[at]&(markSuper|markReturn) == 0 {
			switch f.state[at] {
			case thisBefore:
				in = &before
			case thisMixed:
				if maps {
					return nil, reasonThisMixed
				}
				in = &after
			case thisAfter:
				in = &after
			}
		}
		if in != open {
			if open != nil {
				open.ranges[len(open.ranges)-1].end = at
			}
			if in != nil {
				in.ranges = append(in.ranges, span{start: at})
			}
			open = in
		}
	}
	var cs []catch
	if len(before.ranges) > 0 {
		for slot, ok := range f.always {
			if ok {
				before.this = slot
				break
			}
		}
		if before.this < 0 && maps {
			return nil, reasonThisLost
		}
		cs = append(cs, before)
	}
	if len(after.ranges) > 0 {
		cs = append(cs, after)
	}
	return cs, nil
}

// run follows all paths.
func (f *ctorFlow) run() error {
	n := len(f.code.Bytecode)
	f.state = append(f.state[:0], make([]thisState, n)...)
	if f.joins == nil {
		f.joins = map[int]ctorValues{}
	}
	clear(f.joins)
	f.budget = ctorBudget
	f.work = f.work[:0]
	if f.code.MaxLocals == 0 {
		return malformed("constructor without a local for this")
	}
	f.now = ctorValues{f.now.stack[:0], zeroedBools(f.now.locals, int(f.code.MaxLocals))}
	f.now.locals[0] = true
	f.always = append(f.always[:0], f.now.locals...)
	if err := f.join(0, thisBefore, f.now); err != nil {
		return err
	}
	for len(f.work) > 0 {
		at := f.work[len(f.work)-1]
		f.work = f.work[:len(f.work)-1]
		if f.state[at] == thisBefore {
			v := f.joins[at]
			f.now.stack = append(f.now.stack[:0], v.stack...)
			f.now.locals = append(f.now.locals[:0], v.locals...)
		}
		if err := f.walk(at, f.state[at]); err != nil {
			return err
		}
	}
	return nil
}

// walk follows instructions from an offset until the path ends or comes to
// something known.
func (f *ctorFlow) walk(at int, st thisState) error {
	first := true
	for {
		if at >= len(f.code.Bytecode) {
			return malformed("control falls off the end of the code")
		}
		if f.layout.marks[at]&(markTarget|markHandler) != 0 && !first {
			return f.join(at, st, f.now)
		}
		first = false
		f.state[at] = max(f.state[at], st)
		in, err := classfile.Decode(f.code.Bytecode, at)
		if err != nil {
			return err
		}
		if st == thisBefore {
			f.keepAlways()
		}
		if err := f.throwTo(at, st); err != nil {
			return err
		}
		if st == thisBefore {
			called, err := f.step(&in)
			if err != nil {
				return err
			}
			if called {
				f.layout.marks[at] |= markSuper
				st = thisAfter
			}
		}
		if next, err := f.follow(&in, st); err != nil || !next {
			return err
		}
		at += in.Size
	}
}

// keepAlways drops the locals that are not this here.
func (f *ctorFlow) keepAlways() {
	f.budget -= len(f.always) / 64
	for i, ok := range f.now.locals {
		f.always[i] = f.always[i] && ok
	}
}

// throwTo takes the state to the handlers that cover an instruction.
func (f *ctorFlow) throwTo(at int, st thisState) error {
	f.budget -= len(f.code.Handlers)
	for _, h := range f.code.Handlers {
		if at < int(h.Start) || at >= int(h.End) {
			continue
		}
		if err := f.join(int(h.Handler), st, ctorValues{[]bool{false}, f.now.locals}); err != nil {
			return err
		}
	}
	return nil
}

// follow takes the state to where the instruction branches and reports whether
// control also goes on behind it.
func (f *ctorFlow) follow(in *classfile.Instr, st thisState) (bool, error) {
	flow := in.Op.Info().Flow
	switch flow {
	case classfile.FlowBranch, classfile.FlowJump:
		if err := f.join(in.Target(), st, f.now); err != nil {
			return false, err
		}
	case classfile.FlowSwitch:
		sw, _ := in.Switch(f.code.Bytecode)
		if err := f.join(in.Offset+int(sw.Default), st, f.now); err != nil {
			return false, err
		}
		for i := range sw.Count {
			if err := f.join(in.Offset+int(sw.Offset(i)), st, f.now); err != nil {
				return false, err
			}
		}
	}
	return flow == classfile.FlowNext || flow == classfile.FlowBranch, nil
}

// join merges what comes to a target or handler with what is known there, and
// puts it on the list if that changed.
func (f *ctorFlow) join(at int, st thisState, v ctorValues) error {
	was := f.state[at]
	if st != thisBefore {
		v = ctorValues{}
	}
	f.budget -= len(v.stack) + len(v.locals) + 1
	if f.budget < 0 {
		return reasonComplex
	}
	switch {
	case was == thisUnseen:
		f.state[at] = st
		if st == thisBefore {
			f.joins[at] = v.clone()
		}
	case was != st && was != thisMixed:
		f.state[at] = thisMixed
	case was != st || st != thisBefore:
		return nil
	default:
		changed, err := f.joins[at].meet(v)
		if err != nil || !changed {
			return err
		}
	}
	f.work = append(f.work, at)
	return nil
}

// meet keeps in v what is this in w too and reports whether v changed.
func (v ctorValues) meet(w ctorValues) (bool, error) {
	if len(v.stack) != len(w.stack) {
		return false, malformed("stack depths differ where paths meet")
	}
	changed := false
	for i := range v.stack {
		changed = changed || v.stack[i] && !w.stack[i]
		v.stack[i] = v.stack[i] && w.stack[i]
	}
	for i := range v.locals {
		changed = changed || v.locals[i] && !w.locals[i]
		v.locals[i] = v.locals[i] && w.locals[i]
	}
	return changed, nil
}

func zeroedBools(s []bool, n int) []bool {
	return append(s[:0], make([]bool, n)...)
}
