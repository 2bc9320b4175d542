package verify_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/classtest"
)

// mutate changes one method of a class.
func mutate(cf classtest.Class, r *rand.Rand) (mutant, bool) {
	c, err := classfile.Parse(cf.Bytes)
	if err != nil || len(c.Methods) == 0 || c.Name() == "module-info" {
		return mutant{}, false
	}
	if r.IntN(10) == 0 {
		return mutateMembers(c, cf, r)
	}
	at := r.IntN(len(c.Methods))
	m := &c.Methods[at]
	a := m.Attribute(classfile.AttrCode)
	if a == nil {
		return mutant{}, false
	}
	a.Info = append([]byte(nil), a.Info...)
	code, err := c.Code(m) // shares memory with a.Info
	if err != nil {
		return mutant{}, false
	}
	what := fmt.Sprintf("%s.%s%s", c.Name(), m.Name, m.Desc)
	for range 1 + r.IntN(2) {
		what += change(c, a, code, r)
	}
	return mutant{c, at, c.Bytes(), what}, true
}

// change makes one change and says which.
func change(c *classfile.Class, a *classfile.Attribute, code *classfile.Code, r *rand.Rand) string {
	maps := code.Attribute(classfile.AttrStackMapTable)
	switch k := r.IntN(40); {
	case k >= 20: // an opcode for a like one, or another constant or slot
		ins := instructions(code.Bytecode)
		in := ins[r.IntN(len(ins))]
		at := in.Offset + r.IntN(in.Size)
		code.Bytecode[at] = byte(int(code.Bytecode[at]) + 1 - 2*r.IntN(2))
		return fmt.Sprintf(", %s at %d byte %d now %d", in.Op, in.Offset, at, code.Bytecode[at])
	case k < 2 && len(code.Attributes) > 0: // a byte of a table for debuggers
		table := code.Attributes[r.IntN(len(code.Attributes))]
		if len(table.Info) == 0 {
			return ""
		}
		i := r.IntN(len(table.Info))
		table.Info[i] = byte(r.IntN(12))
		if r.IntN(3) == 0 {
			table.Info[i] = byte(len(code.Bytecode))
		}
		return fmt.Sprintf(", %s byte %d is %d", table.Name, i, table.Info[i])
	case k == 2: // another constant of the same kind
		ins := instructions(code.Bytecode)
		in := ins[r.IntN(len(ins))]
		tag := c.Pool.Tag(uint16(in.A))
		if in.Size < 3 || in.Op.Info().Flow != classfile.FlowNext || tag == classfile.TagNone {
			return ""
		}
		for range 100 {
			if i := uint16(r.IntN(c.Pool.Len())); c.Pool.Tag(i) == tag {
				binary.BigEndian.PutUint16(code.Bytecode[in.Offset+1:], i)
				return fmt.Sprintf(", %s at %d of constant %d", in.Op, in.Offset, i)
			}
		}
		return ""
	case k < 8 && maps != nil: // a byte of the stack maps
		i := r.IntN(len(maps.Info))
		maps.Info[i] = byte(r.IntN(12))
		return fmt.Sprintf(", stack map byte %d is %d", i, maps.Info[i])
	case k == 8: // max_stack
		binary.BigEndian.PutUint16(a.Info, uint16(max(0, int(code.MaxStack)-1)))
		return ", max_stack one less"
	case k == 9: // max_locals
		binary.BigEndian.PutUint16(a.Info[2:], uint16(max(0, int(code.MaxLocals)-1)))
		return ", max_locals one less"
	case k == 10 && len(code.Handlers) > 0: // a handler
		i := 8 + len(code.Bytecode) + 2 + r.IntN(len(code.Handlers)*classfile.HandlerSize)
		a.Info[i] = byte(r.IntN(len(code.Bytecode) + 1))
		return fmt.Sprintf(", exception table byte at %d is %d", i, a.Info[i])
	case k < 15: // an opcode for another
		ins := instructions(code.Bytecode)
		in := ins[r.IntN(len(ins))]
		code.Bytecode[in.Offset] = byte(r.IntN(202))
		return fmt.Sprintf(", %s at %d became %s", in.Op, in.Offset, classfile.Op(code.Bytecode[in.Offset]))
	case k < 18: // an instruction becomes nothing
		ins := instructions(code.Bytecode)
		in := ins[r.IntN(len(ins))]
		clear(code.Bytecode[in.Offset : in.Offset+in.Size])
		return fmt.Sprintf(", %s at %d became nops", in.Op, in.Offset)
	default: // any byte
		i := r.IntN(len(code.Bytecode))
		code.Bytecode[i] = byte(r.IntN(256))
		return fmt.Sprintf(", byte %d is %d", i, code.Bytecode[i])
	}
}

func instructions(code []byte) (ins []classfile.Instr) {
	s := classfile.Scan(code)
	for s.Next() {
		ins = append(ins, s.Instr)
	}
	if len(ins) == 0 {
		ins = append(ins, classfile.Instr{Size: 1})
	}
	return ins
}

// mutateMembers changes what a class says about a method of its own or of
// another class: flags, name, descriptor, or which of them belong together.
func mutateMembers(c *classfile.Class, cf classtest.Class, r *rand.Rand) (mutant, bool) {
	b := append([]byte(nil), cf.Bytes...)
	var at []int // constants
	end := 10
	for i := 1; i < c.Pool.Len(); i++ {
		tag := c.Pool.Tag(uint16(i))
		switch tag {
		case classfile.TagFieldref, classfile.TagMethodref, classfile.TagInterfaceMethodref, classfile.TagNameAndType,
			classfile.TagDynamic, classfile.TagInvokeDynamic, classfile.TagMethodHandle, classfile.TagMethodType:
			at = append(at, end)
		case classfile.TagNone: // the second half of a long
			continue
		}
		end += constantSize(b[end:])
	}
	if r.IntN(3) == 0 || len(at) == 0 {
		m := &c.Methods[r.IntN(len(c.Methods))]
		m.Access ^= 1 << r.IntN(12)
		return mutant{c, -1, c.Bytes(), fmt.Sprintf("%s.%s%s, flags now %#x", c.Name(), m.Name, m.Desc, m.Access)}, true
	}
	i := at[r.IntN(len(at))]
	j := i + 1
	switch classfile.Tag(b[i]) {
	case classfile.TagNameAndType:
		j += 2 * r.IntN(2)
	case classfile.TagMethodType:
	case classfile.TagMethodHandle:
		if r.IntN(2) == 0 {
			b[j] = byte(r.IntN(11))
			return mutant{c, -1, b, fmt.Sprintf("%s, kind of the handle at %d is %d", c.Name(), i, b[j])}, true
		}
		j++
	default:
		j += 2
	}
	tag := c.Pool.Tag(binary.BigEndian.Uint16(b[j:]))
	for range 100 {
		if k := uint16(r.IntN(c.Pool.Len())); c.Pool.Tag(k) == tag {
			binary.BigEndian.PutUint16(b[j:], k)
			return mutant{c, -1, b, fmt.Sprintf("%s, constant of kind %d at %d says %d", c.Name(), b[i], i, k)}, true
		}
	}
	return mutant{}, false
}

// constantSize returns the length of a constant in the file (table 4.4-A).
func constantSize(b []byte) int {
	switch classfile.Tag(b[0]) {
	case classfile.TagUtf8:
		return 3 + int(binary.BigEndian.Uint16(b[1:]))
	case classfile.TagLong, classfile.TagDouble:
		return 9
	case classfile.TagMethodHandle:
		return 4
	case classfile.TagClass, classfile.TagString, classfile.TagMethodType, classfile.TagModule, classfile.TagPackage:
		return 3
	}
	return 5
}
