package probe

import (
	"math"
	"slices"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// Marks of an offset in the original code.
const (
	markStart   uint8 = 1 << iota // an instruction begins here
	markTarget                    // a branch or switch comes here
	markHandler                   // an exception handler begins here
	markSuper                     // calls super() or this(), see ctorFlow
	markLeader                    // a basic block begins
	markPoint                     // something is injected for a point
	markReturn                    // leaves the method
)

// A spot is an instruction at which the code changes its length or content.
type spot struct {
	at, size int32
	target   int32 // of a branch, in the original code
	op       classfile.Op
	flow     classfile.Flow
	handler  bool  // a handler begins here
	grown    bool  // the branch takes its long form
	lead     int32 // of injected.points: from here up to from, what only control that goes on from before comes to
	from, to int32 // of injected.points: what the points here inject
	need     int32 // words of stack for that
	after    int32 // of injected.points: from to, what goes behind the call here
	needed   int32 // words of stack for that
}

// A stub is a way that a jump takes to its target: it lies behind the code, does
// something, and jumps on.
type stub struct {
	at, target int32 // of the jump, and where it goes, in the original code
	from, to   int32 // of injected.points: what it does
	pos        int32
}

// stubJump is the length of the jump at its end.
const stubJump = 3

// A layout says where everything goes. Its slices are used again for the next
// method.
type layout struct {
	code   []byte
	marks  []uint8 // by original offset, one past the end included
	pos    []int32 // by original offset: where control that came here goes now
	depths []int32 // by original offset: words on the stack where known, see stack
	spots  []spot  // in order
	spare  []spot
	stubs  []stub // by at, and in the order in which they lie behind the code
	length int    // of the new code up to the end of the original

	entry, ret, handler int // lengths of the injected sequences
}

// scan finds the spots and checks that everything which points into the code
// points to an instruction.
func (l *layout) scan(code *classfile.Code) error {
	n := len(code.Bytecode)
	l.code = code.Bytecode
	l.spots = l.spots[:0]
	l.stubs = l.stubs[:0]
	l.marks = zeroed(l.marks, n+1)
	for _, h := range code.Handlers {
		if h.Start >= h.End || int(h.End) > n || int(h.Handler) >= n {
			return malformed("exception table")
		}
		l.marks[h.Handler] |= markHandler
	}
	s := classfile.Scan(code.Bytecode)
	for s.Next() {
		l.marks[s.Offset] |= markStart
		flow := s.Op.Info().Flow
		if flow == classfile.FlowReturn {
			l.marks[s.Offset] |= markReturn
		}
		handler := l.marks[s.Offset]&markHandler != 0
		if (flow == classfile.FlowNext || flow == classfile.FlowThrow) && !handler {
			continue
		}
		sp := spot{at: int32(s.Offset), size: int32(s.Size), op: s.Op, flow: flow, handler: handler}
		switch flow {
		case classfile.FlowBranch, classfile.FlowJump:
			t := s.Target()
			if t < 0 || t >= n {
				return malformed("branch out of the code")
			}
			l.marks[t] |= markTarget
			sp.target = int32(t)
		case classfile.FlowSwitch:
			if !l.markCases(&s.Instr) {
				return malformed("branch out of the code")
			}
		case classfile.FlowSubroutine, classfile.FlowRet:
			return reasonJsr
		}
		l.spots = append(l.spots, sp)
	}
	if err := s.Err(); err != nil {
		return err
	}
	for _, m := range l.marks {
		if m != 0 && m&markStart == 0 {
			return malformed("branch or handler into the middle of an instruction")
		}
	}
	l.marks[n] = markStart // ends of ranges may be here
	return nil
}

// betweenReturns is all code but returns.
func (l *layout) betweenReturns() (ranges []span) {
	from := 0
	for i := range l.spots {
		if sp := &l.spots[i]; sp.flow == classfile.FlowReturn {
			if int(sp.at) > from {
				ranges = append(ranges, span{from, int(sp.at)})
			}
			from = int(sp.at + sp.size)
		}
	}
	if from < len(l.code) {
		ranges = append(ranges, span{from, len(l.code)})
	}
	return ranges
}

// markCases marks the targets of a switch and reports whether all are in the
// code.
func (l *layout) markCases(in *classfile.Instr) bool {
	sw, _ := in.Switch(l.code)
	for i := -1; i < sw.Count; i++ {
		off := sw.Default
		if i >= 0 {
			off = sw.Offset(i)
		}
		t := int64(in.Offset) + int64(off)
		if t < 0 || t >= int64(len(l.code)) {
			return false
		}
		l.marks[t] |= markTarget
	}
	return true
}

// place computes the positions. The lengths of the injected sequences must be
// set. Branches that come out too long are grown, which moves others, until
// all fit; a grown branch never shrinks, so this ends.
func (l *layout) place() {
	n := len(l.code)
	if cap(l.pos) < n+1 {
		l.pos = make([]int32, n+1+n/2)
	}
	l.pos = l.pos[:n+1]
	l.positions()
	for l.grow() {
		l.positions()
	}
}

func (l *layout) positions() {
	shift := int32(l.entry)
	from := int32(0)
	for i := range l.spots {
		sp := &l.spots[i]
		l.fill(from, sp.at, shift)
		shift += sp.from - sp.lead
		l.fill(sp.at, sp.at+1, shift)
		shift += int32(l.before(sp))
		switch {
		case sp.flow == classfile.FlowSwitch:
			shift += int32(classfile.SwitchPadding(int(sp.at+shift)) - classfile.SwitchPadding(int(sp.at)))
		case sp.grown:
			shift += growth[sp.flow]
		}
		shift += max(sp.after-sp.to, 0)
		from = sp.at + 1
	}
	n := int32(len(l.code))
	l.fill(from, n+1, shift)
	l.length = int(n + shift)
	for i := range l.stubs {
		st := &l.stubs[i]
		st.pos = int32(l.length)
		l.length += int(st.to-st.from) + stubJump
	}
}

// landing is where a jump of the original code goes now: to its target, or to a
// stub on the way.
func (l *layout) landing(at, target int32) int32 {
	if len(l.stubs) > 0 {
		i, _ := slices.BinarySearchFunc(l.stubs, at, func(st stub, at int32) int { return int(st.at - at) })
		for ; i < len(l.stubs) && l.stubs[i].at == at; i++ {
			if l.stubs[i].target == target {
				return l.stubs[i].pos
			}
		}
	}
	return l.pos[target]
}

func (l *layout) fill(from, to, shift int32) {
	p := l.pos[from:to]
	for i := range p {
		p[i] = from + int32(i) + shift
	}
}

// before returns the length of what is injected before the instruction.
func (l *layout) before(sp *spot) (n int) {
	n = int(sp.to - sp.from)
	if sp.handler {
		n += l.handler
	}
	if sp.flow == classfile.FlowReturn {
		n += l.ret
	}
	return n
}

// body returns where the instruction at an original offset itself goes, behind
// what is injected before it.
func (l *layout) body(at int) int32 {
	i, ok := slices.BinarySearchFunc(l.spots, at, func(sp spot, at int) int { return int(sp.at) - at })
	if !ok {
		return l.pos[at]
	}
	return l.pos[at] + int32(l.before(&l.spots[i]))
}

// grow marks the branches that don't fit 16 bits and reports whether there
// were new ones.
func (l *layout) grow() bool {
	if l.length <= math.MaxInt16 {
		return false
	}
	more := false
	for i := range l.spots {
		sp := &l.spots[i]
		if sp.grown || sp.op.Info().Layout != classfile.LayoutBranch2 {
			continue
		}
		d := l.pos[sp.target] - l.pos[sp.at] - int32(l.before(sp))
		if d == int32(int16(d)) {
			continue
		}
		sp.grown, more = true, true
	}
	return more
}

// growth is how much longer the long form of a branch is: goto becomes goto_w,
// a conditional branch its opposite over a goto_w.
var growth = [...]int32{classfile.FlowJump: 2, classfile.FlowBranch: longBranch - 3}

// longBranch is the length of a conditional branch in its long form.
const longBranch = 8

// landings returns the original offsets behind the conditional branches that
// were grown: the opposite branch jumps there.
func (l *layout) landings() (at []int) {
	for i := range l.spots {
		if sp := &l.spots[i]; sp.grown && sp.flow == classfile.FlowBranch {
			at = append(at, int(sp.at+sp.size))
		}
	}
	return at
}

func zeroed(s []uint8, n int) []uint8 {
	if cap(s) < n {
		return make([]uint8, n+n/2)[:n]
	}
	s = s[:n]
	clear(s)
	return s
}
