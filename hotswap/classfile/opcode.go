package classfile

// A Layout says what follows an opcode.
type Layout uint8

// The layouts of instructions. [Instr] says where the operands go.
const (
	LayoutNone         Layout = iota
	LayoutByte                // s1 immediate
	LayoutShort               // s2 immediate
	LayoutConst1              // u1 constant index
	LayoutConst2              // u2 constant index
	LayoutLocal               // u1 local slot; u2 after wide
	LayoutIinc                // u1 slot, s1 immediate; u2, s2 after wide
	LayoutBranch2             // s2 offset
	LayoutBranch4             // s4 offset
	LayoutTableSwitch         // padding, default, low, high, offsets
	LayoutLookupSwitch        // padding, default, n, pairs
	LayoutInterface           // u2 constant index, u1 count, 0
	LayoutDynamic             // u2 constant index, 0, 0
	LayoutArrayType           // u1 type code
	LayoutMulti               // u2 constant index, u1 dimensions
	LayoutWide                // the opcode that it widens
)

// A Flow says where control goes after an instruction, apart from exceptions.
type Flow uint8

// The flows of control.
const (
	FlowNext       Flow = iota // to the next instruction
	FlowBranch                 // to the target or the next instruction
	FlowJump                   // to the target
	FlowSwitch                 // to one of the targets
	FlowReturn                 // out of the method
	FlowThrow                  // to a handler or out of the method
	FlowSubroutine             // jsr: to the target, back by ret
	FlowRet                    // back from a subroutine
)

// varies stands for a stack effect that the opcode alone does not tell.
const varies = -1

// An OpInfo describes an opcode.
type OpInfo struct {
	Name   string
	Layout Layout
	Size   uint8 // bytes with operands; 0 for switches and wide
	Pop    int8  // words taken from the stack; negative if it varies
	Push   int8  // words put onto the stack; negative if it varies
	Flow   Flow
}

// Info returns the row of the opcode; one without a name is no opcode.
func (op Op) Info() *OpInfo { return &ops[op] }

func (op Op) String() string {
	if n := ops[op].Name; n != "" {
		return n
	}
	return "illegal"
}
