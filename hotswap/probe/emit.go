package probe

import (
	"encoding/binary"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// injected holds the bytes of the sequences for one method.
type injected struct {
	entry, ret, handler, caught []byte
	points                      []byte // of all points, see spot
}

// emit appends the original code with what is injected to b, where the new
// code begins at base. Positions must have been computed with place.
func (l *layout) emit(b []byte, in *injected) []byte {
	base := len(b)
	b = append(b, in.entry...)
	done := 0
	for i := range l.spots {
		sp := &l.spots[i]
		b = append(b, l.code[done:sp.at]...)
		done = int(sp.at)
		b = append(b, in.points[sp.lead:sp.from]...)
		if sp.handler {
			b = append(b, in.handler...)
		}
		b = append(b, in.points[sp.from:sp.to]...)
		if sp.flow == classfile.FlowReturn {
			b = append(b, in.ret...)
		}
		here := int32(len(b) - base)
		switch sp.flow {
		case classfile.FlowSwitch:
			b = l.emitSwitch(b, sp, here)
		case classfile.FlowBranch, classfile.FlowJump:
			b = l.emitBranch(b, sp, here)
		default:
			if sp.after <= sp.to {
				continue
			}
			b = append(b, l.code[sp.at:sp.at+sp.size]...)
			b = append(b, in.points[sp.to:sp.after]...)
		}
		done = int(sp.at + sp.size)
	}
	b = append(b, l.code[done:]...)
	for i := range l.stubs {
		st := &l.stubs[i]
		b = append(b, in.points[st.from:st.to]...)
		b = append(b, byte(classfile.OpGoto))
		b = binary.BigEndian.AppendUint16(b, uint16(l.pos[st.target]-st.pos-(st.to-st.from)))
	}
	return b
}

func (l *layout) emitBranch(b []byte, sp *spot, here int32) []byte {
	d := l.landing(sp.at, sp.target) - here
	if sp.grown {
		if sp.flow == classfile.FlowBranch {
			b = append(b, byte(opposite(sp.op)), 0, longBranch)
			d -= 3
		}
		b = append(b, byte(classfile.OpGotoW))
		return binary.BigEndian.AppendUint32(b, uint32(d))
	}
	b = append(b, byte(sp.op))
	if sp.op.Info().Layout == classfile.LayoutBranch4 {
		return binary.BigEndian.AppendUint32(b, uint32(d))
	}
	return binary.BigEndian.AppendUint16(b, uint16(d))
}

// opposite returns the conditional branch that is taken when op is not.
// Opposites are neighbours: ifeq and ifne are 153 and 154, ifnull and ifnonnull
// 198 and 199.
func opposite(op classfile.Op) classfile.Op {
	if op < classfile.OpIfnull {
		return (op + 1) ^ 1 - 1
	}
	return op ^ 1
}

func (l *layout) emitSwitch(b []byte, sp *spot, here int32) []byte {
	b = append(b, byte(sp.op))
	for range classfile.SwitchPadding(int(here)) {
		b = append(b, 0)
	}
	// The operands are s4 words. All are copied, then those that are
	// offsets are set: the default and each row's last.
	ops := l.code[int(sp.at)+1+classfile.SwitchPadding(int(sp.at)) : sp.at+sp.size]
	start := len(b)
	b = append(b, ops...)
	first, step := 12, 4 // tableswitch: default, low, high, offsets
	if sp.op == classfile.OpLookupswitch {
		first, step = 12, 8 // default, n, pairs of key and offset
	}
	l.move(b[start:], sp.at, here)
	for i := first; i+4 <= len(ops); i += step {
		l.move(b[start+i:], sp.at, here)
	}
	return b
}

// move replaces the s4 offset at the start of b, relative to the original
// instruction, by the one relative to the moved instruction.
func (l *layout) move(b []byte, at, here int32) {
	t := at + int32(binary.BigEndian.Uint32(b))
	binary.BigEndian.PutUint32(b, uint32(l.landing(at, t)-here))
}
