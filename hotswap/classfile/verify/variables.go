package verify

import (
	"encoding/binary"
	"errors"

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

// debugTables checks the tables for debuggers as the parser of HotSpot does.
// It skips the check for classes of the boot loader; we do not.
func (c *checker) debugTables() {
	var known map[variable]bool // whether it has a generic type, too
	for i := range c.code.Attributes {
		switch a := &c.code.Attributes[i]; a.Name {
		case classfile.AttrLineNumbers:
			c.lines(a.Info)
		case classfile.AttrLocalVariables:
			c.variables(a.Info, true, func(v variable) {
				if known == nil {
					known = map[variable]bool{}
				}
				if _, twice := known[v]; twice && c.class.Major >= majorAnyName {
					c.failWith(errDuplicate)
				}
				known[v] = false
			})
		}
	}
	for i := range c.code.Attributes {
		if a := &c.code.Attributes[i]; a.Name == classfile.AttrLocalVariableTypes && c.class.Major >= majorAnyName {
			c.variables(a.Info, false, func(v variable) {
				typed, there := known[v]
				switch {
				case known == nil:
				case !there:
					c.failWith(errNoVariable)
				case typed:
					c.failWith(errDuplicate)
				default:
					known[v] = true
				}
			})
		}
	}
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

// variables checks the rows of a table and yields them.
func (c *checker) variables(b []byte, typed bool, yield func(variable)) {
	const row = 10
	if len(b) < 2 || len(b)-2 != row*int(binary.BigEndian.Uint16(b)) {
		c.failWith(errVariables)
		return
	}
	pool := &c.class.Pool
	for b = b[2:]; len(b) >= row && c.err == nil; b = b[row:] {
		u2 := func(i int) uint16 { return binary.BigEndian.Uint16(b[2*i:]) }
		v := variable{start: u2(0), length: u2(1), name: u2(2), slot: u2(4)}
		name, err1 := pool.Utf8(v.name)
		desc, err2 := pool.Utf8(u2(3))
		last := int(v.slot)
		if typed && (desc == "J" || desc == "D") {
			last++
		}
		n := len(c.code.Bytecode)
		switch {
		case err1 != nil || err2 != nil || !fieldName(name, c.class.Major), typed && !fieldDesc(desc, c.class.Major),
			int(v.start) >= n, int(v.start)+int(v.length) > n, last >= int(c.code.MaxLocals):
			c.failWith(errVariables)
		default:
			yield(v)
		}
	}
}

// variableRanges checks that local variables live from one instruction to
// another, which the old verifier does not ask.
func (c *checker) variableRanges() {
	n := len(c.code.Bytecode)
	for i := range c.code.Attributes {
		if a := &c.code.Attributes[i]; a.Name == classfile.AttrLocalVariables {
			c.variables(a.Info, true, func(v variable) {
				if end := int(v.start) + int(v.length); !c.isStart(int(v.start)) || end != n && !c.isStart(end) {
					c.failWith(errLocalVars)
				}
			})
		}
	}
}
