package interp

import (
	"fmt"
	"strings"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// must is for constants of class files that have been read.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// element pops an index and an array.
func (f *frame) element() (*Object, int, error) {
	i := f.int()
	a, _ := f.pop().(*Object)
	switch {
	case a == nil:
		return nil, 0, f.vm.throw("java/lang/NullPointerException")
	case i < 0 || int(i) >= len(a.Elements):
		return nil, 0, f.vm.throw("java/lang/ArrayIndexOutOfBoundsException")
	}
	return a, int(i), nil
}

func (f *frame) load() error {
	a, i, err := f.element()
	if err == nil {
		f.push(a.Elements[i])
	}
	return err
}

func (f *frame) store(op classfile.Op) error {
	var v Value
	if op == classfile.OpLastore || op == classfile.OpDastore {
		v = f.pop2()
	} else {
		v = f.pop()
	}
	a, i, err := f.element()
	if err == nil {
		a.Elements[i] = v
	}
	return err
}

// object executes what is about fields, methods, objects and arrays.
func (f *frame) object(in *classfile.Instr) error {
	p, i := &f.class.Pool, uint16(in.A)
	switch in.Op {
	case classfile.OpGetstatic, classfile.OpPutstatic, classfile.OpGetfield, classfile.OpPutfield:
		return f.field(in.Op, must(p.MemberRef(i)))
	case classfile.OpInvokevirtual, classfile.OpInvokespecial, classfile.OpInvokestatic, classfile.OpInvokeinterface:
		return f.call(in.Op, must(p.MemberRef(i)))
	case classfile.OpInvokedynamic:
		return f.link(must(p.Dynamic(i)))
	case classfile.OpNew:
		name := must(p.ClassName(i))
		err := f.vm.initialize(name)
		o := &Object{Class: name, Fields: map[string]Value{}}
		f.push(o)
		if err == nil {
			f.made(o)
		}
		return err
	case classfile.OpNewarray:
		return f.array("[" + string(" ZCFDBSIJ"[in.A-3]))
	case classfile.OpAnewarray:
		name := must(p.ClassName(i))
		if !strings.HasPrefix(name, "[") {
			name = "L" + name + ";"
		}
		return f.array("[" + name)
	case classfile.OpMultianewarray:
		return f.arrays(must(p.ClassName(i)), int(in.B))
	case classfile.OpArraylength:
		a, _ := f.pop().(*Object)
		if a == nil {
			return f.vm.throw("java/lang/NullPointerException")
		}
		f.push(int32(len(a.Elements)))
	case classfile.OpCheckcast:
		if v := f.stack[len(f.stack)-1]; v != nil && !f.vm.is(classOf(v), must(p.ClassName(i))) {
			return f.vm.throw("java/lang/ClassCastException")
		}
	case classfile.OpInstanceof:
		v := f.pop()
		f.push(order(false, v != nil && f.vm.is(classOf(v), must(p.ClassName(i)))))
	case classfile.OpMonitorenter, classfile.OpMonitorexit:
		if f.pop() == nil {
			return f.vm.throw("java/lang/NullPointerException")
		}
	default:
		panic(fmt.Sprintf("%s: %v", f.key, in.Op))
	}
	return nil
}

// take pops a value of a descriptor's type.
func (f *frame) take(desc string) Value {
	if classfile.Words(desc) == 2 {
		return f.pop2()
	}
	return f.pop()
}

func (f *frame) field(op classfile.Op, r classfile.MemberRef) error {
	vm := f.vm
	if op == classfile.OpGetstatic || op == classfile.OpPutstatic {
		class := r.Class
		for c := class; c != ""; c = vm.super(c) { // where it is declared
			if k := vm.classes[c]; k != nil && declares(k, r.Name) {
				class = c
				break
			}
		}
		if err := vm.initialize(class); err != nil {
			return err
		}
		key := class + "." + r.Name
		if op == classfile.OpPutstatic {
			vm.statics[key] = f.take(r.Desc)
			return nil
		}
		v, ok := vm.statics[key]
		if !ok {
			v = zero(r.Desc)
		}
		f.push(v)
		return nil
	}
	var v Value
	if op == classfile.OpPutfield {
		v = f.take(r.Desc)
	}
	o, _ := f.pop().(*Object)
	if o == nil {
		return vm.throw("java/lang/NullPointerException")
	}
	if op == classfile.OpPutfield {
		o.Fields[r.Name] = v
		return nil
	}
	v, ok := o.Fields[r.Name]
	if !ok {
		v = zero(r.Desc)
	}
	f.push(v)
	return nil
}

func declares(c *classfile.Class, field string) bool {
	for i := range c.Fields {
		if c.Fields[i].Name == field {
			return true
		}
	}
	return false
}

// arguments pops what a descriptor says, and with it a receiver if there is one.
func (f *frame) arguments(desc string, receiver bool) []Value {
	params, _, err := classfile.Params(desc, nil)
	if err != nil {
		panic(err)
	}
	args := make([]Value, len(params)+1)
	for i := len(params) - 1; i >= 0; i-- {
		args[i+1] = f.take(params[i])
	}
	if !receiver {
		return args[1:]
	}
	args[0] = f.pop()
	return args
}

func (f *frame) call(op classfile.Op, r classfile.MemberRef) error {
	args := f.arguments(r.Desc, op != classfile.OpInvokestatic)
	v, err := f.vm.dispatch(op, r, args)
	if err == nil && !strings.HasSuffix(r.Desc, ")V") {
		f.push(v)
	}
	return err
}

// dispatch selects a method and runs it.
func (vm *VM) dispatch(op classfile.Op, r classfile.MemberRef, args []Value) (Value, error) {
	class := r.Class
	switch op {
	case classfile.OpInvokestatic:
		if err := vm.initialize(class); err != nil {
			return nil, err
		}
	case classfile.OpInvokevirtual, classfile.OpInvokeinterface:
		if args[0] == nil {
			return nil, vm.throw("java/lang/NullPointerException")
		}
		class = classOf(args[0])
		if o, _ := args[0].(*Object); o != nil && o.handle.Kind != 0 {
			return vm.handle(o.handle, append(append([]Value(nil), o.captured...), args[1:]...))
		}
	}
	return vm.invoke(class, r.Name, r.Desc, args)
}

// link executes invokedynamic of a lambda or method reference: what is made has
// the implementation's handle, which is the bootstrap method's second argument.
func (f *frame) link(d classfile.Dynamic) error {
	rows := must(f.class.BootstrapMethods())
	h := must(f.class.Pool.MethodHandle(rows[d.Bootstrap].Handle))
	if h.Ref.Class != "java/lang/invoke/LambdaMetafactory" {
		panic(f.key + ": invokedynamic of " + h.Ref.Class)
	}
	captured := f.arguments(d.Desc, false)
	if len(captured) > 0 {
		f.made(&Object{Class: f.class.Name() + "$$Lambda:" + d.Desc[1:strings.IndexByte(d.Desc, ')')]})
	}
	f.push(&Object{Class: "lambda", handle: must(f.class.Pool.MethodHandle(rows[d.Bootstrap].Args[1])), captured: captured})
	return nil
}

// handle calls what a method handle stands for.
func (vm *VM) handle(h classfile.MethodHandle, args []Value) (Value, error) {
	switch h.Kind {
	case classfile.RefNewInvokeSpecial:
		o := &Object{Class: h.Ref.Class, Fields: map[string]Value{}}
		_, err := vm.dispatch(classfile.OpInvokespecial, h.Ref, append([]Value{o}, args...))
		return o, err
	case classfile.RefInvokeStatic:
		return vm.dispatch(classfile.OpInvokestatic, h.Ref, args)
	case classfile.RefInvokeSpecial:
		return vm.dispatch(classfile.OpInvokespecial, h.Ref, args)
	}
	return vm.dispatch(classfile.OpInvokevirtual, h.Ref, args)
}

func (f *frame) array(desc string) error {
	n := f.int()
	if n < 0 {
		return f.vm.throw("java/lang/NegativeArraySizeException")
	}
	a := newArray(desc, []int32{n})
	f.made(a)
	f.push(a)
	return nil
}

func (f *frame) arrays(desc string, dimensions int) error {
	sizes := make([]int32, dimensions)
	for i := dimensions - 1; i >= 0; i-- {
		sizes[i] = f.int()
	}
	for _, n := range sizes {
		if n < 0 {
			return f.vm.throw("java/lang/NegativeArraySizeException")
		}
	}
	a := newArray(desc, sizes)
	f.made(a)
	f.push(a)
	return nil
}

func newArray(desc string, sizes []int32) *Object {
	a := &Object{Class: desc, Elements: make([]Value, sizes[0])}
	for i := range a.Elements {
		if len(sizes) > 1 {
			a.Elements[i] = newArray(desc[1:], sizes[1:])
		} else {
			a.Elements[i] = zero(desc[1:])
		}
	}
	return a
}
