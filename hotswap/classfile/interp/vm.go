// Package interp runs small programs from their class files, one instruction at
// a time, and counts what each method executes: an oracle for tests of what
// rewrites class files, which shares nothing with it but the reader.
//
// It knows all instructions (JVMS §6.5) but jsr and ret, and of the JDK no more
// than such programs need: exceptions, strings as constants, and what a caller
// adds to [VM].Natives. Lambdas and method references are called as they
// are. There are no threads and no verification; a program that doesn't verify
// may panic.
//
// A count is what a debugger that steps sees: an instruction that throws was
// executed. A VM is for one goroutine.
package interp

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// A Value is an int32, int64, float32, float64 or, for references, an *Object, a
// string, or nil.
type Value = any

// An Object is an instance of a class, an array, or a lambda.
type Object struct {
	Class    string           // internal name, or an array's descriptor
	Fields   map[string]Value // by name
	Elements []Value          // of an array

	handle   classfile.MethodHandle // of a lambda
	captured []Value
}

// A Thrown is an exception that left a method.
type Thrown struct{ Object *Object }

// Error implements error.
func (t *Thrown) Error() string { return "exception " + t.Object.Class }

// A Native is a method that the VM's user implements. The error is a [*Thrown].
type Native func(args []Value) (Value, error)

// A VM is the state of a program. Create it with [New].
type VM struct {
	Natives  map[string]Native // by class, a dot, name and descriptor
	Executed map[string]int64  // instructions, by the same names
	Calls    map[string]int64
	At       map[string]map[int]int64 // how often the instruction at an offset was executed
	Made     map[Made]Size            // what methods allocate by instructions for that
	Most     int64                    // instructions after which a program ends with [ErrEndless]; 0 for no end

	classes map[string]*classfile.Class
	codes   map[string]*classfile.Code
	statics map[string]Value
	begun   map[string]bool // class initializers
	depth   int
	ran     int64
}

// A Made is a type that a method allocates, the type as its class file names it: a
// class in internal form, or an array's descriptor.
type Made struct{ Method, Type string }

// A Size is how many objects were allocated, and how many elements arrays have.
type Size struct{ Objects, Elements int64 }

// made counts what a method has allocated.
func (f *frame) made(o *Object) {
	k := Made{f.key, o.Class}
	n := f.vm.Made[k]
	f.vm.Made[k] = Size{n.Objects + 1, n.Elements + int64(len(o.Elements))}
	if !strings.HasPrefix(o.Class, "[") {
		return
	}
	for _, e := range o.Elements {
		if in, ok := e.(*Object); ok && in != nil {
			f.made(in)
		}
	}
}

// ErrEndless is the error of a program that has executed VM.Most instructions.
var ErrEndless = errors.New("the program does not end")

// mostDepth is how deep methods may call each other.
const mostDepth = 2000

// New makes a VM of a program's class files. Errors are those of [classfile.Parse].
func New(files ...[]byte) (*VM, error) {
	vm := &VM{
		Natives: map[string]Native{}, Executed: map[string]int64{}, Calls: map[string]int64{}, At: map[string]map[int]int64{}, Made: map[Made]Size{},
		classes: map[string]*classfile.Class{}, codes: map[string]*classfile.Code{}, statics: map[string]Value{}, begun: map[string]bool{},
	}
	for _, b := range files {
		c, err := classfile.Parse(b)
		if err != nil {
			return nil, err
		}
		vm.classes[c.Name()] = c
	}
	for name, n := range jdk {
		vm.Natives[name] = n
	}
	return vm, nil
}

// Call runs a static method. The error is a [*Thrown], or
// [ErrEndless].
func (vm *VM) Call(class, name, desc string, args ...Value) (Value, error) {
	if err := vm.initialize(class); err != nil {
		return nil, err
	}
	return vm.invoke(class, name, desc, args)
}

// supers are the superclasses of what the JDK has that programs may meet.
var supers = map[string]string{
	"java/lang/Exception": "java/lang/Throwable", "java/lang/Error": "java/lang/Throwable",
	"java/lang/RuntimeException":               "java/lang/Exception",
	"java/lang/ArithmeticException":            "java/lang/RuntimeException",
	"java/lang/NullPointerException":           "java/lang/RuntimeException",
	"java/lang/ClassCastException":             "java/lang/RuntimeException",
	"java/lang/NegativeArraySizeException":     "java/lang/RuntimeException",
	"java/lang/IllegalArgumentException":       "java/lang/RuntimeException",
	"java/lang/IllegalStateException":          "java/lang/RuntimeException",
	"java/lang/IndexOutOfBoundsException":      "java/lang/RuntimeException",
	"java/lang/ArrayIndexOutOfBoundsException": "java/lang/IndexOutOfBoundsException",
	"java/lang/StackOverflowError":             "java/lang/Error",
	"java/lang/Throwable":                      "java/lang/Object",
	"java/lang/String":                         "java/lang/Object",
}

// jdk are the methods that every program may call. Constructors of the JDK's
// classes do nothing.
var jdk = map[string]Native{
	"java/lang/String.length()I": func(a []Value) (Value, error) { return int32(len(a[0].(string))), nil },
	"java/lang/String.equals(Ljava/lang/Object;)Z": func(a []Value) (Value, error) {
		if a[0] == a[1] {
			return int32(1), nil
		}
		return int32(0), nil
	},
	"java/lang/String.hashCode()I": func(a []Value) (Value, error) {
		h := int32(0)
		for _, c := range a[0].(string) {
			h = 31*h + c
		}
		return h, nil
	},
	"java/lang/Math.sqrt(D)D": func(a []Value) (Value, error) { return math.Sqrt(a[0].(float64)), nil },
}

func (vm *VM) super(class string) string {
	if c := vm.classes[class]; c != nil {
		return c.Super()
	}
	return supers[class]
}

// is tells whether a class is another or inherits from it.
func (vm *VM) is(class, of string) bool {
	if of == "java/lang/Object" || class == of {
		return true
	}
	if strings.HasPrefix(class, "[") {
		return class[1:] == of[min(1, len(of)):] && strings.HasPrefix(of, "[")
	}
	for c := class; c != ""; c = vm.super(c) {
		if c == of {
			return true
		}
		if k := vm.classes[c]; k != nil {
			for _, i := range k.Interfaces() {
				if vm.is(i, of) {
					return true
				}
			}
		}
	}
	return false
}

func classOf(v Value) string {
	switch v := v.(type) {
	case string:
		return "java/lang/String"
	case *Object:
		return v.Class
	}
	return ""
}

func (vm *VM) throw(class string) error { return &Thrown{&Object{Class: class}} }

// find is the class, from one upwards, that has a method with code or none.
func (vm *VM) find(class, name, desc string) (string, *classfile.Member) {
	for c := class; c != ""; c = vm.super(c) {
		if k := vm.classes[c]; k != nil {
			if m := k.Method(name, desc); m != nil && !m.Access.Has(classfile.AccAbstract) {
				return c, m
			}
		}
	}
	for c := class; c != ""; c = vm.super(c) { // default methods
		if k := vm.classes[c]; k != nil {
			for _, i := range k.Interfaces() {
				if in, m := vm.find(i, name, desc); m != nil {
					return in, m
				}
			}
		}
	}
	return "", nil
}

// initialize runs a class's initializer once.
func (vm *VM) initialize(class string) error {
	c := vm.classes[class]
	if c == nil || vm.begun[class] {
		return nil
	}
	vm.begun[class] = true
	if err := vm.initialize(c.Super()); err != nil {
		return err
	}
	if c.Method("<clinit>", "()V") == nil {
		return nil
	}
	_, err := vm.invoke(class, "<clinit>", "()V", nil)
	return err
}

// invoke runs a method that was selected.
func (vm *VM) invoke(class, name, desc string, args []Value) (Value, error) {
	if n := vm.Natives[class+"."+name+desc]; n != nil {
		return n(args)
	}
	in, m := vm.find(class, name, desc)
	if m == nil {
		if name == "<init>" && vm.classes[class] == nil {
			return nil, nil
		}
		panic(fmt.Sprintf("no method %s.%s%s", class, name, desc))
	}
	key := in + "." + name + desc
	code := vm.codes[key]
	if code == nil {
		var err error
		if code, err = vm.classes[in].Code(m); err != nil || code == nil {
			panic(fmt.Sprintf("%s: %v", key, err))
		}
		vm.codes[key] = code
	}
	if vm.depth++; vm.depth > mostDepth {
		vm.depth--
		return nil, vm.throw("java/lang/StackOverflowError")
	}
	defer func() { vm.depth-- }()
	vm.Calls[key]++
	if vm.At[key] == nil {
		vm.At[key] = map[int]int64{}
	}
	f := frame{vm: vm, class: vm.classes[in], code: code, key: key, ran: vm.At[key], locals: make([]Value, code.MaxLocals)}
	at := 0
	for _, a := range args {
		f.locals[at] = a
		at += words(a)
	}
	return f.run()
}

// words is how many places a value takes in locals and on the stack.
func words(v Value) int {
	switch v.(type) {
	case int64, float64:
		return 2
	}
	return 1
}

// zero is the default of a descriptor's type.
func zero(desc string) Value {
	switch desc[0] {
	case 'J':
		return int64(0)
	case 'D':
		return float64(0)
	case 'F':
		return float32(0)
	case 'L', '[':
		return nil
	}
	return int32(0)
}
