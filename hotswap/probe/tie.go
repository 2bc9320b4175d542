package probe

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// What a method has computed needn't be there when its exit runs: compilers
// compute a value where it is used, and processors when they come to it. A method
// that calls nothing and does no more than arithmetic may so have its time where
// its caller uses the result, behind the exit. So the token is tied to what such a
// method returns, before the exit:
//
//	token = (long) result ^ ((long) result ^ token)
//
// which it was before, whatever the result; and neither C1 nor C2 knows that.

// tieNeed are the words of stack that tying takes above the result.
const tieNeed = 6

// tieOps are the instructions that leave a long made of a method's result on the
// stack, above the result, by the letter of its type.
var tieOps = [256][]classfile.Op{
	'J': {classfile.OpDup2},
	'D': {classfile.OpDup2, classfile.OpD2l},
	'F': {classfile.OpDup, classfile.OpF2l},
	'I': {classfile.OpDup, classfile.OpI2l},
	'S': {classfile.OpDup, classfile.OpI2l},
	'C': {classfile.OpDup, classfile.OpI2l},
	'B': {classfile.OpDup, classfile.OpI2l},
	'Z': {classfile.OpDup, classfile.OpI2l},
}

// tieTo returns the instructions that the method whose code is in r.code ties its
// token to its result by; nil if it calls something, or returns nothing that can be
// had as a long.
func (r *rewriter) tieTo(m *classfile.Member) ([]classfile.Op, error) {
	if r.program.Local != classfile.VLong || len(r.program.Exit) == 0 {
		return nil, nil
	}
	_, ret, err := classfile.Params(m.Desc, nil)
	if err != nil || tieOps[ret[0]] == nil {
		return nil, err
	}
	s := classfile.Scan(r.code.Bytecode)
	for s.Next() {
		if pointKinds[s.Op] == PointCall {
			return nil, nil
		}
	}
	return tieOps[ret[0]], s.Err()
}

// tie appends what ties the local to the result on the stack, by the instructions
// that make a long of that.
func (a *assembler) tie(b []byte, by []classfile.Op) []byte {
	if by == nil {
		return b
	}
	for _, op := range by {
		b = append(b, byte(op))
	}
	b = append(b, byte(classfile.OpDup2))
	b = localOp(b, a.slot, classfile.OpLload, classfile.OpLload0)
	b = append(b, byte(classfile.OpLxor), byte(classfile.OpLxor))
	return localOp(b, a.slot, classfile.OpLstore, classfile.OpLstore0)
}
