package classfile

import "encoding/binary"

// A Switch is the operands of a tableswitch or lookupswitch.
type Switch struct {
	Default int32 // offset relative to the instruction
	Count   int   // of cases

	low   int32
	rows  []byte
	row   int // bytes of a row: 4 of a table, 8 of a lookup
	size  int // of the instruction
	table bool
}

// Switch reads the operands of in, which must come from code; ok is false if
// it is no switch.
func (in *Instr) Switch(code []byte) (sw Switch, ok bool) {
	if ops[in.Op].Flow != FlowSwitch {
		return Switch{}, false
	}
	return readSwitch(code, in.Offset)
}

// SwitchPadding returns the bytes between a switch opcode at this offset and
// its first operand.
func SwitchPadding(at int) int { return 3 - at&3 }

func readSwitch(code []byte, at int) (Switch, bool) {
	b := at + 1 + SwitchPadding(at)
	sw := Switch{table: Op(code[at]) == OpTableswitch}
	fixed := 8
	if sw.table {
		fixed = 12
	}
	if b+fixed > len(code) {
		return sw, false
	}
	word := func(i int) int32 { return int32(binary.BigEndian.Uint32(code[b+i:])) }
	sw.Default = word(0)
	n := int64(word(4))
	sw.row = 8
	if sw.table {
		sw.low, sw.row = word(4), 4
		n = int64(word(8)) - int64(sw.low) + 1
	}
	rows := b + fixed
	if n < 0 || n > int64((len(code)-rows)/sw.row) {
		return sw, false
	}
	sw.Count = int(n)
	end := rows + sw.Count*sw.row
	sw.rows, sw.size = code[rows:end], end-at
	return sw, true
}

// Key returns the value that case i stands for.
func (sw *Switch) Key(i int) int32 {
	if sw.table {
		return sw.low + int32(i)
	}
	return int32(binary.BigEndian.Uint32(sw.rows[i*8:]))
}

// Offset returns the branch offset of case i, relative to the instruction.
func (sw *Switch) Offset(i int) int32 {
	return int32(binary.BigEndian.Uint32(sw.rows[(i+1)*sw.row-4:]))
}
