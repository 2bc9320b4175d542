package classfile

// StackEffect returns how many words of the operand stack in takes and puts.
// The instruction must belong to the class of the pool.
func (p *Pool) StackEffect(in *Instr) (pop, push int, err error) {
	info := &ops[in.Op]
	if info.Pop >= 0 {
		return int(info.Pop), int(info.Push), nil
	}
	if in.Op == OpMultianewarray {
		return int(in.B), int(info.Push), nil
	}
	var desc string
	if in.Op == OpInvokedynamic {
		d, err := p.Dynamic(uint16(in.A))
		if err != nil {
			return 0, 0, err
		}
		desc = d.Desc
	} else {
		t := p.Tag(uint16(in.A))
		if !wantMember.has(t) {
			return 0, 0, p.wrong(uint16(in.A), t, wantMember)
		}
		desc = p.utf8(p.u2(p.u2(uint16(in.A), 2), 2))
	}
	row := &memberOps[in.Op]
	if row.field {
		w := Words(desc)
		return int(row.receiver) + row.pop*w, row.push * w, nil
	}
	args, ret, err := MethodWords(desc)
	return int(row.receiver) + args, ret, err
}

// A memberOp tells how an instruction that names a member uses its descriptor.
type memberOp struct {
	receiver  uint8 // words before the arguments
	field     bool
	pop, push int // of a field: whether its value is taken or put
}

var memberOps = [256]memberOp{
	OpGetstatic:       {0, true, 0, 1},
	OpPutstatic:       {0, true, 1, 0},
	OpGetfield:        {1, true, 0, 1},
	OpPutfield:        {1, true, 1, 0},
	OpInvokevirtual:   {receiver: 1},
	OpInvokespecial:   {receiver: 1},
	OpInvokeinterface: {receiver: 1},
}
