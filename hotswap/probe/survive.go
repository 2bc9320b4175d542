package probe

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// A pendingNew is an object that a method has allocated, and whose constructor it has not called yet,
// as its code is read from front to back.
type pendingNew struct {
	class string
	end   int  // offset behind the instruction
	kept  bool // by a dup right behind it: it is on the stack when its constructor has returned
}

// surviving tells whether what the method allocates is followed.
func (r *rewriter) surviving() bool { return r.allocating() && r.program.allocated.Survivors != "" }

// pend takes note of a new, and of a dup behind it. Compilers of all languages make an object by new,
// dup, its arguments and invokespecial, and nest that. Where code does otherwise, an object is not
// followed; whatever it does, [Verify] looks at the result.
func (r *rewriter) pend(in *classfile.Instr) error {
	switch top := len(r.pending) - 1; in.Op {
	case classfile.OpNew:
		t, err := r.class.Pool.ClassName(uint16(in.A))
		if err != nil {
			return err
		}
		r.pending = append(r.pending, pendingNew{class: t, end: in.Offset + in.Size})
	case classfile.OpDup:
		if top >= 0 && r.pending[top].end == in.Offset {
			r.pending[top].kept = true
		}
	}
	return nil
}

// initialised returns the type of the object that is on the stack behind a call of its constructor, "" if
// there is none.
func (r *rewriter) initialised(in *classfile.Instr) (string, error) {
	if in.Op != classfile.OpInvokespecial || len(r.pending) == 0 {
		return "", nil
	}
	ref, err := r.class.Pool.MemberRef(uint16(in.A))
	if err != nil || ref.Name != "<init>" {
		return "", err
	}
	top := r.pending[len(r.pending)-1]
	if top.class != ref.Class {
		return "", nil // super(), or this()
	}
	r.pending = r.pending[:len(r.pending)-1]
	if !top.kept {
		return "", nil
	}
	return top.class, nil
}

// survivor appends what tells of an object that is on the stack, of a type that [rewriter.allocCall] knows:
// an array or another object.
func (r *rewriter) survivor(a *assembler, t string, array bool, length []byte) error {
	x := r.program.allocated
	if !r.surviving() {
		return nil
	}
	if !array {
		return r.allocCall(a, []byte{byte(classfile.OpDup)}, t, x.survivor, false)
	}
	return r.allocCall(a, append([]byte{byte(classfile.OpDup)}, length...), t, x.survivorArray, true)
}
