package probe

import (
	"errors"
	"math"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// Executed are the static methods that get how many bytecode instructions an
// invocation has executed, see [Injector.WithExecuted].
type Executed struct {
	Class, Exit, Thrown    string // (JJ)V: token, instructions
	Leaf, LeafThrown       string // (IJ)V, of Class: method, instructions; a whole invocation of a leaf method
	LeafClass, LeafLastOne string // (IJ)V: the invocation of a leaf that was counted at its entry ended by an exception

	// Blocks counts whole basic blocks: what an exception left out of the block that
	// it came from counts, too ("Default BBA": Binder and Hulaas, "Exact and Portable
	// Profiling for the JVM Using Bytecode Instruction Counting", section 4).
	Blocks bool

	// Kind has only instructions of a kind counted, by the same locals: a spanning tree
	// whose edges weigh what blocks have of them.
	Kind Kind
}

// A Count is what there is to know of the executed instructions of a method
// that counts them. An invocation that returns has executed Each and what its
// exit was told; one that ends by an exception what its catch-all was told. One
// that ends by an exception out of super() or this() leaves without either: it
// has executed Super, where that is the same for all (else Super is 0 and
// SuperVaries).
type Count struct {
	MethodKey
	Each, Super int32
	SuperVaries bool
}

// executed are the indices of the calls.
type executed struct {
	exit, thrown, leaf, leafThrown, leafLast int

	blocks bool
	kind   Kind
}

// WithExecuted returns the injector that has methods count the bytecode
// instructions that they execute, as the method without probes would: in locals,
// where paths differ in length (see paths). The program must be one of the
// token probes.
//
//	long token = Enter(id); int n = 0, p = 0;
//	... n += c ... p = c; instruction that may throw ...
//	Exit(token, n + c)
//	handler: n += p - c
//	catch (Throwable t) { Thrown(token, n + p); throw t; }
//
// With [Executed].Blocks, p is set once a block, to what n lacks behind it, and not
// at all where that is the same for all blocks that may throw.
//
// A method all of whose paths are equally long ends as without counting, except for
// exceptions, and [Count] says how long they are. A leaf method whose paths
// differ is counted where it returns. A method that would pass the size beyond
// which HotSpot does not compile it, or a limit of class files, does not count:
// [Result].Uncounted names it.
func (in *Injector) WithExecuted(x Executed) (*Injector, error) {
	p := in.Program
	if p.Local != classfile.VLong {
		return nil, errors.New("probe: only token probes count what is executed")
	}
	p.executed = &executed{
		exit:       p.call(Call{x.Class, x.Exit, "(JJ)V"}),
		thrown:     p.call(Call{x.Class, x.Thrown, "(JJ)V"}),
		leaf:       p.call(Call{x.Class, x.Leaf, "(IJ)V"}),
		leafThrown: p.call(Call{x.Class, x.LeafThrown, "(IJ)V"}),
		leafLast:   p.call(Call{x.LeafClass, x.LeafLastOne, "(IJ)V"}),
		blocks:     x.Blocks,
		kind:       x.Kind,
	}
	return NewInjector(p)
}

// countNeed are the words of stack that counting takes above what it finds.
const countNeed = 6

// hugeMethod is the length of code from which on HotSpot does not compile it
// (HugeMethodLimit).
const hugeMethod = 8000

// Why a method doesn't count.
const (
	reasonHuge  reason = "executed bytecodes and allocations not counted: it would pass 8000 bytes, and HotSpot would not compile it"
	reasonShort reason = "executed bytecodes and allocations not counted: it would pass 32 KB"
)

// counting is a rewriter's state of a method that counts.
type counting struct {
	on       bool
	calls    *executed
	paths    paths
	n, p     int   // locals
	block    int32 // that was come to
	index    int32 // what is counted within it, up to and with the instruction
	told     int32 // as far as p says, -1 where it was not set
	instance bool  // local 0 is this all the time
	aload0   bool  // the instruction before was aload_0
}

// beginCount works out how a method counts, and gives it its locals.
func (r *rewriter) beginCount(m *classfile.Member) {
	c, l := &r.counting, &r.layout
	c.calls = r.program.executed
	l.markLeaders()
	c.instance = !m.Access.Has(classfile.AccStatic) && !storesThis(l.code)
	c.aload0 = false
	c.paths.whole, c.paths.weights = c.calls.blocks, &kindWeights[c.calls.kind]
	c.paths.build(l, &r.code, r.mayThrow, len(r.program.Caught) > 0)
	next := r.fresh()
	c.n, c.p = -1, -1
	if tag := c.paths.counter; tag != classfile.VTop {
		c.n = next
		r.locals = append(r.locals, classfile.VType{Tag: tag})
		next += classfile.VType{Tag: tag}.Slots()
	}
	if c.paths.position {
		c.p = next
		r.locals = append(r.locals, classfile.VType{Tag: classfile.VInteger})
	}
	c.paths.place()
	c.block, c.index, c.told, c.aload0 = -1, 0, -1, false
}

// storesThis tells whether code stores into local 0.
func storesThis(code []byte) bool {
	for s := classfile.Scan(code); s.Next(); {
		if slot, ok := s.Local(); ok && slot == 0 && s.Op != classfile.OpIinc && s.Op.Info().Pop > 0 {
			return true
		}
	}
	return false
}

// mayThrow tells whether an instruction may end by an exception, of the program
// or of linking. It is asked in the order of the code.
func (r *rewriter) mayThrow(in *classfile.Instr) bool {
	c := &r.counting
	this := c.aload0 && r.layout.marks[in.Offset]&markLeader == 0
	c.aload0 = c.instance && in.Op == classfile.OpAload0
	switch in.Op {
	case classfile.OpGetfield: // one of this object's own can do nothing but succeed
		f, err := r.class.Pool.MemberRef(uint16(in.A))
		return !this || err != nil || f.Class != r.class.Name()
	case classfile.OpLdc, classfile.OpLdcW, classfile.OpLdc2W:
		switch r.class.Pool.Tag(uint16(in.A)) {
		case classfile.TagInteger, classfile.TagFloat, classfile.TagLong, classfile.TagDouble:
			return false
		}
		return true
	}
	return throwing[in.Op]
}

// throwing are the instructions that may throw (JVMS §6.5), except for constants and
// returns: what a return throws ends no invocation that is still open.
var throwing = func() (t [256]bool) {
	for op := classfile.OpIaload; op <= classfile.OpSaload; op++ {
		t[op] = true
	}
	for op := classfile.OpIastore; op <= classfile.OpSastore; op++ {
		t[op] = true
	}
	for _, op := range []classfile.Op{
		classfile.OpIdiv, classfile.OpLdiv, classfile.OpIrem, classfile.OpLrem,
		classfile.OpGetstatic, classfile.OpPutstatic, classfile.OpPutfield,
		classfile.OpInvokevirtual, classfile.OpInvokespecial, classfile.OpInvokestatic, classfile.OpInvokeinterface, classfile.OpInvokedynamic,
		classfile.OpNew, classfile.OpNewarray, classfile.OpAnewarray, classfile.OpMultianewarray, classfile.OpArraylength,
		classfile.OpAthrow, classfile.OpCheckcast, classfile.OpInstanceof, classfile.OpMonitorenter, classfile.OpMonitorexit,
	} {
		t[op] = true
	}
	return t
}()

// endCount checks that the method may be as long as it has become.
func (r *rewriter) endCount(before, after int) error {
	if before <= hugeMethod && after > hugeMethod {
		return reasonHuge
	}
	return nil
}

// fits checks that no branch can be too long.
func (r *rewriter) fits(length int) error {
	if length > math.MaxInt16 {
		return reasonShort
	}
	return nil
}

// count is what there is to know of the method that was rewritten last.
func (r *rewriter) count(key MethodKey) Count {
	k, g := Count{MethodKey: key}, &r.counting.paths
	if g.fixed {
		k.Each = g.each
	}
	first := true
	for s := classfile.Scan(r.layout.code); s.Next(); {
		if r.layout.marks[s.Offset]&markSuper == 0 {
			continue
		}
		executed, ok := g.before(r.layout.code, int32(s.Offset))
		k.SuperVaries = k.SuperVaries || !ok || !first && executed != k.Super
		k.Super, first = executed, false
	}
	if k.SuperVaries {
		k.Super = 0
	}
	return k
}
