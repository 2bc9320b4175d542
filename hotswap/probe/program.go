package probe

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// A program is what gets injected, as data. The rewriter knows where each
// sequence goes and nothing about what it does.
type program struct {
	local   classfile.VType // the fresh local variable, set by entry
	entry   sequence        // before everything; the stack is empty
	ret     sequence        // before each return
	handler sequence        // at the start of each handler; the throwable is on the stack
	caught  sequence        // the body of the catch-all; the throwable is on the stack
}

// A sequence is instructions without branches.
type sequence []step

// A step is one instruction of a sequence.
type step struct {
	kind stepKind
	hook hook         // of stepCall
	op   classfile.Op // of stepPlain
}

type stepKind uint8

const (
	stepID    stepKind = iota // push the method's id
	stepLoad                  // push the fresh local
	stepStore                 // pop into the fresh local
	stepCall                  // call a hook
	stepPlain                 // an opcode without operands
)

// A hook is one of the static methods of the probe class.
type hook uint8

const (
	hookEnter hook = iota
	hookExit
	hookThrown
	hookResync
	hookCount
)

// hookRows says where the names are and what the methods take and return.
var hookRows = [hookCount]struct {
	name func(Hooks) string
	desc string
}{
	hookEnter:  {func(h Hooks) string { return h.Enter }, "(I)J"},
	hookExit:   {func(h Hooks) string { return h.Exit }, "(J)V"},
	hookThrown: {func(h Hooks) string { return h.Thrown }, "(J)V"},
	hookResync: {func(h Hooks) string { return h.Resync }, "(J)V"},
}

// tokens is the program of DESIGN.md, "Probes".
var tokens = program{
	local: classfile.VType{Tag: classfile.VLong},
	entry: sequence{{kind: stepID}, call(hookEnter), {kind: stepStore}},
	ret:   sequence{{kind: stepLoad}, call(hookExit)},
	handler: sequence{
		{kind: stepLoad}, call(hookResync),
	},
	caught: sequence{
		{kind: stepLoad}, call(hookThrown), {kind: stepPlain, op: classfile.OpAthrow},
	},
}

func call(h hook) step { return step{kind: stepCall, hook: h} }

// localOps are the instructions for the fresh local by its type.
var localOps = [...]struct{ load, load0, store, store0 classfile.Op }{
	classfile.VInteger: {classfile.OpIload, classfile.OpIload0, classfile.OpIstore, classfile.OpIstore0},
	classfile.VLong:    {classfile.OpLload, classfile.OpLload0, classfile.OpLstore, classfile.OpLstore0},
}

// need returns how many words the sequence needs above the stack that it
// finds.
func (p *program) need(s sequence) int {
	depth, most := 0, 0
	for _, st := range s {
		switch st.kind {
		case stepID:
			depth++
		case stepLoad:
			depth += p.local.Slots()
		case stepStore:
			depth -= p.local.Slots()
		case stepCall:
			args, ret, _ := classfile.MethodWords(hookRows[st.hook].desc)
			depth += ret - args
			most = max(most, depth+args)
		case stepPlain:
			depth += int(st.op.Info().Push) - int(st.op.Info().Pop)
		}
		most = max(most, depth)
	}
	return most
}

// An assembler turns sequences into bytes for one method.
type assembler struct {
	program *program
	pool    *classfile.Pool
	refs    *[hookCount]uint16
	id      int32
	slot    int // of the fresh local
}

func (a *assembler) sequence(b []byte, s sequence) ([]byte, error) {
	ops := &localOps[a.program.local.Tag]
	for _, st := range s {
		switch st.kind {
		case stepID:
			var err error
			if b, err = a.pushInt(b, a.id); err != nil {
				return nil, err
			}
		case stepLoad:
			b = a.localOp(b, ops.load, ops.load0)
		case stepStore:
			b = a.localOp(b, ops.store, ops.store0)
		case stepCall:
			ref := a.refs[st.hook]
			b = append(b, byte(classfile.OpInvokestatic), byte(ref>>8), byte(ref))
		case stepPlain:
			b = append(b, byte(st.op))
		}
	}
	return b, nil
}

// localOp appends a load or store in its shortest form.
func (a *assembler) localOp(b []byte, op, op0 classfile.Op) []byte {
	switch n := a.slot; {
	case n < 4:
		return append(b, byte(op0)+byte(n))
	case n < 256:
		return append(b, byte(op), byte(n))
	default:
		return append(b, byte(classfile.OpWide), byte(op), byte(n>>8), byte(n))
	}
}

// pushInt appends the shortest push of v.
func (a *assembler) pushInt(b []byte, v int32) ([]byte, error) {
	switch {
	case v >= -1 && v <= 5:
		return append(b, byte(int32(classfile.OpIconst0)+v)), nil
	case v == int32(int8(v)):
		return append(b, byte(classfile.OpBipush), byte(v)), nil
	case v == int32(int16(v)):
		return append(b, byte(classfile.OpSipush), byte(v>>8), byte(v)), nil
	}
	i, err := a.pool.AddInteger(v)
	if err != nil {
		return nil, err
	}
	if i < 256 {
		return append(b, byte(classfile.OpLdc), byte(i)), nil
	}
	return append(b, byte(classfile.OpLdcW), byte(i>>8), byte(i)), nil
}
