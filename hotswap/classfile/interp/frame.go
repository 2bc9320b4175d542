package interp

import (
	"errors"
	"fmt"
	"math"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// A frame is an invocation. A long or double takes two places, the value in the
// lower one.
type frame struct {
	vm     *VM
	class  *classfile.Class
	code   *classfile.Code
	key    string
	ran    map[int]int64
	locals []Value
	stack  []Value
	pc     int
	next   int
}

func (f *frame) push(v Value) {
	f.stack = append(f.stack, v)
	if words(v) == 2 {
		f.stack = append(f.stack, nil)
	}
}

func (f *frame) drop(n int) { f.stack = f.stack[:len(f.stack)-n] }

func (f *frame) pop() Value {
	v := f.stack[len(f.stack)-1]
	f.drop(1)
	return v
}

func (f *frame) pop2() Value {
	v := f.stack[len(f.stack)-2]
	f.drop(2)
	return v
}

func (f *frame) int() int32     { return f.pop().(int32) }
func (f *frame) long() int64    { return f.pop2().(int64) }
func (f *frame) float() float32 { return f.pop().(float32) }
func (f *frame) dbl() float64   { return f.pop2().(float64) }

// errReturned is what step returns for a method that returned.
var errReturned = errors.New("returned")

func (f *frame) run() (Value, error) {
	for {
		in, err := classfile.Decode(f.code.Bytecode, f.pc)
		if err != nil {
			panic(fmt.Sprintf("%s at %d: %v", f.key, f.pc, err))
		}
		f.vm.Executed[f.key]++
		f.ran[f.pc]++
		if f.vm.ran++; f.vm.ran == f.vm.Most {
			return nil, ErrEndless
		}
		f.next = f.pc + in.Size
		err = f.step(&in)
		switch {
		case err == errReturned:
			if len(f.stack) == 0 {
				return nil, nil
			}
			return f.stack[0], nil
		case err != nil && !f.caught(err):
			return nil, err
		}
		f.pc = f.next
	}
}

// caught goes to the handler of an exception, if there is one.
func (f *frame) caught(err error) bool {
	t, ok := err.(*Thrown)
	if !ok {
		return false
	}
	for _, h := range f.code.Handlers {
		if f.pc < int(h.Start) || f.pc >= int(h.End) {
			continue
		}
		if h.CatchType != 0 {
			class, err := f.class.Pool.ClassName(h.CatchType)
			if err != nil || !f.vm.is(t.Object.Class, class) {
				continue
			}
		}
		f.stack = append(f.stack[:0], t.Object)
		f.next = int(h.Handler)
		return true
	}
	return false
}

// step executes an instruction.
func (f *frame) step(in *classfile.Instr) error {
	switch info := in.Op.Info(); info.Flow {
	case classfile.FlowReturn:
		f.result(in.Op)
		return errReturned
	case classfile.FlowThrow:
		o, _ := f.pop().(*Object)
		if o == nil {
			return f.vm.throw("java/lang/NullPointerException")
		}
		return &Thrown{o}
	case classfile.FlowBranch:
		if f.branches(in.Op) {
			f.next = in.Target()
		}
		return nil
	case classfile.FlowJump:
		f.next = in.Target()
		return nil
	case classfile.FlowSwitch:
		sw, _ := in.Switch(f.code.Bytecode)
		key, to := f.int(), sw.Default
		for i := range sw.Count {
			if sw.Key(i) == key {
				to = sw.Offset(i)
			}
		}
		f.next = in.Offset + int(to)
		return nil
	}
	if slot, ok := in.Local(); ok {
		f.local(in, slot)
		return nil
	}
	switch op := in.Op; {
	case op <= classfile.OpLdc2W:
		return f.constant(in)
	case op >= classfile.OpIaload && op <= classfile.OpSaload:
		return f.load()
	case op >= classfile.OpIastore && op <= classfile.OpSastore:
		return f.store(op)
	case op >= classfile.OpPop && op <= classfile.OpSwap:
		f.shuffle(op)
		return nil
	case op >= classfile.OpIadd && op <= classfile.OpLxor:
		return f.arithmetic(op)
	case op >= classfile.OpI2l && op <= classfile.OpDcmpg:
		f.convert(op)
		return nil
	}
	return f.object(in)
}

// result leaves what is returned alone on the stack.
func (f *frame) result(op classfile.Op) {
	switch op {
	case classfile.OpReturn:
		f.stack = f.stack[:0]
	case classfile.OpLreturn, classfile.OpDreturn:
		f.stack = append(f.stack[:0], f.pop2())
	default:
		f.stack = append(f.stack[:0], f.pop())
	}
}

func (f *frame) branches(op classfile.Op) bool {
	compare := func(a, b int32) bool {
		switch (op - classfile.OpIfeq) % 6 {
		case 0:
			return a == b
		case 1:
			return a != b
		case 2:
			return a < b
		case 3:
			return a >= b
		case 4:
			return a > b
		}
		return a <= b
	}
	switch {
	case op <= classfile.OpIfle:
		return compare(f.int(), 0)
	case op <= classfile.OpIfIcmple:
		b, a := f.int(), f.int()
		return compare(a, b)
	case op == classfile.OpIfAcmpeq:
		return f.pop() == f.pop()
	case op == classfile.OpIfAcmpne:
		return f.pop() != f.pop()
	}
	return (f.pop() == nil) == (op == classfile.OpIfnull)
}

// local executes a load, a store or iinc.
func (f *frame) local(in *classfile.Instr, slot int) {
	switch pop := in.Op.Info().Pop; {
	case in.Op == classfile.OpIinc:
		f.locals[slot] = f.locals[slot].(int32) + in.B
	case pop == 0:
		f.push(f.locals[slot])
	case pop == 2:
		f.locals[slot] = f.pop2()
	default:
		f.locals[slot] = f.pop()
	}
}

// constant executes what pushes one.
func (f *frame) constant(in *classfile.Instr) error {
	p := &f.class.Pool
	switch op := in.Op; {
	case op == classfile.OpNop:
	case op == classfile.OpAconstNull:
		f.push(nil)
	case op <= classfile.OpIconst5:
		f.push(int32(op) - int32(classfile.OpIconst0))
	case op <= classfile.OpLconst1:
		f.push(int64(op - classfile.OpLconst0))
	case op <= classfile.OpFconst2:
		f.push(float32(op - classfile.OpFconst0))
	case op <= classfile.OpDconst1:
		f.push(float64(op - classfile.OpDconst0))
	case op <= classfile.OpSipush:
		f.push(in.A)
	default:
		i := uint16(in.A)
		bits, _ := p.Number(i)
		switch p.Tag(i) {
		case classfile.TagInteger:
			f.push(int32(bits))
		case classfile.TagLong:
			f.push(int64(bits))
		case classfile.TagFloat:
			f.push(math.Float32frombits(uint32(bits)))
		case classfile.TagDouble:
			f.push(math.Float64frombits(bits))
		case classfile.TagString:
			s, _ := p.String(i)
			f.push(s)
		case classfile.TagClass:
			s, _ := p.ClassName(i)
			f.push(&Object{Class: "java/lang/Class", Fields: map[string]Value{"name": s}})
		default:
			panic(fmt.Sprintf("%s: a constant of kind %v", f.key, p.Tag(i)))
		}
	}
	return nil
}
