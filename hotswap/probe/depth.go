package probe

import "github.com/rivulet-profiler/rivulet/hotswap/classfile"

// unknownDepth is the depth of the stack at an offset about which nothing is
// known: only jumps from further down come there, or none.
const unknownDepth = -1

// clearDepths forgets the depths of the method before.
func (l *layout) clearDepths() {
	n := len(l.code)
	if cap(l.depths) < n {
		l.depths = make([]int32, n+n/2)
	}
	l.depths = l.depths[:n]
	for i := range l.depths {
		l.depths[i] = unknownDepth
	}
}

// setDepth keeps the depth that a stack map tells.
func (l *layout) setDepth(at int, stack []classfile.VType) {
	words := 0
	for _, t := range stack {
		words += t.Slots()
	}
	l.depths[at] = int32(words)
}

// stack returns the operand stack that the new code needs. What is injected
// before a return needs room above what is on the stack there, the value
// returned and whatever the compiler left below it.
func (r *rewriter) stack(catches []catch) int {
	p, l := r.program, &r.layout
	have := int(r.code.MaxStack)
	need := max(have, p.need.entry)
	if len(catches) > 0 {
		need = max(need, 1+p.need.caught)
		if r.counting.on {
			need = max(need, 1+countNeed)
		}
	}
	ret, handler := p.need.exit, 1+p.need.handler
	if r.tying != nil {
		ret = max(ret, tieNeed)
	}
	if r.counting.on && r.counting.paths.counter == classfile.VLong && len(l.stubs) > 0 {
		need = max(need, have+countNeed)
	}
	depth, spot := 0, 0
	s := classfile.Scan(l.code)
	for s.Next() {
		at := s.Offset
		switch marks := l.marks[at]; {
		case marks&markHandler != 0:
			depth = 1
			need = max(need, handler)
		case marks&markTarget != 0 && l.depths[at] != unknownDepth:
			depth = int(l.depths[at])
		}
		flow := s.Op.Info().Flow
		top := depth
		if depth == unknownDepth {
			top = have
		}
		if flow == classfile.FlowReturn {
			need = max(need, top+ret)
		}
		if l.marks[at]&markPoint != 0 {
			for int(l.spots[spot].at) < at {
				spot++
			}
			need = max(need, top+int(l.spots[spot].need))
		}
		if depth != unknownDepth {
			depth = l.after(&s.Instr, flow, &r.class.Pool, depth)
		}
		if l.marks[at]&markPoint != 0 && l.spots[spot].needed > 0 {
			top = depth
			if depth == unknownDepth {
				top = have
			}
			need = max(need, top+int(l.spots[spot].needed))
		}
		if flow != classfile.FlowNext && flow != classfile.FlowBranch {
			depth = unknownDepth
		}
	}
	return need
}

// after returns the depth behind an instruction and keeps it for the targets.
func (l *layout) after(in *classfile.Instr, flow classfile.Flow, p *classfile.Pool, depth int) int {
	pop, push, err := p.StackEffect(in)
	if err != nil || pop > depth {
		return unknownDepth
	}
	depth += push - pop
	switch flow {
	case classfile.FlowBranch, classfile.FlowJump:
		l.depths[in.Target()] = int32(depth)
	case classfile.FlowSwitch:
		sw, _ := in.Switch(l.code)
		l.depths[in.Offset+int(sw.Default)] = int32(depth)
		for i := range sw.Count {
			l.depths[in.Offset+int(sw.Offset(i))] = int32(depth)
		}
	}
	return depth
}
