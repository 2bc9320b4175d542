package classfile

import (
	"encoding/binary"
	"errors"
)

var errOpcode = errors.New("no such opcode")

// An Instr is one instruction. A is its first operand: the immediate, the
// constant index, the local slot or the branch offset (relative to Offset, as
// in the file); slots named by the opcode, as in aload_0, are not in A but in
// [Instr.Local]. B is the second operand: what iinc adds, the count of
// invokeinterface or the dimensions of multianewarray. Switches are read by
// [Instr.Switch].
type Instr struct {
	Offset, Size int
	Op           Op // the widened opcode after wide
	Wide         bool
	A, B         int32
}

// Target returns the absolute target of a branch.
func (in *Instr) Target() int { return in.Offset + int(in.A) }

// Decode reads the instruction at an offset of code.
func Decode(code []byte, at int) (Instr, error) {
	s := Scanner{code: code, next: at}
	if !s.Next() {
		if s.err == nil {
			s.fail(at, errTruncated)
		}
		return Instr{}, s.err
	}
	return s.Instr, nil
}

// A Scanner walks over the instructions of a code array:
//
//	for s := classfile.Scan(code); s.Next(); {
//		use(s.Instr)
//	}
//
// and then asks Err.
type Scanner struct {
	Instr
	code []byte
	next int
	err  error
}

// Scan returns a Scanner at the first instruction.
func Scan(code []byte) *Scanner { return &Scanner{code: code} }

// Err returns what stopped the walk early, a *FormatError whose offset counts
// from the start of the code.
func (s *Scanner) Err() error { return s.err }

func (s *Scanner) fail(at int, err error) bool {
	s.err = &FormatError{Offset: at, Section: "4.9.1", Err: err}
	return false
}

// Next reads the next instruction.
func (s *Scanner) Next() bool {
	at := s.next
	if at < 0 || at >= len(s.code) || s.err != nil {
		return false
	}
	op := Op(s.code[at])
	info := &ops[op]
	size := int(info.Size)
	s.Instr = Instr{Offset: at, Size: size, Op: op}
	if size == 0 {
		if !s.variable(info) {
			return false
		}
		s.next = at + s.Size
		return true
	}
	if at+size > len(s.code) {
		return s.fail(at, errTruncated)
	}
	b := s.code[at : at+size]
	switch info.Layout {
	case LayoutNone:
	case LayoutByte:
		s.A = int32(int8(b[1]))
	case LayoutConst1, LayoutLocal, LayoutArrayType:
		s.A = int32(b[1])
	case LayoutShort, LayoutBranch2:
		s.A = int32(int16(binary.BigEndian.Uint16(b[1:])))
	case LayoutBranch4:
		s.A = int32(binary.BigEndian.Uint32(b[1:]))
	case LayoutIinc:
		s.A, s.B = int32(b[1]), int32(int8(b[2]))
	default: // Const2, Interface, Dynamic, Multi
		s.A = int32(binary.BigEndian.Uint16(b[1:]))
		if size > 3 {
			s.B = int32(b[3])
		}
	}
	s.next = at + size
	return true
}

// variable reads an instruction whose length is not in the table.
func (s *Scanner) variable(info *OpInfo) bool {
	switch info.Layout {
	case LayoutWide:
		return s.wide()
	case LayoutTableSwitch, LayoutLookupSwitch:
		sw, ok := readSwitch(s.code, s.Offset)
		if !ok {
			return s.fail(s.Offset, errTruncated)
		}
		s.Size = sw.size
		return true
	default:
		return s.fail(s.Offset, errOpcode)
	}
}

func (s *Scanner) wide() bool {
	at := s.Offset
	if at+4 > len(s.code) {
		return s.fail(at, errTruncated)
	}
	s.Op, s.Wide, s.Size = Op(s.code[at+1]), true, 4
	s.A = int32(binary.BigEndian.Uint16(s.code[at+2:]))
	switch ops[s.Op].Layout {
	case LayoutLocal:
		return true
	case LayoutIinc:
		if at+6 > len(s.code) {
			return s.fail(at, errTruncated)
		}
		s.B, s.Size = int32(int16(binary.BigEndian.Uint16(s.code[at+4:]))), 6
		return true
	default:
		return s.fail(at+1, errOpcode)
	}
}

// Local returns the local-variable slot that a load or store names, in its
// operand or in its opcode, and whether the instruction is one.
func (in *Instr) Local() (slot int, ok bool) {
	switch op := in.Op; {
	case ops[op].Layout == LayoutLocal || op == OpIinc:
		return int(in.A), true
	case op >= OpIload0 && op <= OpAload3:
		return int(op-OpIload0) & 3, true
	case op >= OpIstore0 && op <= OpAstore3:
		return int(op-OpIstore0) & 3, true
	}
	return 0, false
}
