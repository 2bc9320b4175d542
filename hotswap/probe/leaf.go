package probe

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// A Leaf is what goes into leaf methods in place of the rest of a program: Entry
// at the entry and Caught as the body of a catch-all. It has no local, and
// nothing at a return. Is is asked about each leaf method; nil says no.
//
// A leaf method is so short that HotSpot inlines it anywhere (-XX:MaxInlineSize),
// calls nothing, jumps only forward, allocates nothing, waits for no monitor, has
// no handler of its own, and names no class but its own, so that nothing is loaded
// in it. It is no constructor.
type Leaf struct {
	Entry, Caught Sequence
	Is            func(MethodKey) bool
}

// maxLeaf is the length of a leaf's code, in bytes.
const maxLeaf = 35

// makeLeaf makes the injector for leaf methods, which shares the calls of in.
func (in *Injector) makeLeaf() (err error) {
	if in.Leaf.Is == nil {
		return nil
	}
	in.leaf, err = NewInjector(Program{Calls: in.Calls, Entry: in.Leaf.Entry, Caught: in.Leaf.Caught, executed: in.executed})
	return err
}

// isLeaf tells whether the method whose code is in r.code is to get the leaves'
// sequences.
func (r *rewriter) isLeaf(m *classfile.Member) bool {
	key := MethodKey{m.Name, m.Desc}
	p := r.program
	if p.leaf == nil || m.Access.Has(classfile.AccSynchronized) || m.Name[0] == '<' || len(r.code.Bytecode) > maxLeaf || len(r.code.Handlers) > 0 {
		return false
	}
	if p.EntryOf != nil && p.EntryOf(key) >= 0 || !p.Leaf.Is(key) {
		return false
	}
	s := classfile.Scan(r.code.Bytecode)
	for s.Next() {
		if !r.inLeaf(&s.Instr) {
			return false
		}
	}
	return s.Err() == nil
}

// inLeaf tells whether a leaf may have an instruction.
func (r *rewriter) inLeaf(in *classfile.Instr) bool {
	pool := &r.class.Pool
	switch in.Op {
	case classfile.OpGetfield, classfile.OpPutfield, classfile.OpGetstatic, classfile.OpPutstatic:
		f, err := pool.MemberRef(uint16(in.A))
		return err == nil && f.Class == r.class.Name()
	case classfile.OpLdc, classfile.OpLdcW, classfile.OpLdc2W:
		switch pool.Tag(uint16(in.A)) {
		case classfile.TagInteger, classfile.TagFloat, classfile.TagLong, classfile.TagDouble, classfile.TagString:
			return true
		}
		return false
	case classfile.OpMonitorenter, classfile.OpMonitorexit, classfile.OpCheckcast, classfile.OpInstanceof:
		return false
	}
	switch info := in.Op.Info(); info.Flow {
	case classfile.FlowNext:
		return pointKinds[in.Op] == PointKinds // neither a call nor an allocation
	case classfile.FlowBranch, classfile.FlowJump:
		return in.A > 0
	case classfile.FlowSwitch:
		sw, ok := in.Switch(r.code.Bytecode)
		if !ok || sw.Default <= 0 {
			return false
		}
		for i := range sw.Count {
			if sw.Offset(i) <= 0 {
				return false
			}
		}
		return true
	case classfile.FlowReturn:
		return true
	}
	return false
}

// WithLeaves returns the injector that also puts the probe of leaf methods into
// those for which is says so:
//
//	class.entry(id)                                       at the entry
//	catch (Throwable t) { class.thrown(id); throw t; }    around everything
func (in *Injector) WithLeaves(class, entry, thrown string, is func(MethodKey) bool) (*Injector, error) {
	p := in.Program
	p.Leaf = Leaf{
		Entry:  Sequence{{Kind: StepID}, {Kind: StepCall, Call: p.call(Call{class, entry, "(I)V"})}},
		Caught: Sequence{{Kind: StepID}, {Kind: StepCall, Call: p.call(Call{class, thrown, "(I)V"})}, {Kind: StepOp, Op: classfile.OpAthrow}},
		Is:     is,
	}
	return NewInjector(p)
}
