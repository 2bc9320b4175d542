package verify

import (
	"errors"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// tables checks what HotSpot checks of the exception table and the tables for
// debuggers.
func (c *checker) tables() {
	c.debugTables()
	n := len(c.code.Bytecode)
	c.exMin = n
	for _, h := range c.code.Handlers {
		end := int(h.End)
		if h.Start >= h.End || !c.isStart(int(h.Start)) || !c.isStart(int(h.Handler)) || end != n && !c.isStart(end) || c.flow.on && h.Handler == 0 {
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
}

// maxMapWords bounds the words of all stack maps of a method, which a few
// bytes can blow up.
const maxMapWords = 64 << 20 / 32

// entryTag marks, in place of VObject, the objects among the parameters: their
// Data is an index into checker.entry, since the pool may lack their classes.
const entryTag classfile.VTag = 255

// entryTypes returns the locals at method entry as the reader of stack maps
// builds on them.
func (c *checker) entryTypes() []classfile.VType {
	ts := c.maps.Locals[:0]
	locals := c.now.locals
	for i := 0; i < len(locals); i++ {
		t := classfile.VType{Tag: vtags[locals[i].tag]}
		if locals[i].tag == tagObject {
			t = classfile.VType{Tag: entryTag, Data: uint16(len(c.entry))}
			c.entry = append(c.entry, locals[i])
		}
		ts = append(ts, t)
		i += t.Slots() - 1
	}
	for len(ts) > 0 && ts[len(ts)-1].Tag == classfile.VTop { // not a parameter
		ts = ts[:len(ts)-1]
	}
	return ts
}

// secondTry reports whether stack maps that are wrong in this way leave a class
// of version 50 to the old verifier. HotSpot throws at once for those whose
// bytes make no sense.
func secondTry(err error) bool {
	for _, form := range []error{errMapOrder, errMapLocals, errMapStack, errNotNew, classfile.ErrFrameSize} {
		if errors.Is(err, form) {
			return true
		}
	}
	return false
}

// readMaps reads the stack maps.
func (c *checker) readMaps(a *classfile.Attribute) {
	if a == nil || len(a.Info) == 0 { // HotSpot takes an empty one for none
		return
	}
	r := &c.maps
	r.Reset(a, c.code, c.entryTypes())
	r.Check, r.CheckAll = nil, nil
	if c.class.Major == classfile.MajorStackMaps { // what is wrong first decides whether there is a second try
		r.Check, r.CheckAll = c.mapType, c.mapTypes
	}
	for r.Next() {
		if err := c.readMap(r); err != nil {
			c.in.Offset = r.Offset
			c.failWith(err)
			c.badMaps = !secondTry(err)
			return
		}
	}
	if err := r.Err(); err != nil {
		c.failWith(err)
		c.badMaps = !secondTry(err)
	}
}

// mapType checks a type of a stack map as it is read. HotSpot reads a list of
// types to its end even when the offset of a new is wrong, and complains at
// once about bytes that make no sense.
func (c *checker) mapType(t classfile.VType) error {
	if t.Tag == classfile.VUninitialized && !c.isNew(int(t.Data)) {
		c.listed = errNotNew
	}
	if t.Tag == classfile.VObject {
		_, err := c.class.Pool.ClassName(t.Data)
		return err
	}
	return nil
}

// mapTypes says what is wrong with a list of types that has been read.
func (c *checker) mapTypes() error {
	switch {
	case c.listed != nil:
		return c.listed
	case slots(c.maps.Locals) > int(c.code.MaxLocals):
		return errMapLocals
	case slots(c.maps.Stack) > c.maxStack:
		return errMapStack
	}
	return nil
}

func slots(ts []classfile.VType) (n int) {
	for _, t := range ts {
		n += t.Slots()
	}
	return n
}

func (c *checker) readMap(r *classfile.FrameReader) (err error) {
	f := frame{offset: r.Offset}
	if n := len(c.frames); n > 0 && r.SameLocals {
		f.locals, f.uninit = c.frames[n-1].locals, c.frames[n-1].uninit
	} else {
		start := len(c.words)
		if c.words, err = c.expand(c.words, r.Locals); err != nil {
			return err
		}
		f.locals = c.words[start:]
		for _, v := range f.locals {
			f.uninit = f.uninit || v.tag == tagUninitThis
		}
	}
	start := len(c.words)
	if c.words, err = c.expand(c.words, r.Stack); err != nil {
		return err
	}
	f.stack = c.words[start:]
	c.frames = append(c.frames, f)
	switch {
	case len(f.locals) > len(c.now.locals):
		return errMapLocals
	case len(f.stack) > c.maxStack:
		return errMapStack
	case len(c.words) > maxMapWords:
		return classfile.ErrUnsupported
	case !c.isStart(r.Offset):
		return errMapOrder
	}
	return nil
}
