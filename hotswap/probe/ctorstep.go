package probe

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// shuffles holds the instructions that move stack words about: how many words
// they take, and which of these, counted from the deepest, they put.
var shuffles = map[classfile.Op]struct {
	take int
	put  []int
}{
	classfile.OpDup:    {1, []int{0, 0}},
	classfile.OpDupX1:  {2, []int{1, 0, 1}},
	classfile.OpDupX2:  {3, []int{2, 0, 1, 2}},
	classfile.OpDup2:   {2, []int{0, 1, 0, 1}},
	classfile.OpDup2X1: {3, []int{1, 2, 0, 1, 2}},
	classfile.OpDup2X2: {4, []int{2, 3, 0, 1, 2, 3}},
	classfile.OpSwap:   {2, []int{1, 0}},
}

// step applies an instruction to the values and reports whether it was the
// call of super() or this().
func (f *ctorFlow) step(in *classfile.Instr) (called bool, err error) {
	v := &f.now
	if sh, ok := shuffles[in.Op]; ok {
		at := len(v.stack) - sh.take
		if at < 0 {
			return false, errUnderflow
		}
		words := [4]bool{}
		copy(words[:], v.stack[at:])
		v.stack = v.stack[:at]
		for _, i := range sh.put {
			v.stack = append(v.stack, words[i])
		}
		return false, nil
	}
	pop, push, err := f.pool.StackEffect(in)
	if err != nil {
		return false, err
	}
	at := len(v.stack) - pop
	if at < 0 {
		return false, errUnderflow
	}
	first := pop > 0 && v.stack[at] // the deepest word taken: the receiver of a call
	v.stack = append(v.stack[:at], make([]bool, push)...)
	if slot, ok := in.Local(); ok {
		return false, f.local(in, slot, pop, first)
	}
	if in.Op == classfile.OpInvokespecial && first {
		ref, err := f.pool.MemberRef(uint16(in.A))
		return err == nil && ref.Name == "<init>", err
	}
	return false, nil
}

const errUnderflow = reason("malformed: operand stack underflow")

// local applies a load or a store of the value first.
func (f *ctorFlow) local(in *classfile.Instr, slot, pop int, first bool) error {
	v := &f.now
	end := slot + max(pop, 1)
	if end > len(v.locals) {
		return malformed("local variable beyond max_locals")
	}
	if pop == 0 { // a load, or iinc
		if n := len(v.stack); n > 0 && in.Op != classfile.OpIinc {
			v.stack[n-1] = v.locals[slot]
		}
		return nil
	}
	clear(v.locals[slot:end])
	v.locals[slot] = first
	return nil
}
