package verify

import (
	"fmt"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// ErrSubroutines says that a method has jsr or ret, which only the JVM's old
// verifier understands. Such methods are never rewritten.
var ErrSubroutines = fmt.Errorf("%w: jsr or ret (JVMS §4.10.2.5)", classfile.ErrUnsupported)

// A flow is the data flow by which the old verifier finds out what stack maps
// would tell (§4.10.2.2). Frames are kept where paths may meet: at the targets
// of branches and at handlers.
type flow struct {
	on     bool
	joins  []int32 // by offset: noJoin, unseen, or where the frame is
	work   []int   // joins to follow again
	queued []bool  // by offset
	chain  []string
}

// What is in flow.joins besides an index.
const (
	noJoin int32 = -2
	unseen int32 = -1
)

// anyClass is the name of a class about which nothing is known: where two paths
// meet whose classes the hierarchy lacks. It may be used as any class.
const anyClass = "?"

// infer verifies a method without stack maps.
func (c *checker) infer() {
	c.flow.on = true
	c.scan()
	c.begin()
	c.tables()
	if c.err == nil {
		c.markJoins()
	}
	if c.err != nil {
		return
	}
	if c.flow.joins[0] == noJoin {
		c.walk(0)
	} else {
		c.flowTo(0, c.now.locals, nil, c.now.uninit)
	}
	for c.err == nil && len(c.flow.work) > 0 {
		n := len(c.flow.work) - 1
		at := c.flow.work[n]
		c.flow.work, c.flow.queued[at] = c.flow.work[:n], false
		f := c.frames[c.flow.joins[at]]
		c.now.locals = append(c.now.locals[:0], f.locals...)
		c.now.stack = append(c.now.stack[:0], f.stack...)
		c.now.uninit, c.now.noReturn = f.uninit, f.noReturn
		c.walk(at)
	}
}

// markJoins finds the places where paths may meet. Code that is never reached
// must have operands that make sense, too.
func (c *checker) markJoins() {
	n := len(c.code.Bytecode)
	f := &c.flow
	f.joins, f.queued = f.joins[:0], append(f.queued[:0], make([]bool, n)...)
	for range n {
		f.joins = append(f.joins, noJoin)
	}
	mark := func(at int) {
		if !c.isStart(at) {
			c.fail(fmt.Sprintf("branch to %d, between instructions", at))
			return
		}
		f.joins[at] = unseen
	}
	for _, h := range c.code.Handlers {
		mark(int(h.Handler))
	}
	if len(c.code.Handlers) > 0 && c.maxStack < 1 {
		c.fail("operand stack overflow in a handler")
	}
	s := classfile.Scan(c.code.Bytecode)
	for c.err == nil && s.Next() {
		c.in = s.Instr
		switch s.Op.Info().Flow {
		case classfile.FlowBranch, classfile.FlowJump:
			mark(s.Target())
		case classfile.FlowSwitch:
			if sw, ok := s.Switch(c.code.Bytecode); ok {
				mark(s.Offset + int(sw.Default))
				for i := range sw.Count {
					mark(s.Offset + int(sw.Offset(i)))
				}
			}
		case classfile.FlowSubroutine, classfile.FlowRet:
			c.failWith(ErrSubroutines)
			return
		}
		c.static()
	}
}

// walk follows instructions up to a join or the end of the path.
func (c *checker) walk(at int) {
	for {
		in, err := classfile.Decode(c.code.Bytecode, at)
		if err != nil {
			c.failWith(err)
			return
		}
		c.in = in
		if !c.instruction() || c.err != nil {
			return
		}
		if at += in.Size; at >= len(c.code.Bytecode) {
			c.fail("control flow falls through code end")
			return
		}
		if c.flow.joins[at] != noJoin {
			if wrong := c.merge(at, c.now.locals, c.now.stack, c.now.uninit); wrong != "" {
				c.fail(wrong)
			}
			return
		}
	}
}

// merge takes what a path brings to a join and follows the join again if that
// changed what is known there.
func (c *checker) merge(at int, locals, stack []value, uninit bool) (wrong string) {
	if c.work += len(locals) + len(stack) + 1; c.work > maxWork || len(c.words) > maxMapWords {
		c.failWith(errWork)
		return errWork.Error()
	}
	i := c.flow.joins[at]
	if i == unseen {
		start := len(c.words)
		c.words = append(append(c.words, locals...), stack...)
		middle, end := start+len(locals), len(c.words)
		c.flow.joins[at] = int32(len(c.frames))
		c.frames = append(c.frames, frame{
			locals: c.words[start:middle:middle], stack: c.words[middle:end:end],
			offset: at, uninit: uninit, noReturn: c.now.noReturn,
		})
		c.queue(at)
		return ""
	}
	f := &c.frames[i]
	if len(f.stack) != len(stack) {
		return fmt.Sprintf("stack of %d words where another path has %d", len(stack), len(f.stack))
	}
	changed := false
	for i, v := range locals {
		if f.locals[i] != v && !c.fits(v, f.locals[i]) {
			if m := c.meet(f.locals[i], v); m != f.locals[i] {
				f.locals[i], changed = m, true
			}
		}
	}
	for i, v := range stack {
		if c.fits(v, f.stack[i]) {
			continue
		}
		m := c.meet(f.stack[i], v)
		if m.tag == tagTop {
			return fmt.Sprintf("stack word %d is %v, %v on another path", i, v, f.stack[i])
		}
		if m != f.stack[i] {
			f.stack[i], changed = m, true
		}
	}
	if uninit && !f.uninit || c.now.noReturn && !f.noReturn {
		f.uninit, f.noReturn, changed = f.uninit || uninit, f.noReturn || c.now.noReturn, true
	}
	if changed {
		c.queue(at)
	}
	return ""
}

func (c *checker) queue(at int) {
	if !c.flow.queued[at] {
		c.flow.queued[at] = true
		c.flow.work = append(c.flow.work, at)
	}
}

// renew makes the values useless that an earlier run of a new instruction
// left, which could pass for those of this run.
func (c *checker) renew(v value) {
	for i := range c.now.locals {
		if c.now.locals[i] == v {
			c.now.locals[i] = vTop
		}
	}
	for _, s := range c.now.stack {
		if s == v {
			c.fail("uninitialized object on the stack where it is created")
		}
	}
}
