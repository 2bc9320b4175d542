package probe

import (
	"math"
	"strings"
	"sync"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// A rewriter rewrites methods of one class. Its scratch memory serves one
// method after the other.
type rewriter struct {
	class   *classfile.Class
	program *Injector

	refs     []uint16 // Methodrefs of the program's calls
	haveRefs bool
	thrown   uint16 // Class constant of Throwable

	code     classfile.Code
	layout   layout
	ctor     ctorFlow
	maps     mapper
	in       injected
	bytecode []byte
	moved    []byte            // contents of attributes inside Code
	out      []byte            // Code attributes; what was handed out stays until the class is written
	total    int               // bytes of Code attributes made for the class
	scratch  int               // words of locals behind the fresh one that the method needs
	plain    bool              // the method does not count, whatever the program says
	leaf     bool              // the method got the leaves' sequences
	locals   []classfile.VType // the fresh ones
	counting counting
	pending  []pendingNew   // what was allocated and not initialised yet, as the code is read
	tying    []classfile.Op // the method's token is tied to its result by these
}

// maxGrowth bounds the bytes made for one class. Stack maps of hostile code can
// grow ten thousand times.
const maxGrowth = 128 << 20

// maxKept bounds the memory for Code attributes that is kept from one class to
// the next.
const maxKept = 1 << 20

// rewriters keeps scratch memory from one class to the next.
var rewriters = sync.Pool{New: func() any { return new(rewriter) }}

// begin makes the rewriter ready for a class file of this size.
func (r *rewriter) begin(c *classfile.Class, p *Injector, size int) {
	r.class, r.program, r.haveRefs, r.total = c, p, false, 0
	if n := size + size/2; cap(r.out) < n {
		r.out = make([]byte, 0, n)
	}
}

// end drops what belongs to the class.
func (r *rewriter) end() {
	r.class, r.program, r.out = nil, nil, r.out[:0]
	if cap(r.out) > maxKept {
		r.out = nil
	}
	clear(r.code.Attributes[:cap(r.code.Attributes)])
	rewriters.Put(r)
}

// method rewrites one method, or leaves it as it is and says why not.
func (r *rewriter) method(m *classfile.Member, id int32) (sizes, error) {
	switch {
	case m.Access.Has(classfile.AccNative):
		return sizes{}, reasonNative
	case m.Access.Has(classfile.AccAbstract):
		return sizes{}, reasonAbstract
	}
	ok, err := r.class.ReadCode(m, &r.code)
	if err != nil {
		return sizes{}, err
	}
	if !ok {
		return sizes{}, reasonNoCode
	}
	if err := r.resolve(); err != nil {
		return sizes{}, err
	}
	r.counting.on = r.program.executed != nil && !r.plain
	if r.leaf = r.isLeaf(m); r.leaf {
		defer func(p *Injector) { r.program = p }(r.program)
		r.program = r.program.leaf
	}
	mark := r.class.Pool.Mark()
	size := sizes{before: len(r.code.Bytecode)}
	info, err := r.rewrite(m, id)
	if err == nil && (r.counting.on || r.allocating()) {
		err = r.endCount(size.before, len(r.code.Bytecode))
	}
	if err != nil {
		r.class.Pool.Undo(mark)
		return sizes{}, err
	}
	m.Attribute(classfile.AttrCode).Info = info
	size.after = len(r.code.Bytecode)
	return size, nil
}

// rewrite returns the new contents of the Code attribute that is in r.code.
func (r *rewriter) rewrite(m *classfile.Member, id int32) ([]byte, error) {
	code, l := &r.code, &r.layout
	slot := int(code.MaxLocals)
	r.locals = r.locals[:0]
	if r.program.slots > 0 {
		r.locals = append(r.locals, classfile.VType{Tag: r.program.Local})
	}
	if err := l.scan(code); err != nil {
		return nil, err
	}
	if r.counting.on {
		r.beginCount(m)
	}
	if r.fresh() > math.MaxUint16 {
		return nil, reasonLocals
	}
	var err error
	if r.tying, err = r.tieTo(m); err != nil {
		return nil, err
	}
	if err := r.assemble(m, id, slot); err != nil {
		return nil, err
	}
	if err := r.points(m, id); err != nil {
		return nil, err
	}
	if r.fresh()+r.scratch > math.MaxUint16 {
		return nil, reasonLocals
	}
	l.entry, l.ret, l.handler = len(r.in.entry), len(r.in.ret), len(r.in.handler)
	l.place()
	catches, err := r.catches(m)
	if err != nil {
		return nil, err
	}
	length := l.length
	for i := range catches {
		catches[i].at = length
		length += len(r.in.caught)
	}
	if length > classfile.MaxCode {
		return nil, reasonCodeSize
	}
	if r.counting.on {
		if err := r.fits(length); err != nil {
			return nil, err
		}
	}
	return r.encode(m, catches, slot)
}

// resolve appends the constants that the hooks need: once, and all or none.
func (r *rewriter) resolve() (err error) {
	if r.haveRefs {
		return nil
	}
	p := &r.class.Pool
	mark := p.Mark()
	defer func() {
		if err != nil {
			p.Undo(mark)
		}
	}()
	r.refs = r.refs[:0]
	for i := range r.program.Calls {
		c := &r.program.Calls[i]
		ref, err := p.AddMethodref(c.Class, c.Name, c.Desc)
		if err != nil {
			return err
		}
		r.refs = append(r.refs, ref)
	}
	if len(r.program.Caught) > 0 && r.class.Major >= classfile.MajorStackMaps {
		if _, err = p.AddUtf8(classfile.AttrStackMapTable); err != nil {
			return err
		}
		if r.thrown, err = p.AddClass("java/lang/Throwable"); err != nil {
			return err
		}
	}
	r.haveRefs = true
	return nil
}

// assemble makes the bytes that are injected into this method, except for points.
func (r *rewriter) assemble(m *classfile.Member, id int32, slot int) (err error) {
	a := r.assembler(id)
	p := r.program
	entry := p.Entry
	if p.EntryOf != nil {
		if i := p.EntryOf(MethodKey{m.Name, m.Desc}); i >= 0 {
			entry = p.Entries[i]
		}
	}
	for _, x := range []struct {
		to   *[]byte
		from Sequence
	}{
		{&r.in.entry, entry}, {&r.in.ret, p.Exit}, {&r.in.handler, p.Handler}, {&r.in.caught, p.Caught},
	} {
		if x.to != &r.in.entry && r.overwrites(x.from) {
			return reasonParam
		}
		b := (*x.to)[:0]
		if x.to == &r.in.ret {
			b = a.tie(b, r.tying)
		}
		if *x.to, err = a.sequence(b, x.from); err != nil {
			return err
		}
	}
	if r.counting.on {
		return r.assembleCount(&a)
	}
	return nil
}

// fresh is the first local behind the fresh ones.
func (r *rewriter) fresh() int {
	slot := int(r.code.MaxLocals)
	for _, t := range r.locals {
		slot += t.Slots()
	}
	return slot
}

func (r *rewriter) assembler(id int32) assembler {
	return assembler{program: r.program, pool: &r.class.Pool, refs: r.refs, id: id, slot: int(r.code.MaxLocals), behindFresh: r.fresh()}
}

// overwrites reports whether the method's code stores into a parameter that a
// sequence reads.
func (r *rewriter) overwrites(s Sequence) bool {
	for _, st := range s {
		if st.Kind != StepParam {
			continue
		}
		for c := classfile.Scan(r.code.Bytecode); c.Next(); {
			if slot, ok := c.Local(); ok && slot == st.Slot && strings.Contains(c.Op.Info().Name, "store") {
				return true
			}
		}
	}
	return false
}

// catches returns the catch-alls that the method needs: one, two for a
// constructor, none if there is nothing to do in them. What is injected at a
// return is not covered: compilers then know that a method which calls nothing
// has no use for the handler. If it does end by an exception, of an exhausted
// stack, the invocation has no exit, and the next one below repairs that.
func (r *rewriter) catches(m *classfile.Member) ([]catch, error) {
	if len(r.in.caught) == 0 {
		return nil, nil
	}
	if m.Name == "<init>" && r.class.Name() != "java/lang/Object" {
		return r.ctor.catches(&r.layout, &r.code, m, &r.class.Pool, r.class.Major >= classfile.MajorStackMaps)
	}
	c := catch{ranges: r.layout.betweenReturns(), this: -1}
	if len(c.ranges) == 0 {
		return nil, nil
	}
	return []catch{c}, nil
}

// encode writes the Code attribute.
func (r *rewriter) encode(m *classfile.Member, catches []catch, slot int) ([]byte, error) {
	code, l := &r.code, &r.layout
	if r.total > maxGrowth {
		return nil, reasonGrowth
	}
	l.clearDepths()
	frames, err := r.maps.frames(r, m, catches, slot)
	if err != nil {
		return nil, err
	}
	if err := r.moveAttributes(frames); err != nil {
		return nil, err
	}
	code.Handlers = l.handlers(code.Handlers, catches)
	if len(code.Handlers) > math.MaxUint16 {
		return nil, reasonHandlers
	}
	stack := r.stack(catches)
	if stack > math.MaxUint16 {
		return nil, reasonStack
	}
	code.MaxStack = uint16(stack)
	code.MaxLocals = uint16(r.fresh() + r.scratch)

	r.bytecode = l.emit(r.bytecode[:0], &r.in)
	for range catches {
		r.bytecode = append(r.bytecode, r.in.caught...)
	}
	code.Bytecode = r.bytecode
	return r.keep(), nil
}

// keep writes r.code into memory that lasts as long as the class.
func (r *rewriter) keep() []byte {
	need := len(r.code.Bytecode) + len(r.code.Handlers)*classfile.HandlerSize + 12
	for i := range r.code.Attributes {
		need += 6 + len(r.code.Attributes[i].Info)
	}
	r.total += need
	if cap(r.out)-len(r.out) < need {
		r.out = make([]byte, 0, max(need, 16<<10))
	}
	start := len(r.out)
	r.out = r.code.Append(r.out)
	return r.out[start:len(r.out):len(r.out)]
}

// moveAttributes moves the attributes inside Code. The table of stack maps is
// replaced by frames, if there is one.
func (r *rewriter) moveAttributes(frames *classfile.Attribute) error {
	code := &r.code
	r.moved = r.moved[:0]
	for i := range code.Attributes {
		a := &code.Attributes[i]
		if a.Name == classfile.AttrStackMapTable && frames != nil {
			*a, frames = *frames, nil
			continue
		}
		move := movers[a.Name]
		if move == nil {
			continue
		}
		start := len(r.moved)
		r.moved = append(r.moved, a.Info...)
		a.Info = r.moved[start:]
		if err := move(&r.layout, a.Info); err != nil {
			return err
		}
	}
	if frames != nil {
		code.Attributes = append(code.Attributes, *frames)
	}
	return nil
}
