package probe

import (
	"errors"
	"fmt"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// A Program is what gets injected, as data. The rewriter knows where each
// sequence goes and nothing about what it does; the token probes of the
// package comment are one such program, see [Tokens].
//
// Entry runs before everything, Exit before each return, Handler at the start
// of each handler that the method had, with the throwable on the stack. Caught
// is the body of a catch-all around the method, with the throwable on the
// stack; it must end in athrow. Points run before the instructions that Want
// picks. Sequences that are empty inject nothing, not even a catch-all.
type Program struct {
	Calls []Call // the static methods that steps call, by index

	// Local is the type of a fresh local variable: VLong, VInteger, or VTop for
	// none. Entry must store into it.
	Local classfile.VTag

	Entry, Exit, Handler, Caught Sequence

	// Points are the sequences for each kind of point. Want is asked about
	// every point of a kind that has one, in the order of the code, and picks
	// some, each with an int for StepArg to push. Nil picks all, with 0.
	Points [PointKinds]Sequence
	Want   func(*Point) (arg int32, ok bool)

	// Arounds go around call instructions. At is asked about each and picks one,
	// by index, or none, -1, and an int for StepArg to push.
	Arounds []Around
	At      func(*Point) (which int, arg int32)

	// Entries are for some methods in place of Entry. EntryOf picks one, by
	// index, or none, -1. Nil picks none.
	Entries []Sequence
	EntryOf func(MethodKey) int

	Leaf Leaf // for leaf methods, in place of all sequences

	executed  *executed  // see WithExecuted
	allocated *allocated // see WithAllocated
}

// A Call is a static method of a class that every rewritten class can see.
type Call struct{ Class, Name, Desc string }

// A Sequence is instructions without branches. It leaves the stack as it found
// it, except for Caught, which throws.
type Sequence []Step

// A Step is one instruction of a sequence.
type Step struct {
	Kind StepKind
	Call int          // of StepCall: index into Program.Calls
	Slot int          // of StepParam: its local variable
	Op   classfile.Op // of StepOp
}

// A StepKind says what a step does.
type StepKind uint8

// The kinds of steps.
const (
	StepID       StepKind = iota // push the method's id, an int
	StepArg                      // push the point's int
	StepLoad                     // push the fresh local
	StepStore                    // pop into the fresh local
	StepCall                     // call a method
	StepOp                       // an instruction without operands, branches and locals
	StepThis                     // push local 0, an object: only for entries of instance methods that aren't constructors
	StepParam                    // push a parameter, an object; behind the entry only where the code stores nothing into it
	StepResult                   // push what the method returns, an object, once more: only for exits
	StepReceiver                 // push the object that a call is made on: the first step of an Around's Before
	StepKeep                     // pop a long and keep it during a call: in an Around's Before
	StepKept                     // push what was kept: in its After
)

// A PointKind is a kind of place inside a method.
type PointKind uint8

// The kinds of points. Where one instruction is several, they come in this
// order.
const (
	PointBlock PointKind = iota // a basic block begins
	PointAlloc                  // new, newarray, anewarray or multianewarray
	PointCall                   // an invoke instruction
	PointKinds                  // how many there are
)

// A Point is a place inside a method for which [Program.Want] decides. It is
// valid during the call.
type Point struct {
	Kind   PointKind
	Class  *classfile.Class
	Method MethodKey
	Instr  classfile.Instr // of the original code
	Block  int             // of PointBlock: how many instructions the basic block has
}

// Tokens returns the program of the token probes.
func Tokens(h Hooks) Program {
	p := tokens.Program
	p.Calls = []Call{
		{h.Class, h.Enter, "(I)J"}, {h.Class, h.Exit, "(J)V"}, {h.Class, h.Thrown, "(J)V"}, {h.Class, h.Resync, "(J)V"},
	}
	return p
}

// tokens is the program of the token probes without its calls.
var tokens = func() Injector {
	const enter, exit, thrown, resync = 0, 1, 2, 3
	p := Program{
		Calls: []Call{{Desc: "(I)J"}, {Desc: "(J)V"}, {Desc: "(J)V"}, {Desc: "(J)V"}},
		Local: classfile.VLong,
		Entry: Sequence{{Kind: StepID}, {Kind: StepCall, Call: enter}, {Kind: StepStore}},
		Exit:  Sequence{{Kind: StepLoad}, {Kind: StepCall, Call: exit}},
		Handler: Sequence{
			{Kind: StepLoad}, {Kind: StepCall, Call: resync},
		},
		Caught: Sequence{
			{Kind: StepLoad}, {Kind: StepCall, Call: thrown}, {Kind: StepOp, Op: classfile.OpAthrow},
		},
	}
	in, err := NewInjector(p)
	if err != nil {
		panic(err) // the program above is wrong
	}
	return *in
}()

// localOps are the instructions for the fresh local by its type.
var localOps = [...]struct{ load, load0, store, store0 classfile.Op }{
	classfile.VInteger: {classfile.OpIload, classfile.OpIload0, classfile.OpIstore, classfile.OpIstore0},
	classfile.VLong:    {classfile.OpLload, classfile.OpLload0, classfile.OpLstore, classfile.OpLstore0},
}

// An Injector is a program that makes sense. It may be used by several
// goroutines at once if its Want may.
type Injector struct {
	Program
	slots  int             // of the fresh local
	need   needs           // words above the stack that each sequence finds
	points [PointKinds]int // the same for points
	around []aroundNeeds   // the same for what goes around calls
	any    bool            // some kind of point has a sequence, or something goes around calls
	leaf   *Injector       // for leaf methods; nil if they get what all do
}

// needs are the words of stack that sequences need.
type needs struct{ entry, exit, handler, caught int }

// NewInjector checks a program.
func NewInjector(p Program) (*Injector, error) {
	in := &Injector{Program: p}
	switch p.Local {
	case classfile.VTop:
	case classfile.VInteger, classfile.VLong:
		in.slots = classfile.VType{Tag: p.Local}.Slots()
	default:
		return nil, fmt.Errorf("probe: the fresh local must be long, int or nothing, not verification type %d", p.Local)
	}
	for i, c := range p.Calls {
		if _, _, err := classfile.Params(c.Desc, nil); err != nil {
			return nil, fmt.Errorf("probe: call %d: %w", i, err)
		}
	}
	sequences := []struct {
		what string
		s    Sequence
		need *int
	}{
		{"entry", p.Entry, &in.need.entry},
		{"exit", p.Exit, &in.need.exit},
		{"handler", p.Handler, &in.need.handler},
		{"caught", p.Caught, &in.need.caught},
		{"block", p.Points[PointBlock], &in.points[PointBlock]},
		{"alloc", p.Points[PointAlloc], &in.points[PointAlloc]},
		{"call", p.Points[PointCall], &in.points[PointCall]},
	}
	stored := false
	for i, x := range sequences {
		most, err := in.measure(x.s, x.what == "caught", i >= 4, &stored)
		if err != nil {
			return nil, fmt.Errorf("probe: %s: %w", x.what, err)
		}
		*x.need = most
		in.any = in.any || i >= 4 && len(x.s) > 0
	}
	for i, s := range p.Entries {
		own := false
		most, err := in.measure(s, false, false, &own)
		if err != nil {
			return nil, fmt.Errorf("probe: entry %d: %w", i, err)
		}
		if in.slots > 0 && !own {
			return nil, fmt.Errorf("probe: entry %d does not store into the local", i)
		}
		in.need.entry = max(in.need.entry, most)
	}
	for i := range p.Arounds {
		need, err := in.measureAround(&p.Arounds[i], &stored)
		if err != nil {
			return nil, fmt.Errorf("probe: around %d: %w", i, err)
		}
		in.around = append(in.around, need)
		in.any = true
	}
	if err := in.makeLeaf(); err != nil {
		return nil, fmt.Errorf("leaf: %w", err)
	}
	return in, nil
}

// measure returns the words that a sequence needs above the stack that it
// finds.
func (in *Injector) measure(s Sequence, throws, point bool, stored *bool) (most int, err error) {
	depth, ended := 0, false
	for i, st := range s {
		pop, push := 0, 0
		switch st.Kind {
		case StepID:
			push = 1
		case StepArg:
			push = 1
			if !point {
				return 0, errors.New("an argument where there is no point")
			}
		case StepThis, StepParam:
			push = 1
		case StepResult:
			push = 1
			if i > 0 {
				return 0, errors.New("the result, not in the first step")
			}
		case StepReceiver, StepKeep, StepKept:
			pop, push = scratchWords(st.Kind) // measureAround says where they may be
		case StepLoad, StepStore:
			if in.slots == 0 || st.Kind == StepLoad && !*stored {
				return 0, errors.New("a local that is not there, or not stored at the entry")
			}
			if st.Kind == StepStore {
				pop, *stored = in.slots, true
			} else {
				push = in.slots
			}
		case StepCall:
			if st.Call < 0 || st.Call >= len(in.Calls) {
				return 0, fmt.Errorf("step %d calls method %d of %d", i, st.Call, len(in.Calls))
			}
			pop, push, _ = classfile.MethodWords(in.Calls[st.Call].Desc)
		case StepOp:
			info := st.Op.Info()
			_, local := (&classfile.Instr{Op: st.Op}).Local()
			if local || info.Layout != classfile.LayoutNone || info.Name == "" || info.Pop < 0 || info.Flow != classfile.FlowNext && !(throws && info.Flow == classfile.FlowThrow) {
				return 0, fmt.Errorf("step %d: %v can't be injected", i, st.Op)
			}
			pop, push = int(info.Pop), int(info.Push)
			ended = info.Flow == classfile.FlowThrow
			if ended && i < len(s)-1 {
				return 0, errors.New("athrow before the end")
			}
		default:
			return 0, fmt.Errorf("step %d: no such kind", i)
		}
		below := 0
		if throws {
			below = 1 // the throwable, which only the end may take
		}
		if depth-pop < 0 && !(ended && depth-pop >= -below) {
			return 0, fmt.Errorf("step %d takes what it did not put", i)
		}
		depth += push - pop
		most = max(most, depth)
	}
	switch {
	case throws && len(s) > 0 && (!ended || depth != -1):
		return 0, errors.New("must end in athrow with the throwable alone on the stack")
	case !throws && depth != 0:
		return 0, fmt.Errorf("leaves %d words on the stack", depth)
	}
	return most, nil
}

// An assembler turns sequences into bytes for one method.
type assembler struct {
	program     *Injector
	pool        *classfile.Pool
	refs        []uint16 // Methodrefs of the program's calls
	id, arg     int32
	slot        int      // of the fresh local
	behindFresh int      // the first local behind the fresh ones
	args        []string // descriptors of what a call takes, for StepReceiver
	scratch     int      // words behind the fresh local that were used
}

func (a *assembler) sequence(b []byte, s Sequence) ([]byte, error) {
	for _, st := range s {
		var err error
		switch st.Kind {
		case StepID:
			b, err = a.pushInt(b, a.id)
		case StepArg:
			b, err = a.pushInt(b, a.arg)
		case StepLoad:
			ops := &localOps[a.program.Local]
			b = localOp(b, a.slot, ops.load, ops.load0)
		case StepStore:
			ops := &localOps[a.program.Local]
			b = localOp(b, a.slot, ops.store, ops.store0)
		case StepCall:
			ref := a.refs[st.Call]
			b = append(b, byte(classfile.OpInvokestatic), byte(ref>>8), byte(ref))
		case StepOp:
			b = append(b, byte(st.Op))
		case StepThis:
			b = append(b, byte(classfile.OpAload0))
		case StepParam:
			b = localOp(b, st.Slot, classfile.OpAload, classfile.OpAload0)
		case StepResult:
			b = append(b, byte(classfile.OpDup))
		case StepReceiver:
			b = a.spill(b)
		case StepKeep, StepKept:
			b = a.keep(b, st.Kind == StepKeep)
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// localOp appends a load or store in its shortest form.
func localOp(b []byte, n int, op, op0 classfile.Op) []byte {
	switch {
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
