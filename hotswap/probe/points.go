package probe

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// pointKinds are the kinds of points of instructions, PointKinds for none.
var pointKinds = func() (t [256]PointKind) {
	for op := range t {
		t[op] = PointKinds
	}
	for _, op := range []classfile.Op{classfile.OpNew, classfile.OpNewarray, classfile.OpAnewarray, classfile.OpMultianewarray} {
		t[op] = PointAlloc
	}
	for _, op := range []classfile.Op{
		classfile.OpInvokevirtual, classfile.OpInvokespecial, classfile.OpInvokestatic,
		classfile.OpInvokeinterface, classfile.OpInvokedynamic,
	} {
		t[op] = PointCall
	}
	return t
}()

// points makes the bytes that are injected at points and adds the spots where
// they go.
func (r *rewriter) points(m *classfile.Member, id int32) error {
	r.in.points, r.scratch, r.pending = r.in.points[:0], 0, r.pending[:0]
	if !r.program.any && !r.counting.on && !r.allocating() {
		return nil
	}
	l := &r.layout
	l.markLeaders()
	a := r.assembler(id)
	old := l.spots
	l.spare = l.spare[:0]
	pt := Point{Class: r.class, Method: MethodKey{m.Name, m.Desc}}
	s := classfile.Scan(l.code)
	for s.Next() {
		sp := spot{at: int32(s.Offset), size: int32(s.Size), op: s.Op, flow: s.Op.Info().Flow}
		have := len(old) > 0 && old[0].at == sp.at
		if have {
			sp, old = old[0], old[1:]
		}
		sp.from = int32(len(r.in.points))
		sp.lead = sp.from
		pt.Instr = s.Instr
		if r.surviving() {
			if err := r.pend(&s.Instr); err != nil {
				return err
			}
		}
		if r.counting.on {
			if err := r.before(&a, &s.Instr, &sp); err != nil {
				return err
			}
		}
		if l.marks[s.Offset]&markLeader != 0 {
			pt.Block = l.block(s.Offset)
			if err := r.point(&a, &pt, PointBlock, &sp); err != nil {
				return err
			}
		}
		if kind := pointKinds[s.Op]; kind != PointKinds {
			if err := r.point(&a, &pt, kind, &sp); err != nil {
				return err
			}
		}
		if r.counting.on {
			if err := r.just(&a, &s.Instr, &sp); err != nil {
				return err
			}
		}
		if kind := pointKinds[s.Op]; kind == PointAlloc && r.allocating() {
			if err := r.allocation(&a, &s.Instr, &sp); err != nil {
				return err
			}
		} else if sp.to = int32(len(r.in.points)); kind == PointCall {
			if err := r.callPoint(&a, &pt, &sp); err != nil {
				return err
			}
		}
		if sp.to > sp.lead || sp.after > sp.to {
			l.marks[s.Offset] |= markPoint
		}
		if have || sp.to > sp.lead || sp.after > sp.to {
			l.spare = append(l.spare, sp)
		}
	}
	l.spots, l.spare = l.spare, l.spots
	r.scratch = a.scratch
	if r.counting.on {
		return r.detours(&a)
	}
	return nil
}

// point asks whether one point is wanted and appends what it injects.
func (r *rewriter) point(a *assembler, pt *Point, kind PointKind, sp *spot) (err error) {
	s := r.program.Points[kind]
	if len(s) == 0 {
		return nil
	}
	a.arg = 0
	if want := r.program.Want; want != nil {
		ok := false
		pt.Kind = kind
		if a.arg, ok = want(pt); !ok {
			return nil
		}
	}
	sp.need = max(sp.need, int32(r.program.points[kind]))
	if r.in.points, err = a.sequence(r.in.points, s); err == nil && len(r.in.points) > classfile.MaxCode {
		err = reasonCodeSize
	}
	return err
}

// markLeaders marks where basic blocks begin: where control comes together or
// goes on behind an instruction that may go elsewhere. Calls and what else may
// throw end no block.
func (l *layout) markLeaders() {
	l.marks[0] |= markLeader
	s := classfile.Scan(l.code)
	for s.Next() {
		if l.marks[s.Offset]&(markTarget|markHandler) != 0 {
			l.marks[s.Offset] |= markLeader
		}
		if next := s.Offset + s.Size; s.Op.Info().Flow != classfile.FlowNext && next < len(l.code) {
			l.marks[next] |= markLeader
		}
	}
}

// block returns how many instructions the basic block at an offset has.
func (l *layout) block(at int) (n int) {
	for at < len(l.code) && (n == 0 || l.marks[at]&markLeader == 0) {
		in, err := classfile.Decode(l.code, at)
		if err != nil {
			break // scan has seen it all
		}
		n++
		at += in.Size
	}
	return n
}

// Callee returns what a point of kind PointCall calls. The class is empty for
// invokedynamic.
func (p *Point) Callee() (classfile.MemberRef, error) {
	if p.Instr.Op == classfile.OpInvokedynamic {
		d, err := p.Class.Pool.Dynamic(uint16(p.Instr.A))
		return classfile.MemberRef{Kind: d.Kind, Name: d.Name, Desc: d.Desc}, err
	}
	return p.Class.Pool.MemberRef(uint16(p.Instr.A))
}
