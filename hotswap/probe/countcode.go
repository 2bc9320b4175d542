package probe

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// assembleCount changes the sequences of the method for counting.
func (r *rewriter) assembleCount(a *assembler) (err error) {
	c := &r.counting
	g := &c.paths
	in := &r.in
	if r.leaf && !g.fixed {
		in.entry = in.entry[:0]
	}
	switch g.counter {
	case classfile.VLong:
		in.entry = append(in.entry, byte(classfile.OpLconst0))
		in.entry = localOp(in.entry, c.n, classfile.OpLstore, classfile.OpLstore0)
	case classfile.VInteger:
		in.entry = append(in.entry, byte(classfile.OpIconst0))
		in.entry = localOp(in.entry, c.n, classfile.OpIstore, classfile.OpIstore0)
	}
	if c.p >= 0 {
		in.entry = append(in.entry, byte(classfile.OpIconst0))
		in.entry = localOp(in.entry, c.p, classfile.OpIstore, classfile.OpIstore0)
	}
	if !g.fixed {
		in.ret = in.ret[:0] // each return has its own, see returns
	}
	if len(in.caught) == 0 || g.fixed && c.p < 0 && g.thrown == 0 {
		return nil
	}
	b := in.caught[:0]
	call := c.calls.thrown
	switch {
	case r.leaf && g.fixed:
		call = c.calls.leafLast
	case r.leaf:
		call = c.calls.leafThrown
	}
	if b, err = r.whose(a, b); err != nil {
		return err
	}
	if c.n >= 0 {
		b = r.loadCount(b)
	}
	if c.p >= 0 {
		b = localOp(b, c.p, classfile.OpIload, classfile.OpIload0)
		b = append(b, byte(classfile.OpI2l))
		if c.n >= 0 {
			b = append(b, byte(classfile.OpLadd))
		}
	}
	if c.p < 0 && (c.n < 0 || g.thrown != 0) {
		if b, err = a.pushInt(b, g.thrown); err != nil {
			return err
		}
		b = append(b, byte(classfile.OpI2l))
		if c.n >= 0 {
			b = append(b, byte(classfile.OpLadd))
		}
	}
	b, err = a.sequence(b, Sequence{{Kind: StepCall, Call: call}, {Kind: StepOp, Op: classfile.OpAthrow}})
	in.caught = b
	return err
}

// whose pushes what says whose count it is: the token, or a leaf's id.
func (r *rewriter) whose(a *assembler, b []byte) ([]byte, error) {
	if r.leaf {
		return a.pushInt(b, a.id)
	}
	return localOp(b, a.slot, classfile.OpLload, classfile.OpLload0), nil
}

// loadCount pushes n as a long.
func (r *rewriter) loadCount(b []byte) []byte {
	c := &r.counting
	if c.paths.counter == classfile.VLong {
		return localOp(b, c.n, classfile.OpLload, classfile.OpLload0)
	}
	b = localOp(b, c.n, classfile.OpIload, classfile.OpIload0)
	return append(b, byte(classfile.OpI2l))
}

// before appends what counting injects before an instruction: lead is reached
// only by going on from the instruction before, the rest by jumps, too.
func (r *rewriter) before(a *assembler, in *classfile.Instr, sp *spot) (err error) {
	c := &r.counting
	leader := r.layout.marks[in.Offset]&markLeader != 0
	if leader {
		c.block, c.index, c.told = c.paths.at[in.Offset], 0, -1
	}
	c.index += c.paths.weights[in.Op]
	b := &c.paths.blocks[c.block]
	at := len(r.in.points)
	if leader {
		if b.lead != 0 {
			if r.in.points, err = r.add(a, r.in.points, b.lead); err != nil {
				return err
			}
			sp.lead, sp.from = sp.from, int32(len(r.in.points))
		}
		if b.handler && c.n >= 0 {
			if r.in.points, err = r.caughtHere(a, r.in.points, b.phi); err != nil {
				return err
			}
		}
		if r.in.points, err = r.add(a, r.in.points, b.first); err != nil {
			return err
		}
	}
	if len(r.in.points) > at {
		sp.need = max(sp.need, countNeed)
	}
	return nil
}

// just appends what counting injects right before an instruction, behind what
// else is.
func (r *rewriter) just(a *assembler, in *classfile.Instr, sp *spot) (err error) {
	c := &r.counting
	b := &c.paths.blocks[c.block]
	at, last := len(r.in.points), int32(in.Offset) == b.last
	if throws := r.mayThrow(in); c.p >= 0 && (throws || b.tells && last) {
		switch at := b.position(c.index); {
		case c.told < 0:
			if c.paths.whole {
				at = b.lacks()
			}
			if r.in.points, err = a.pushInt(r.in.points, at); err != nil {
				return err
			}
			r.in.points = localOp(r.in.points, c.p, classfile.OpIstore, classfile.OpIstore0)
		case !c.paths.whole && c.index > c.told:
			r.in.points = increase(r.in.points, c.p, c.index-c.told)
		}
		c.told = c.index
	}
	if last {
		if r.in.points, err = r.add(a, r.in.points, b.stop); err != nil {
			return err
		}
		if b.flow == classfile.FlowReturn && !c.paths.fixed {
			if r.in.points, err = r.returns(a, r.in.points, b.lacks()); err != nil {
				return err
			}
		}
	}
	if len(r.in.points) > at {
		sp.need = max(sp.need, countNeed)
	}
	if len(r.in.points) > classfile.MaxCode {
		return reasonCodeSize
	}
	return nil
}

// returns appends what goes before a return, where n lacks so much.
func (r *rewriter) returns(a *assembler, b []byte, lacks int32) (_ []byte, err error) {
	c := &r.counting
	call := c.calls.exit
	if r.leaf {
		call = c.calls.leaf
	} else {
		b = a.tie(b, r.tying)
	}
	if b, err = r.whose(a, b); err != nil {
		return nil, err
	}
	switch {
	case c.n < 0:
		if b, err = a.pushInt(b, lacks); err != nil {
			return nil, err
		}
		b = append(b, byte(classfile.OpI2l))
	case c.paths.counter == classfile.VLong:
		b = r.loadCount(b)
		if lacks != 0 {
			if b, err = a.pushInt(b, lacks); err != nil {
				return nil, err
			}
			b = append(b, byte(classfile.OpI2l), byte(classfile.OpLadd))
		}
	default:
		b = localOp(b, c.n, classfile.OpIload, classfile.OpIload0)
		if lacks != 0 {
			if b, err = a.pushInt(b, lacks); err != nil {
				return nil, err
			}
			b = append(b, byte(classfile.OpIadd))
		}
		b = append(b, byte(classfile.OpI2l))
	}
	return a.sequence(b, Sequence{{Kind: StepCall, Call: call}})
}

// caughtHere appends n += p - phi, for a handler.
func (r *rewriter) caughtHere(a *assembler, b []byte, phi int32) (_ []byte, err error) {
	c := &r.counting
	load, load0, store, store0, plus := classfile.OpIload, classfile.OpIload0, classfile.OpIstore, classfile.OpIstore0, classfile.OpIadd
	wide := c.paths.counter == classfile.VLong
	if wide {
		load, load0, store, store0, plus = classfile.OpLload, classfile.OpLload0, classfile.OpLstore, classfile.OpLstore0, classfile.OpLadd
	}
	b = localOp(b, c.p, classfile.OpIload, classfile.OpIload0)
	if phi != 0 {
		if b, err = a.pushInt(b, phi); err != nil {
			return nil, err
		}
		b = append(b, byte(classfile.OpIsub))
	}
	if wide {
		b = append(b, byte(classfile.OpI2l))
	}
	b = localOp(b, c.n, load, load0)
	b = append(b, byte(plus))
	return localOp(b, c.n, store, store0), nil
}

// add appends n += v.
func (r *rewriter) add(a *assembler, b []byte, v int32) (_ []byte, err error) {
	c := &r.counting
	switch {
	case v == 0:
		return b, nil
	case c.paths.counter == classfile.VLong:
		b = localOp(b, c.n, classfile.OpLload, classfile.OpLload0)
		if b, err = a.pushInt(b, v); err != nil {
			return nil, err
		}
		b = append(b, byte(classfile.OpI2l), byte(classfile.OpLadd))
		return localOp(b, c.n, classfile.OpLstore, classfile.OpLstore0), nil
	case v == int32(int16(v)):
		return increase(b, c.n, v), nil
	}
	b = localOp(b, c.n, classfile.OpIload, classfile.OpIload0)
	if b, err = a.pushInt(b, v); err != nil {
		return nil, err
	}
	b = append(b, byte(classfile.OpIadd))
	return localOp(b, c.n, classfile.OpIstore, classfile.OpIstore0), nil
}

// increase appends iinc; v must fit 16 bits.
func increase(b []byte, slot int, v int32) []byte {
	if slot < 256 && v == int32(int8(v)) {
		return append(b, byte(classfile.OpIinc), byte(slot), byte(v))
	}
	return append(b, byte(classfile.OpWide), byte(classfile.OpIinc), byte(slot>>8), byte(slot), byte(v>>8), byte(v))
}

// detours makes the stubs of jumps that have to count on their way.
func (r *rewriter) detours(a *assembler) (err error) {
	c, l := &r.counting, &r.layout
	for i := range c.paths.edges {
		e := &c.paths.edges[i]
		if !e.detour {
			continue
		}
		st := stub{at: c.paths.blocks[e.from].last, target: c.paths.blocks[e.to].start, from: int32(len(r.in.points))}
		if r.in.points, err = r.add(a, r.in.points, e.inc); err != nil {
			return err
		}
		st.to = int32(len(r.in.points))
		l.stubs = append(l.stubs, st)
		if len(r.in.points) > classfile.MaxCode {
			return reasonCodeSize
		}
	}
	return nil
}
