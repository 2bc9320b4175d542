package cfi

import "bytes"

// A state is what the program has set, of what is of interest.
type state struct {
	base      uint64 // register
	offset    int64
	plt       bool
	unknown   bool // an expression
	saved     bool // FP
	fp        int64
	fpUnknown bool
	end       bool // no return address
	retOther  bool // the return address is not where calls leave it
}

// A machine runs call frame instructions up to a pc.
type machine struct {
	cie     *cie
	pc, at  uint64
	past    bool
	state   state
	initial state
	stack   []state
}

// pltExpression is what linkers write for a .plt: rsp + 8 + (((rip & 15) >= 11) << 3).
var pltExpression = []byte{0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}

func (m *machine) rule() (Rule, error) {
	s := &m.state
	if s.end {
		return Rule{End: true}, nil
	}
	if s.unknown || s.fpUnknown || s.retOther || m.cie.signal || s.base != FP && s.base != SP {
		return Rule{}, ErrUnknown
	}
	return Rule{Base: uint8(s.base), Offset: s.offset, Saved: s.saved, FP: s.fp, PLT: s.plt}, nil
}

// advance goes on in the code, and is false once that is beyond the pc.
func (m *machine) advance(n uint64) {
	m.at += n * m.cie.code
	m.past = m.at > m.pc
}

// register notes where one is saved, from the frame's address.
func (m *machine) register(r uint64, offset int64) {
	switch r {
	case FP:
		m.state.saved, m.state.fp, m.state.fpUnknown = true, offset, false
	case Return:
		m.state.retOther, m.state.end = offset != -8, false
	}
}

// other notes that a register is found in a way which is not followed.
func (m *machine) other(r uint64) {
	switch r {
	case FP:
		m.state.fpUnknown = true
	case Return:
		m.state.retOther = true
	}
}

func (m *machine) restore(r uint64) {
	switch r {
	case FP:
		m.state.saved, m.state.fp, m.state.fpUnknown = m.initial.saved, m.initial.fp, m.initial.fpUnknown
	case Return:
		m.state.retOther, m.state.end = m.initial.retOther, m.initial.end
	}
}

func (m *machine) kept(r uint64) {
	if r == FP {
		m.state.saved, m.state.fpUnknown = false, false
	}
}

// An instruction takes its operands from the program.
type instruction func(m *machine, r *reader)

// instructions are those whose two highest bits are 0 (DWARF 5, 7.24).
var instructions = map[byte]instruction{
	0x00: func(*machine, *reader) {},                                                     // nop
	0x01: func(m *machine, r *reader) { m.at = r.encoded(m.cie.encoding); m.advance(0) }, // set_loc
	0x02: func(m *machine, r *reader) { m.advance(uint64(r.u8())) },
	0x03: func(m *machine, r *reader) { m.advance(uint64(r.u16())) },
	0x04: func(m *machine, r *reader) { m.advance(uint64(r.u32())) },
	0x05: func(m *machine, r *reader) { g := r.uleb(); m.register(g, int64(r.uleb())*m.cie.data) }, // offset_extended
	0x06: func(m *machine, r *reader) { m.restore(r.uleb()) },
	0x07: func(m *machine, r *reader) { // undefined
		switch g := r.uleb(); g {
		case Return:
			m.state.end = true
		default:
			m.other(g)
		}
	},
	0x08: func(m *machine, r *reader) { m.kept(r.uleb()) },                    // same_value
	0x09: func(m *machine, r *reader) { g := r.uleb(); r.uleb(); m.other(g) }, // register
	0x0A: func(m *machine, r *reader) { // remember_state
		if len(m.stack) >= maxStates {
			r.bad = true
			return
		}
		m.stack = append(m.stack, m.state)
	},
	0x0B: func(m *machine, r *reader) { // restore_state
		if len(m.stack) == 0 {
			r.bad = true
			return
		}
		m.state = m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
	},
	0x0C: func(m *machine, r *reader) { // def_cfa
		m.state.base, m.state.offset = r.uleb(), int64(r.uleb())
		m.state.unknown, m.state.plt = false, false
	},
	0x0D: func(m *machine, r *reader) { m.state.base = r.uleb() },
	0x0E: func(m *machine, r *reader) { m.state.offset = int64(r.uleb()) },
	0x0F: func(m *machine, r *reader) { // def_cfa_expression
		if bytes.Equal(r.bytes(r.uleb()), pltExpression) {
			m.state.base, m.state.offset, m.state.plt, m.state.unknown = SP, 8, true, false
		} else {
			m.state.unknown = true
		}
	},
	0x10: func(m *machine, r *reader) { g := r.uleb(); r.skip(r.uleb()); m.other(g) }, // expression
	0x11: func(m *machine, r *reader) { g := r.uleb(); m.register(g, r.sleb()*m.cie.data) },
	0x12: func(m *machine, r *reader) { // def_cfa_sf
		m.state.base, m.state.offset = r.uleb(), r.sleb()*m.cie.data
		m.state.unknown, m.state.plt = false, false
	},
	0x13: func(m *machine, r *reader) { m.state.offset = r.sleb() * m.cie.data },
	0x14: func(m *machine, r *reader) { g := r.uleb(); r.uleb(); m.other(g) }, // val_offset
	0x15: func(m *machine, r *reader) { g := r.uleb(); r.sleb(); m.other(g) },
	0x16: func(m *machine, r *reader) { g := r.uleb(); r.skip(r.uleb()); m.other(g) }, // val_expression
	0x2E: func(_ *machine, r *reader) { r.uleb() },                                    // GNU_args_size
	0x2F: func(m *machine, r *reader) { g := r.uleb(); m.register(g, -int64(r.uleb())*m.cie.data) },
}

// run runs a program until the pc. It is false if that makes no sense.
func (m *machine) run(program []byte) bool {
	r := reader{p: program[:min(len(program), maxProgram)]}
	for len(r.p) > 0 && !r.bad && !m.past {
		op := r.u8()
		low := op & 0x3F
		switch op >> 6 {
		case 1:
			m.advance(uint64(low))
		case 2:
			m.register(uint64(low), int64(r.uleb())*m.cie.data)
		case 3:
			m.restore(uint64(low))
		default:
			f, ok := instructions[low]
			if !ok {
				return false
			}
			f(m, &r)
		}
	}
	return !r.bad
}
