package verify

import (
	"encoding/binary"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// tables checks what HotSpot checks of the exception table and the local
// variable table.
func (c *checker) tables() {
	n := len(c.code.Bytecode)
	c.exMin = n
	for _, h := range c.code.Handlers {
		end := int(h.End)
		if h.Start >= h.End || !c.isStart(int(h.Start)) || !c.isStart(int(h.Handler)) || end != n && !c.isStart(end) {
			c.failWith(errHandlers)
			return
		}
		if h.CatchType != 0 {
			name, err := c.class.Pool.ClassName(h.CatchType)
			if err == nil && !assignable(c.classes, name, nameThrowable, false) {
				err = errNoCatch
			}
			c.failWith(err)
		}
		c.exMin, c.exMax = min(c.exMin, int(h.Start)), max(c.exMax, end)
	}
	for i := range c.code.Attributes {
		if a := &c.code.Attributes[i]; a.Name == classfile.AttrLocalVariables {
			c.variables(a.Info)
		}
	}
}

// variables checks a LocalVariableTable.
func (c *checker) variables(b []byte) {
	const row = 10
	if len(b) < 2 || (len(b)-2) != row*int(binary.BigEndian.Uint16(b)) {
		c.failWith(errVariables)
		return
	}
	n := len(c.code.Bytecode)
	for b = b[2:]; len(b) >= row; b = b[row:] {
		start := int(binary.BigEndian.Uint16(b))
		end := start + int(binary.BigEndian.Uint16(b[2:]))
		if !c.isStart(start) || end != n && !c.isStart(end) {
			c.failWith(errLocalVars)
			return
		}
	}
}

// maxMapWords bounds the words of all stack maps of a method, which a few
// bytes can blow up.
const maxMapWords = 64 << 20 / 32

// readMaps reads the stack maps.
func (c *checker) readMaps(a *classfile.Attribute) {
	c.frames = map[int]*frame{}
	if a == nil {
		return
	}
	entry, err := c.class.EntryLocals(c.method, nil)
	if err != nil {
		c.failWith(err)
		return
	}
	r := classfile.NewFrameReader(a, c.code, entry)
	words := 0
	for r.Next() {
		if !c.isStart(r.Offset) {
			c.failWith(errMapOrder)
			return
		}
		f := &frame{}
		if f.locals, err = c.expand(nil, r.Locals); err == nil {
			f.stack, err = c.expand(nil, r.Stack)
		}
		switch words += len(f.locals) + len(f.stack); {
		case err != nil:
		case len(f.locals) > len(c.now.locals):
			err = errMapLocals
		case len(f.stack) > c.maxStack:
			err = errMapStack
		case words > maxMapWords:
			err = classfile.ErrUnsupported
		}
		if err != nil {
			c.in.Offset = r.Offset
			c.failWith(err)
			return
		}
		for _, v := range f.locals {
			f.uninit = f.uninit || v.tag == tagUninitThis
		}
		c.frames[r.Offset] = f
		c.order = append(c.order, r.Offset)
	}
	c.failWith(r.Err())
}
