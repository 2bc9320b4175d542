package verify

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

var (
	errLocalVars  = errors.New("local variable table points between instructions")
	errVariables  = errors.New("malformed local variable table")
	errDuplicate  = errors.New("two rows of a local variable table for one variable")
	errNoVariable = errors.New("generic type of a variable that is not there")
	errLines      = errors.New("malformed line number table")
)

// A variable is a row of a LocalVariableTable or LocalVariableTypeTable
// (§4.7.13, §4.7.14). The first four name it.
type variable struct{ start, length, name, slot uint16 }

// compare orders variables, for finding them.
func (v variable) compare(w variable) int {
	return cmp.Or(cmp.Compare(v.start, w.start), cmp.Compare(v.slot, w.slot),
		cmp.Compare(v.length, w.length), cmp.Compare(v.name, w.name))
}

// debugTables checks the tables for debuggers as the parser of HotSpot does.
// It skips the check for classes of the boot loader; we do not.
func (c *checker) debugTables() {
	c.vars, c.typed = c.vars[:0], c.typed[:0]
	for i := range c.code.Attributes {
		switch a := &c.code.Attributes[i]; a.Name {
		case classfile.AttrLineNumbers:
			c.lines(a.Info)
		case classfile.AttrLocalVariables:
			c.vars = c.variables(a.Info, true, c.vars)
		case classfile.AttrLocalVariableTypes:
			if c.class.Major >= majorAnyName {
				c.typed = c.variables(a.Info, false, c.typed)
			}
		}
	}
	if c.class.Major < majorAnyName || c.err != nil || len(c.vars) == 0 {
		return
	}
	slices.SortFunc(c.vars, variable.compare)
	slices.SortFunc(c.typed, variable.compare)
	if twice(c.vars) || twice(c.typed) {
		c.failWith(errDuplicate)
	}
	for _, v := range c.typed {
		if _, ok := slices.BinarySearchFunc(c.vars, v, variable.compare); !ok {
			c.failWith(errNoVariable)
		}
	}
}

// twice reports whether something is there twice in what is sorted.
func twice(vs []variable) bool {
	for i := 1; i < len(vs); i++ {
		if vs[i] == vs[i-1] {
			return true
		}
	}
	return false
}

// lines checks a LineNumberTable.
func (c *checker) lines(b []byte) {
	const row = 4
	if len(b) < 2 || len(b)-2 != row*int(binary.BigEndian.Uint16(b)) {
		c.failWith(errLines)
		return
	}
	for b = b[2:]; len(b) >= row; b = b[row:] {
		if int(binary.BigEndian.Uint16(b)) >= len(c.code.Bytecode) {
			c.failWith(errLines)
		}
	}
}

// variables checks the rows of a table and appends them. That local variables
// live from one instruction to another the old verifier does not ask.
func (c *checker) variables(b []byte, typed bool, vs []variable) []variable {
	const row = 10
	if len(b) < 2 || len(b)-2 != row*int(binary.BigEndian.Uint16(b)) {
		c.failWith(errVariables)
		return vs
	}
	pool, n := &c.class.Pool, len(c.code.Bytecode)
	for b = b[2:]; len(b) >= row && c.err == nil; b = b[row:] {
		u2 := func(i int) uint16 { return binary.BigEndian.Uint16(b[2*i:]) }
		v := variable{start: u2(0), length: u2(1), name: u2(2), slot: u2(4)}
		name, err1 := pool.Utf8(v.name)
		desc, err2 := pool.Utf8(u2(3))
		last := int(v.slot)
		if typed && (desc == "J" || desc == "D") {
			last++
		}
		end := int(v.start) + int(v.length)
		switch {
		case err1 != nil || err2 != nil || !fieldName(name, c.class.Major), typed && !fieldDesc(desc, c.class.Major),
			int(v.start) >= n, end > n, last >= int(c.code.MaxLocals):
			c.failWith(errVariables)
		case typed && !c.flow.on && (!c.isStart(int(v.start)) || end != n && !c.isStart(end)):
			c.failWith(errLocalVars)
		}
		vs = append(vs, v)
	}
	return vs
}
