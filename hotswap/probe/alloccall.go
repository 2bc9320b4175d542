package probe

import (
	"strings"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// Suffixes of types that [Allocated].Type is asked for, where a call allocates.
const (
	// LambdaType is behind the name of the class that makes an object of a lambda or a
	// method reference; what it captures follows, as descriptors.
	LambdaType = "$$Lambda:"
	// CloneType is behind the name of a class whose object, or one of a subclass, was
	// copied by Object.clone.
	CloneType = ":clone"
	// EstimatedType is behind a type that a call nearly always allocates once.
	EstimatedType = ":estimated"
	// ReflectedType is the class of an object, or with a [ in front that of an array's
	// elements, that only the running program knows.
	ReflectedType = "?"
)

// boxes are the classes of which valueOf makes objects, by what it takes. Those of byte
// and boolean are all kept by the JDK.
var boxes = map[string]string{
	"java/lang/Integer": "I", "java/lang/Long": "J", "java/lang/Short": "S", "java/lang/Character": "C",
	"java/lang/Float": "F", "java/lang/Double": "D",
}

// missed are methods of the JDK whose objects nobody can count who sees their callers alone.
var missed = map[string]bool{"java/lang/reflect/Array.newInstance": true, "java/io/ObjectInputStream.readObject": true}

// reflective are methods of the JDK that return a new object of a class that is not in the code.
var reflective = map[string]bool{
	"java/lang/reflect/Constructor.newInstance": true, "java/lang/Class.newInstance": true, "sun/misc/Unsafe.allocateInstance": true,
}

// copies are methods of the JDK that return a new array of the type that they are declared to.
var copies = map[string]bool{
	"java/util/Arrays.copyOf": true, "java/util/Arrays.copyOfRange": true,
	"java/lang/String.toCharArray": true, "java/lang/String.getBytes": true,
}

// CountedAtCall tells whether what a method of the JDK itself allocates is counted where it is
// called.
func CountedAtCall(class, name string) bool {
	switch name {
	case "valueOf":
		return boxes[class] != ""
	case "clone":
		return class == "java/lang/Object"
	}
	return copies[class+"."+name]
}

// A callAlloc is what a call allocates.
type callAlloc struct {
	kind callKind
	t    string // type
	box  string // descriptor of what is boxed
	cast bool   // a String is on the stack as something that it is assignable to, as of s += "" where s is an Object
}

type callKind uint8

const (
	callNone    callKind = iota
	callObject           // one object
	callArray            // the copy of an array, which is on the stack
	callBox              // one object, if the JDK keeps none of that value
	callConcat           // a String, which is on the stack
	callArrayOf          // an array of unknown type, which is on the stack
)

// callAllocates says what a call of the JDK allocates.
func (r *rewriter) callAllocates(pt *Point) (c callAlloc, err error) {
	if pt.Instr.Op == classfile.OpInvokedynamic {
		return r.indyAllocates(&pt.Instr)
	}
	ref, err := pt.Callee()
	if err != nil {
		return c, err
	}
	x := r.program.allocated
	switch {
	case ref.Name == "clone" && ref.Desc == "()Ljava/lang/Object;":
		switch {
		case strings.HasPrefix(ref.Class, "["):
			return callAlloc{kind: callArray, t: ref.Class}, nil
		case ref.Class == "java/lang/Object" && pt.Instr.Op == classfile.OpInvokespecial:
			return callAlloc{kind: callObject, t: r.class.Name() + CloneType}, nil
		}
	case ref.Name == "valueOf" && pt.Instr.Op == classfile.OpInvokestatic && x.Foreign(ref.Class):
		if p, ok := boxes[ref.Class]; ok && ref.Desc == "("+p+")L"+ref.Class+";" {
			return callAlloc{kind: callBox, t: ref.Class, box: p}, nil
		}
	case !x.Foreign(ref.Class):
	case copies[ref.Class+"."+ref.Name]:
		if result := ref.Desc[strings.IndexByte(ref.Desc, ')')+1:]; strings.HasPrefix(result, "[") {
			return callAlloc{kind: callArray, t: result}, nil
		}
	case ref.Class == "java/lang/StringBuilder" && ref.Name == "toString" && ref.Desc == "()Ljava/lang/String;":
		return callAlloc{kind: callConcat}, nil
	case reflective[ref.Class+"."+ref.Name]:
		return callAlloc{kind: callObject, t: ReflectedType}, nil
	case ref.Class == "java/lang/reflect/Array" && ref.Desc == "(Ljava/lang/Class;I)Ljava/lang/Object;":
		return callAlloc{kind: callArrayOf, t: "[" + ReflectedType}, nil
	case missed[ref.Class+"."+ref.Name]:
		x.Missed(pt.Method, ref.Class+"."+ref.Name)
	}
	return c, nil
}

// indyAllocates says what a call site of the JDK's factories allocates.
func (r *rewriter) indyAllocates(in *classfile.Instr) (c callAlloc, err error) {
	d, err := r.class.Pool.Dynamic(uint16(in.A))
	if err != nil {
		return c, err
	}
	rows, err := r.class.BootstrapMethods()
	if err != nil || d.Bootstrap >= len(rows) {
		return c, err
	}
	h, err := r.class.Pool.MethodHandle(rows[d.Bootstrap].Handle)
	if err != nil {
		return c, err
	}
	switch h.Ref.Class {
	case "java/lang/invoke/LambdaMetafactory":
		if end := strings.IndexByte(d.Desc, ')'); end > 1 {
			return callAlloc{kind: callObject, t: r.class.Name() + LambdaType + d.Desc[1:end]}, nil
		}
	case "java/lang/invoke/StringConcatFactory":
		return callAlloc{kind: callConcat, cast: !strings.HasSuffix(d.Desc, ")Ljava/lang/String;")}, nil
	}
	return c, nil
}

// callBefore keeps the value that a call boxes.
func (r *rewriter) callBefore(a *assembler, c callAlloc, sp *spot) {
	if c.kind != callBox || c.box == "F" || c.box == "D" {
		return
	}
	ops, dup := opsOf(c.box), classfile.OpDup
	if ops.words == 2 {
		dup = classfile.OpDup2
	}
	at := a.behind(2)
	r.in.points = append(r.in.points, byte(dup))
	r.in.points = localOp(r.in.points, at, ops.store, ops.store0)
	sp.need = max(sp.need, int32(ops.words))
}

// callAfter counts what a call has allocated.
func (r *rewriter) callAfter(a *assembler, c callAlloc) error {
	x := r.program.allocated
	switch c.kind {
	case callObject:
		if err := r.allocCall(a, nil, c.t, x.object, false); err != nil {
			return err
		}
		return r.survivor(a, c.t, false, nil)
	case callArray:
		class, err := r.class.Pool.AddClass(c.t)
		if err != nil {
			return err
		}
		length := []byte{byte(classfile.OpDup), byte(classfile.OpCheckcast), byte(class >> 8), byte(class), byte(classfile.OpArraylength)}
		if err := r.allocCall(a, length, c.t, x.array, true); err != nil {
			return err
		}
		return r.survivor(a, c.t, true, length)
	case callBox:
		if c.box == "F" || c.box == "D" {
			if err := r.allocCall(a, nil, c.t, x.object, false); err != nil {
				return err
			}
			return r.survivor(a, c.t, false, nil)
		}
		ops, call := opsOf(c.box), x.boxed
		value := localOp(nil, a.behind(2), ops.load, ops.load0)
		if ops.words == 1 {
			value = append(value, byte(classfile.OpI2l))
		}
		if c.box == "I" {
			call = x.boxedInt
		}
		if err := r.allocCall(a, value, c.t, call, false); err != nil || !r.surviving() {
			return err
		}
		return r.allocCall(a, append([]byte{byte(classfile.OpDup)}, value...), c.t, x.survivorBox, false)
	case callConcat:
		if err := r.allocCall(a, nil, "java/lang/String"+EstimatedType, x.object, false); err != nil {
			return err
		}
		if err := r.survivor(a, "java/lang/String"+EstimatedType, false, nil); err != nil {
			return err
		}
		length, err := r.class.Pool.AddMethodref("java/lang/String", "length", "()I")
		if err != nil {
			return err
		}
		text := "[B"
		if x.Chars {
			text = "[C"
		}
		code := []byte{byte(classfile.OpDup)}
		if c.cast {
			class, err := r.class.Pool.AddClass("java/lang/String")
			if err != nil {
				return err
			}
			code = append(code, byte(classfile.OpCheckcast), byte(class>>8), byte(class))
		}
		return r.allocCall(a, append(code, byte(classfile.OpInvokevirtual), byte(length>>8), byte(length)), text+EstimatedType, x.array, true)
	case callArrayOf:
		length, err := r.class.Pool.AddMethodref("java/lang/reflect/Array", "getLength", "(Ljava/lang/Object;)I")
		if err != nil {
			return err
		}
		return r.allocCall(a, []byte{byte(classfile.OpDup), byte(classfile.OpInvokestatic), byte(length >> 8), byte(length)}, c.t, x.array, true)
	}
	return nil
}

// callPoint injects what goes around a call, and what counts the objects that it makes.
func (r *rewriter) callPoint(a *assembler, pt *Point, sp *spot) (err error) {
	var c callAlloc
	if r.allocating() {
		if c, err = r.callAllocates(pt); err != nil {
			return err
		}
		r.callBefore(a, c, sp)
		sp.to = int32(len(r.in.points))
	}
	var made string
	if r.surviving() {
		if made, err = r.initialised(&pt.Instr); err != nil {
			return err
		}
	}
	if err := r.around(a, pt, sp); err != nil || c.kind == callNone && made == "" {
		return err
	}
	if made != "" {
		err = r.survivor(a, made, false, nil)
	} else {
		err = r.callAfter(a, c)
	}
	if err != nil {
		return err
	}
	return r.behindAllocation(sp)
}
