package verify

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

var (
	errNotNew     = errors.New("type of a new instruction that is not there")
	errNoSwitch   = errors.New("malformed switch")
	errMapOrder   = errors.New("stack map between instructions")
	errMapLocals  = errors.New("stack map with more locals than max_locals")
	errMapStack   = errors.New("stack map with more stack than max_stack")
	errHandlers   = errors.New("exception table points between instructions")
	errNoCatch    = errors.New("catch type is no subclass of Throwable")
	errParameters = errors.New("parameters do not fit max_locals")
)

// An Error reports code that a JVM would refuse with a VerifyError or a
// ClassFormatError.
type Error struct {
	Class, Method, Desc string
	Offset              int // of the instruction
	Op                  classfile.Op
	Err                 error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s.%s%s: offset %d (%s): %v", e.Class, e.Method, e.Desc, e.Offset, e.Op, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Summary is what is known about a method that passed.
type Summary struct {
	MaxStack int // what the code needs, at most max_stack
}

// Class checks the format and verifies all methods of a class and returns the
// first error. Methods with subroutines are passed over.
func Class(c *classfile.Class, h Hierarchy) error {
	if err := Format(c); err != nil {
		return err
	}
	for i := range c.Methods {
		if _, err := Method(c, &c.Methods[i], h); err != nil && !errors.Is(err, ErrSubroutines) {
			return err
		}
	}
	return nil
}

// Method verifies one method of c. A method without code passes. Class files
// of version 50 that fail with their stack maps are tried without them, as
// HotSpot does.
func Method(c *classfile.Class, m *classfile.Member, h Hierarchy) (Summary, error) {
	code, err := c.Code(m)
	if err != nil || code == nil {
		return Summary{}, err
	}
	if err := memberFormat(c, m); err != nil {
		return Summary{}, err
	}
	k := checkers.Get().(*checker)
	defer k.free()
	k.reset(c, m, code, h)
	if c.Major >= classfile.MajorStackMaps {
		k.run(code.Attribute(classfile.AttrStackMapTable))
	}
	if c.Major < classfile.MajorStackMaps || c.Major == classfile.MajorStackMaps && k.err != nil && !k.badMaps {
		k.reset(c, m, code, h)
		k.infer()
	}
	if k.err != nil {
		return Summary{}, k.err
	}
	return Summary{MaxStack: k.deepest}, nil
}

// A checker verifies one method.
type checker struct {
	class   *classfile.Class
	method  *classfile.Member
	code    *classfile.Code
	classes Hierarchy
	err     error

	starts   []uint8 // by offset: what is there
	frames   []frame // from the stack maps, by offset
	entry    []value // of the parameters that are objects, see readMaps
	words    []value // memory for frames
	maps     classfile.FrameReader
	now      frame
	thrown   [1]value // the stack of a handler
	in       classfile.Instr
	ret      value // what the method returns; tagTop for void
	maxStack int
	deepest  int
	exMin    int // the instructions that handlers cover lie in [exMin, exMax)
	exMax    int
	listed   error // what is wrong with the list of types that is read
	badMaps  bool  // the form of the stack maps is wrong, for which there is no second try
	newThis  bool  // the instruction at hand initialized this
	newInit  bool  // the instruction at hand called a constructor

	vars, typed []variable // rows of the tables for debuggers

	flow   flow   // of a method without stack maps
	work   int    // values compared and handlers looked at
	before func() // called before each instruction, if set
}

// maxWork bounds the work on a method: hostile code can ask for billions of
// comparisons, real code for a few millions.
const maxWork = 1 << 28

var errWork = fmt.Errorf("%w: too much work to verify", classfile.ErrUnsupported)

// checkers keeps scratch memory from one method to the next.
var checkers = sync.Pool{New: func() any { return new(checker) }}

// reset makes the checker ready for a method.
func (c *checker) reset(class *classfile.Class, m *classfile.Member, code *classfile.Code, h Hierarchy) {
	*c = checker{
		class: class, method: m, code: code, classes: h, maxStack: int(code.MaxStack),
		starts: c.starts[:0], frames: c.frames[:0], entry: c.entry[:0], words: c.words[:0], maps: c.maps,
		now:  frame{locals: c.now.locals[:0], stack: c.now.stack[:0]},
		vars: c.vars[:0], typed: c.typed[:0],
		flow: flow{joins: c.flow.joins, work: c.flow.work[:0], queued: c.flow.queued, chain: c.flow.chain},
	}
}

// free drops what belongs to the class and gives the memory back.
func (c *checker) free() {
	clear(c.words)
	clear(c.frames)
	clear(c.flow.chain)
	c.class, c.method, c.code, c.classes, c.before, c.maps.Check, c.maps.CheckAll = nil, nil, nil, nil, nil, nil, nil
	checkers.Put(c)
}

// frameAt returns the stack map of an offset, nil if there is none.
func (c *checker) frameAt(at int) *frame {
	i, ok := slices.BinarySearchFunc(c.frames, at, func(f frame, at int) int { return f.offset - at })
	if !ok {
		return nil
	}
	return &c.frames[i]
}

// What an offset is in starts.
const (
	atNothing uint8 = iota
	atInstruction
	atNew
)

func (c *checker) fail(what string) { c.failWith(errors.New(what)) }

func (c *checker) failWith(err error) {
	if c.err == nil && err != nil {
		c.err = &Error{c.class.Name(), c.method.Name, c.method.Desc, c.in.Offset, c.in.Op, err}
	}
}

// isNew reports whether a new instruction is at an offset.
func (c *checker) isNew(at int) bool { return at < len(c.code.Bytecode) && c.starts[at] == atNew }

// isStart reports whether an instruction is at an offset.
func (c *checker) isStart(at int) bool {
	return at >= 0 && at < len(c.code.Bytecode) && c.starts[at] != atNothing
}

// run verifies the method from the first instruction to the last (§4.10.1.6).
func (c *checker) run(maps *classfile.Attribute) {
	c.scan()
	c.begin()
	c.tables()
	if c.err == nil {
		c.readMaps(maps)
	}
	next := 0 // frame in order
	reached := true
	s := classfile.Scan(c.code.Bytecode)
	for c.err == nil && s.Next() {
		c.in = s.Instr
		switch {
		case next < len(c.frames) && c.frames[next].offset == s.Offset:
			want := &c.frames[next]
			if reached {
				if wrong := c.match(c.now.locals, c.now.stack, c.now.uninit, want); wrong != "" {
					c.fail(wrong)
				}
			}
			c.enter(want)
			next++
		case !reached:
			c.fail("expecting a stack map frame")
			return
		}
		if c.before != nil {
			c.before()
		}
		reached = c.instruction()
	}
	if c.err == nil && reached {
		c.fail("control flow falls through code end")
	}
}

// scan marks the instructions.
func (c *checker) scan() {
	c.starts = append(c.starts, make([]uint8, len(c.code.Bytecode))...)
	s := classfile.Scan(c.code.Bytecode)
	for s.Next() {
		c.starts[s.Offset] = atInstruction
		if s.Op == classfile.OpNew {
			c.starts[s.Offset] = atNew
		}
	}
	c.failWith(s.Err())
}

// begin sets the frame at method entry.
func (c *checker) begin() {
	ctor := c.method.Name == nameInit && c.class.Name() != nameObject
	if !static(c.class, c.method) {
		this := object(c.class.Name())
		if ctor {
			this = value{tag: tagUninitThis}
			c.now.uninit = true
		}
		c.now.locals = append(c.now.locals, this)
	}
	var room [16]string
	params, ret, err := classfile.Params(c.method.Desc, room[:0])
	if err != nil {
		c.failWith(err)
		return
	}
	for _, p := range params {
		v := typeOf(p)
		c.now.locals = append(c.now.locals, v)
		if two := second[v.tag]; two != tagTop {
			c.now.locals = append(c.now.locals, value{tag: two})
		}
	}
	if len(c.now.locals) > int(c.code.MaxLocals) {
		c.failWith(errParameters)
		return
	}
	for len(c.now.locals) < int(c.code.MaxLocals) {
		c.now.locals = append(c.now.locals, vTop)
	}
	c.ret = typeOf(ret)
}

// enter makes a stack map frame the current one.
func (c *checker) enter(f *frame) {
	n := copy(c.now.locals, f.locals)
	clear(c.now.locals[n:])
	c.now.stack = append(c.now.stack[:0], f.stack...)
	c.now.uninit = f.uninit
	c.deepest = max(c.deepest, len(f.stack))
}

// instruction verifies one instruction and reports whether control goes on
// behind it.
func (c *checker) instruction() bool {
	covered := c.in.Offset >= c.exMin && c.in.Offset < c.exMax
	c.newThis, c.newInit = false, false
	// A store changes the locals; handlers see those before it. In the data
	// flow handlers see what was before every instruction.
	early := stores[c.in.Op] || c.flow.on
	if covered && early {
		c.throw(c.now.uninit)
	}
	if e := &byOp[c.in.Op]; e.known {
		c.apply(e)
	} else if f := specials[c.in.Op]; f != nil {
		f(c)
	} else {
		c.fail("bad instruction")
	}
	if c.err != nil {
		return false
	}
	reached := c.leave()
	switch {
	case !covered || c.err != nil:
	case !early:
		c.throw(c.now.uninit || c.newThis)
	case c.flow.on && c.newInit: // the object may be as before or initialized; when super() failed it is lost
		before := c.now.noReturn
		c.now.noReturn = before || c.newThis
		c.throw(c.now.uninit)
		c.now.noReturn = before
	}
	return reached
}

// leave checks the targets of a branch.
func (c *checker) leave() bool {
	flow := c.in.Op.Info().Flow
	switch flow {
	case classfile.FlowBranch, classfile.FlowJump:
		c.jump(c.in.Target())
	case classfile.FlowSwitch:
		c.switches()
	}
	return flow == classfile.FlowNext || flow == classfile.FlowBranch
}

func (c *checker) jump(target int) {
	if wrong := c.flowTo(target, c.now.locals, c.now.stack, c.now.uninit); wrong != "" {
		c.fail(fmt.Sprintf("branch to %d: %s", target, wrong))
	}
}

// flowTo takes a path to a branch target or handler and returns what is wrong
// with that.
func (c *checker) flowTo(at int, locals, stack []value, uninit bool) (wrong string) {
	if c.flow.on {
		return c.merge(at, locals, stack, uninit)
	}
	want := c.frameAt(at)
	if want == nil {
		return "no stack map there"
	}
	return c.match(locals, stack, uninit, want)
}

// switchForm checks what does not depend on the stack: padding and order.
func (c *checker) switchForm() (sw classfile.Switch) {
	sw, ok := c.in.Switch(c.code.Bytecode)
	if !ok || c.in.Op == classfile.OpTableswitch && sw.Count == 0 {
		c.failWith(errNoSwitch)
		return
	}
	if c.class.Major < classfile.MajorTypeCheck {
		for i := range classfile.SwitchPadding(c.in.Offset) {
			if c.code.Bytecode[c.in.Offset+1+i] != 0 {
				c.failWith(errNoSwitch)
			}
		}
	}
	for i := 1; i < sw.Count && c.err == nil; i++ {
		if sw.Key(i-1) >= sw.Key(i) {
			c.failWith(errNoSwitch)
		}
	}
	return sw
}

// switches checks form and targets of a switch.
func (c *checker) switches() {
	sw := c.switchForm()
	if c.err != nil {
		return
	}
	c.jump(c.in.Offset + int(sw.Default))
	for i := 0; i < sw.Count && c.err == nil; i++ {
		c.jump(c.in.Offset + int(sw.Offset(i)))
	}
}

// throw checks the handlers that cover the instruction.
func (c *checker) throw(uninit bool) {
	c.work += len(c.code.Handlers)
	for i := range c.code.Handlers {
		h := &c.code.Handlers[i]
		if c.in.Offset < int(h.Start) || c.in.Offset >= int(h.End) {
			continue
		}
		c.thrown[0] = object(nameThrowable)
		if h.CatchType != 0 {
			c.thrown[0].name, _ = c.class.Pool.ClassName(h.CatchType) // checked by tables
		}
		if c.maxStack < 1 {
			c.fail("operand stack overflow in a handler")
			return
		}
		if wrong := c.flowTo(int(h.Handler), c.now.locals, c.thrown[:], uninit); wrong != "" {
			c.fail(fmt.Sprintf("at handler %d: %s", h.Handler, wrong))
			return
		}
	}
}
