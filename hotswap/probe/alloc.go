package probe

import (
	"errors"
	"strings"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// Allocated are the static methods that are told of each allocation, see
// [Injector.WithAllocated]. Type and Shape are asked while a class is rewritten.
type Allocated struct {
	Class  string
	Object string // (JI)V: token, type
	Array  string // (IJII)V: length, token, type, shape
	Arrays string // (JJJII)V: arrays, length of each, token, type, shape

	// Survivors is the class of three more methods that get the object as well, behind the return of
	// its constructor; "" for none. They are told besides of what Object, Array and Boxed are told of,
	// except for arrays within others and those of an unknown type.
	Survivors      string
	Survivor       string // (Ljava/lang/Object;JI)V: object, token, type
	SurvivingArray string // (Ljava/lang/Object;IJII)V: array, length, token, type, shape
	SurvivingBox   string // (Ljava/lang/Object;JJI)V: object, value, token, type

	Boxed, BoxedInt string // (JJI)V: value, token, type; an object was returned by valueOf, which may be one that is kept

	// Type returns the number of a type for StepArg to push, and whether it is to be
	// counted. desc is the class in internal form ("java/util/ArrayList"), or an
	// array's descriptor ("[I").
	Type func(desc string) (id int32, ok bool)

	// Shape returns what Array and Arrays need to know of an array's layout, by its
	// descriptor.
	Shape func(desc string) int32

	// Chars tells whether strings keep chars, as up to JDK 8.
	Chars bool

	// Foreign tells whether a class has no probes of its own, so that its allocations
	// are counted where it is called.
	Foreign func(class string) bool

	// Missed is told of calls that allocate what can't be counted.
	Missed func(caller MethodKey, callee string)
}

// allocated are the indices of the calls.
type allocated struct {
	Allocated
	object, array, arrays, boxed, boxedInt int
	survivor, survivorArray, survivorBox   int
}

// WithAllocated returns the injector that counts what methods allocate, right
// behind each instruction that does, so that one that throws counts nothing:
//
//	new T                Object(token, T)
//	newarray, anewarray  Array(array.length, token, T[], shape)
//	multianewarray       for each dimension Arrays(how many, their length, token, type, shape)
//
// and behind calls of the JDK that do, where it is known of what type: copies of arrays,
// boxes, lambdas and method references that capture something, Object.clone,
// concatenations of strings (see [LambdaType]).
//
// The object that new makes is not initialised yet, and its constructor need not be
// called: it is counted all the same. Nothing gets a reference to what was
// allocated, but the methods of x.Survivors. The program must be one of the token probes.
func (in *Injector) WithAllocated(x Allocated) (*Injector, error) {
	p := in.Program
	if p.Local != classfile.VLong {
		return nil, errors.New("probe: only token probes count allocations")
	}
	p.allocated = &allocated{
		Allocated: x,
		object:    p.call(Call{x.Class, x.Object, "(JI)V"}),
		array:     p.call(Call{x.Class, x.Array, "(IJII)V"}),
		arrays:    p.call(Call{x.Class, x.Arrays, "(JJJII)V"}),
		boxed:     p.call(Call{x.Class, x.Boxed, "(JJI)V"}),
		boxedInt:  p.call(Call{x.Class, x.BoxedInt, "(JJI)V"}),
	}
	if x.Survivors != "" {
		p.allocated.survivor = p.call(Call{x.Survivors, x.Survivor, "(Ljava/lang/Object;JI)V"})
		p.allocated.survivorArray = p.call(Call{x.Survivors, x.SurvivingArray, "(Ljava/lang/Object;IJII)V"})
		p.allocated.survivorBox = p.call(Call{x.Survivors, x.SurvivingBox, "(Ljava/lang/Object;JJI)V"})
	}
	return NewInjector(p)
}

// Words of stack that counting an allocation takes above what it finds.
const (
	allocBefore = 1
	allocNeed   = 8
)

// primitive are the descriptors of newarray's operand (JVMS §6.5).
var primitive = [...]string{4: "[Z", 5: "[C", 6: "[F", 7: "[D", 8: "[B", 9: "[S", 10: "[I", 11: "[J"}

// allocates returns the type that an instruction allocates, as Allocated.Type wants
// it; "" if it can't be read.
func (r *rewriter) allocates(in *classfile.Instr) string {
	if in.Op == classfile.OpNewarray {
		if in.A < 0 || int(in.A) >= len(primitive) {
			return ""
		}
		return primitive[in.A]
	}
	name, err := r.class.Pool.ClassName(uint16(in.A))
	if err != nil || name == "" {
		return ""
	}
	if in.Op != classfile.OpAnewarray {
		return name
	}
	if name[0] != '[' {
		name = "L" + name + ";"
	}
	return "[" + name
}

// allocating tells whether the method's allocations are counted.
func (r *rewriter) allocating() bool { return r.program.allocated != nil && !r.plain }

// allocation injects what counts an allocation.
func (r *rewriter) allocation(a *assembler, in *classfile.Instr, sp *spot) error {
	r.allocBefore(a, in, sp)
	sp.to = int32(len(r.in.points))
	if err := r.allocAfter(a, in); err != nil {
		return err
	}
	return r.behindAllocation(sp)
}

// behindAllocation says that what was injected since sp.to goes behind the instruction.
func (r *rewriter) behindAllocation(sp *spot) error {
	if len(r.in.points) > classfile.MaxCode {
		return reasonCodeSize
	}
	if n := int32(len(r.in.points)); n > sp.to {
		sp.after, sp.needed = n, max(sp.needed, allocNeed)
	}
	return nil
}

// allocBefore keeps the dimensions of a multianewarray, which are on the stack, in
// locals.
func (r *rewriter) allocBefore(a *assembler, in *classfile.Instr, sp *spot) {
	if in.Op != classfile.OpMultianewarray {
		return
	}
	n := int(in.B)
	at := a.behind(n + 2)
	store, load := opsByDescriptor['I'], opsByDescriptor['I']
	for i := n - 1; i >= 0; i-- {
		r.in.points = localOp(r.in.points, at+i, store.store, store.store0)
	}
	for i := range n {
		r.in.points = localOp(r.in.points, at+i, load.load, load.load0)
	}
	sp.need = max(sp.need, allocBefore)
}

// allocAfter counts an allocation behind the instruction.
func (r *rewriter) allocAfter(a *assembler, in *classfile.Instr) (err error) {
	x := r.program.allocated
	t := r.allocates(in)
	switch {
	case t == "":
		return malformed("a type that is not there")
	case in.Op == classfile.OpMultianewarray:
		if err := r.allocMany(a, t, int(in.B)); err != nil {
			return err
		}
		return r.survivor(a, t, true, arrayLength)
	case in.Op == classfile.OpNew:
		return r.allocCall(a, nil, t, x.object, false)
	}
	if err := r.allocCall(a, arrayLength, t, x.array, true); err != nil {
		return err
	}
	return r.survivor(a, t, true, arrayLength)
}

// arrayLength puts the length of the array on the stack above it.
var arrayLength = []byte{byte(classfile.OpDup), byte(classfile.OpArraylength)}

// allocCall appends a call behind an allocation, with what is first on the stack;
// nothing if the type is not counted.
func (r *rewriter) allocCall(a *assembler, first []byte, t string, call int, shape bool) (err error) {
	x := r.program.allocated
	id, ok := x.Type(t)
	if !ok {
		return nil
	}
	b := append(r.in.points, first...)
	b = localOp(b, a.slot, classfile.OpLload, classfile.OpLload0)
	if b, err = a.pushInt(b, id); err != nil {
		return err
	}
	if shape {
		if b, err = a.pushInt(b, x.Shape(strings.TrimSuffix(t, EstimatedType))); err != nil {
			return err
		}
	}
	r.in.points, err = a.sequence(b, Sequence{{Kind: StepCall, Call: call}})
	return err
}

// allocMany counts the arrays of a multianewarray (Binder, "Portable
// Profiling of Memory Allocation in Java", figure 4): of each dimension as many as the
// product of the dimensions before it.
func (r *rewriter) allocMany(a *assembler, t string, n int) error {
	if n < 1 || n > len(t)-len(strings.TrimLeft(t, "[")) {
		return malformed("dimensions of multianewarray")
	}
	at := a.behind(n + 2)
	product, ops, ints := at+n, opsByDescriptor['J'], opsByDescriptor['I']
	r.in.points = append(r.in.points, byte(classfile.OpLconst1))
	r.in.points = localOp(r.in.points, product, ops.store, ops.store0)
	for i := range n {
		length := localOp(nil, at+i, ints.load, ints.load0)
		length = append(length, byte(classfile.OpI2l))
		first := localOp(nil, product, ops.load, ops.load0)
		if err := r.allocCall(a, append(first, length...), t[i:], r.program.allocated.arrays, true); err != nil {
			return err
		}
		if i == n-1 {
			break
		}
		r.in.points = append(append(r.in.points, first...), length...)
		r.in.points = append(r.in.points, byte(classfile.OpLmul))
		r.in.points = localOp(r.in.points, product, ops.store, ops.store0)
	}
	return nil
}
