package probe

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// A Kind says which instructions [Executed] counts.
type Kind uint8

// The kinds. What is in none but the first moves values, or returns.
const (
	KindAll        Kind = iota
	KindInvoke          // the invoke instructions, whatever they call
	KindAccess          // fields and elements of arrays, and arrays' lengths
	KindArithmetic      // and conversions and comparisons that leave a number
	KindBranch          // jumps, on a condition or not, and switches
	kinds
)

// Has tells whether an instruction is of the kind. That with a wide in front is one.
func (k Kind) Has(op classfile.Op) bool { return kindWeights[k][op] != 0 }

// kindWeights are what instructions count.
var kindWeights = func() (w [kinds][256]int32) {
	set := func(k Kind, from, to classfile.Op) {
		for op := int(from); op <= int(to); op++ {
			w[k][op] = 1
		}
	}
	set(KindAll, 0, 255)
	set(KindInvoke, classfile.OpInvokevirtual, classfile.OpInvokedynamic)
	set(KindAccess, classfile.OpGetstatic, classfile.OpPutfield)
	set(KindAccess, classfile.OpIaload, classfile.OpSaload)
	set(KindAccess, classfile.OpIastore, classfile.OpSastore)
	set(KindAccess, classfile.OpArraylength, classfile.OpArraylength)
	set(KindArithmetic, classfile.OpIadd, classfile.OpDcmpg)
	set(KindBranch, classfile.OpIfeq, classfile.OpGoto)
	set(KindBranch, classfile.OpTableswitch, classfile.OpLookupswitch)
	set(KindBranch, classfile.OpIfnull, classfile.OpGotoW)
	return w
}()
