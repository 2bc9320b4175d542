package probe

import (
	"errors"
	"fmt"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// An Around goes around a call instruction: Before finds what the call takes on
// the stack, After what it returns, and both leave it there. If the call ends by
// an exception, After does not run. What StepKeep keeps lies in a local behind
// the fresh one, which no stack map mentions: nothing branches to a place
// between Before and After.
type Around struct{ Before, After Sequence }

// aroundNeeds are the words of stack that the sequences need above what they
// find.
type aroundNeeds struct{ before, after int }

func (in *Injector) measureAround(x *Around, stored *bool) (need aroundNeeds, err error) {
	kept := false
	for i, st := range x.Before {
		switch {
		case st.Kind == StepReceiver && i > 0:
			return need, errors.New("the object that a call is made on, not in the first step")
		case st.Kind == StepKept:
			return need, errors.New("what is kept, before the call")
		}
		kept = kept || st.Kind == StepKeep
	}
	for _, st := range x.After {
		if st.Kind == StepReceiver || st.Kind == StepKeep || st.Kind == StepKept && !kept {
			return need, fmt.Errorf("step kind %d behind the call", st.Kind)
		}
	}
	if need.before, err = in.measure(x.Before, false, true, stored); err == nil {
		need.after, err = in.measure(x.After, false, true, stored)
	}
	return need, err
}

// scratchWords is what the steps of an Around pop and push.
func scratchWords(k StepKind) (pop, push int) {
	switch k {
	case StepReceiver:
		return 0, 1
	case StepKeep:
		return 2, 0
	default:
		return 0, 2
	}
}

// around asks what goes around a call and appends it.
func (r *rewriter) around(a *assembler, pt *Point, sp *spot) (err error) {
	if len(r.program.Arounds) == 0 || r.program.At == nil {
		return nil
	}
	pt.Kind = PointCall
	which, arg := r.program.At(pt)
	if which < 0 || which >= len(r.program.Arounds) {
		return nil
	}
	x, need := &r.program.Arounds[which], r.program.around[which]
	a.arg, a.args = arg, nil
	receiver := len(x.Before) > 0 && x.Before[0].Kind == StepReceiver
	if receiver {
		ref, err := pt.Callee()
		if err != nil {
			return err
		}
		if pt.Instr.Op == classfile.OpInvokestatic || pt.Instr.Op == classfile.OpInvokedynamic || ref.Name == "<init>" {
			return errors.New("a call that is not made on an object")
		}
		if a.args, _, err = classfile.Params(ref.Desc, nil); err != nil {
			return err
		}
	}
	if r.in.points, err = a.sequence(r.in.points, x.Before); err != nil {
		return err
	}
	if receiver {
		r.in.points = a.unspill(r.in.points)
	}
	sp.to = int32(len(r.in.points))
	sp.need = max(sp.need, int32(need.before))
	if len(x.After) > 0 {
		if r.in.points, err = a.sequence(r.in.points, x.After); err != nil {
			return err
		}
		sp.after, sp.needed = int32(len(r.in.points)), int32(need.after)
	}
	if len(r.in.points) > classfile.MaxCode {
		return reasonCodeSize
	}
	return nil
}

// A kindOps are the instructions that move a value between stack and locals.
type kindOps struct {
	load, load0, store, store0 classfile.Op
	words                      int
}

var opsByDescriptor = map[byte]kindOps{
	'J': {classfile.OpLload, classfile.OpLload0, classfile.OpLstore, classfile.OpLstore0, 2},
	'D': {classfile.OpDload, classfile.OpDload0, classfile.OpDstore, classfile.OpDstore0, 2},
	'F': {classfile.OpFload, classfile.OpFload0, classfile.OpFstore, classfile.OpFstore0, 1},
	'L': {classfile.OpAload, classfile.OpAload0, classfile.OpAstore, classfile.OpAstore0, 1},
	'[': {classfile.OpAload, classfile.OpAload0, classfile.OpAstore, classfile.OpAstore0, 1},
	'I': {classfile.OpIload, classfile.OpIload0, classfile.OpIstore, classfile.OpIstore0, 1},
}

// opsOf returns those for a descriptor: byte, short, char and boolean are ints.
func opsOf(desc string) kindOps {
	if ops, ok := opsByDescriptor[desc[0]]; ok {
		return ops
	}
	return opsByDescriptor['I']
}

// behind returns the first local behind the fresh one, and takes note of how
// many words are used there.
func (a *assembler) behind(words int) int {
	a.scratch = max(a.scratch, words)
	return a.behindFresh
}

// argWords is how many words of locals a call's spilled arguments take.
func (a *assembler) argWords() (words int) {
	for _, d := range a.args {
		words += opsOf(d).words
	}
	return words
}

// spill stores a call's arguments, the last one first, and pushes the receiver
// once more.
func (a *assembler) spill(b []byte) []byte {
	at := a.behind(a.argWords()) + a.argWords()
	for i := len(a.args) - 1; i >= 0; i-- {
		ops := opsOf(a.args[i])
		at -= ops.words
		b = localOp(b, at, ops.store, ops.store0)
	}
	return append(b, byte(classfile.OpDup))
}

// unspill loads the arguments again.
func (a *assembler) unspill(b []byte) []byte {
	at := a.behindFresh
	for _, d := range a.args {
		ops := opsOf(d)
		b = localOp(b, at, ops.load, ops.load0)
		at += ops.words
	}
	return b
}

// keep stores the long that is kept during a call, or loads it.
func (a *assembler) keep(b []byte, store bool) []byte {
	ops, args := opsByDescriptor['J'], a.argWords()
	at := a.behind(args+ops.words) + args
	if store {
		return localOp(b, at, ops.store, ops.store0)
	}
	return localOp(b, at, ops.load, ops.load0)
}
