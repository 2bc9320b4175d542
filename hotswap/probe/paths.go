package probe

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// paths says where a method has to count so that the number of instructions on
// every path through it is known at its end, at the fewest and coldest places
// (Ball and Larus, "Optimally Profiling and Tracing Programs", POPL '92; Knuth,
// TAOCP 1, 2.3.4.1).
//
// A local n counts. Each block b has a potential phi: when control comes to b,
// n + phi(b) instructions have been executed. Along the edges of a spanning tree
// of the control-flow graph n stays as it is, and the potentials follow from
// that; each other edge, a chord, corrects n. A return adds the constant that n
// lacks there. The tree takes the edges that are executed most, guessed by the
// depth of loops, and of those the ones that have no place of their own for code.
//
// Where an exception comes from says a second local, p: before each instruction
// that may throw it is set so that n + p instructions have been executed, that
// one included, as a debugger that steps counts.
type paths struct {
	blocks []block
	edges  []edge
	at     []int32 // by offset of a leader: its block
	diff   []int32 // scratch of depths
	order  []int32 // scratch of the tree's edges, and of blocks to visit
	up     []int32 // scratch: union-find
	next   [][2]int32
	head   []int32

	weights *[256]int32 // what instructions count

	whole bool // blocks count as a whole, wherever in them an exception comes from

	counter  classfile.VTag // type of n: VInteger, VLong, or VTop where it is always 0
	position bool           // p is needed
	thrown   int32          // what n lacks at every exception, where p is not needed and this is known
	fixed    bool           // all paths are equally long: each instructions
	each     int32
}

// A block is a basic block. It ends where control may go elsewhere, or other
// control comes in; exceptions end none.
type block struct {
	start, end int32 // offsets of its instructions
	last       int32 // offset of the last one
	n          int32 // instructions that count
	in, out    int32 // edges
	depth      int32 // of loops
	phi        int32
	own        int32 // what the block itself adds to n, where it begins
	flow       classfile.Flow
	handler    bool  // control comes from a throw, too
	known      bool  // phi
	first      int32 // what is added to n where the block begins
	lead       int32 // before that, where control goes on from the block before
	stop       int32 // before its last instruction
	tells      bool  // p has to be right at its end: a jump from here goes to a handler
}

// An edge goes from block to block. taken: by a jump, not by going on.
type edge struct {
	from, to, inc int32
	detour        bool // its jump goes to a stub that adds inc to n
	taken, free   bool // free: it is in the tree, or ends at a handler, which p puts right
}

// weight is what control flow makes of a block's instructions, beside what it
// has added to n itself.
func (b *block) weight() int32 { return b.n - b.own }

// lacks is how many executed instructions n lacks after the block's last one.
func (b *block) lacks() int32 { return b.phi + b.weight() }

// position is p before an instruction of the block; upto is how many instructions of the block count, up to
// and including that one.
func (b *block) position(upto int32) int32 { return b.phi - b.own + upto }

// build finds blocks and edges of the code in l, whose leaders are marked, and
// works everything out. covered tells whether the method gets a catch-all.
func (g *paths) build(l *layout, code *classfile.Code, throws func(*classfile.Instr) bool, covered bool) {
	if g.cut(l) == 0 {
		g.edges = g.edges[:0]
		g.counter, g.position, g.thrown, g.fixed, g.each = classfile.VTop, false, 0, true, 0
		return
	}
	back := g.connect(l)
	for _, h := range code.Handlers {
		back = back || h.Handler < h.End
	}
	g.deepen()
	g.span()
	g.chords()
	handlers := len(code.Handlers) > 0
	g.position, g.thrown = handlers || covered, 0
	if !handlers && covered {
		g.position, g.thrown = g.throwers(l, throws)
	}
	counts := handlers
	for i := range g.edges {
		counts = counts || g.edges[i].inc != 0
	}
	for i := range g.blocks {
		counts = counts || g.blocks[i].own != 0
	}
	g.counter = classfile.VTop
	if counts {
		g.counter = classfile.VInteger
		if back {
			g.counter = classfile.VLong
		}
	}
	g.fixed, g.each = !counts, 0
	first := true
	for i := range g.blocks {
		if b := &g.blocks[i]; b.flow == classfile.FlowReturn {
			g.fixed = g.fixed && (first || g.each == b.lacks())
			g.each, first = b.lacks(), false
		}
	}
}

// throwers tells whether p is needed for the exceptions that leave a method without
// handlers; if not, what n lacks where they come from.
func (g *paths) throwers(l *layout, throws func(*classfile.Instr) bool) (position bool, lacks int32) {
	first, block := true, int32(-1)
	for s := classfile.Scan(l.code); s.Next(); {
		if l.marks[s.Offset]&markLeader != 0 {
			block = g.at[s.Offset]
		}
		if !throws(&s.Instr) {
			continue
		}
		at := g.blocks[block].lacks()
		if !g.whole || !first && lacks != at {
			return true, 0
		}
		first, lacks = false, at
	}
	return false, lacks
}

// cut finds the blocks, and returns how many instructions count.
func (g *paths) cut(l *layout) (all int32) {
	g.blocks = g.blocks[:0]
	if n := len(l.code) + 1; cap(g.at) < n {
		g.at = make([]int32, n+n/2)
	}
	g.at = g.at[:len(l.code)+1]
	for s := classfile.Scan(l.code); s.Next(); {
		if l.marks[s.Offset]&markLeader != 0 {
			g.at[s.Offset] = int32(len(g.blocks))
			g.blocks = append(g.blocks, block{start: int32(s.Offset), handler: l.marks[s.Offset]&markHandler != 0})
		}
		b := &g.blocks[len(g.blocks)-1]
		b.n += g.weights[s.Op]
		all += g.weights[s.Op]
		b.last, b.end, b.flow = int32(s.Offset), int32(s.Offset+s.Size), s.Op.Info().Flow
	}
	return all
}

// connect finds the edges, and tells whether any goes back.
func (g *paths) connect(l *layout) (back bool) {
	g.edges = g.edges[:0]
	for i := range g.blocks {
		b := &g.blocks[i]
		first := len(g.edges)
		if (b.flow == classfile.FlowNext || b.flow == classfile.FlowBranch) && i+1 < len(g.blocks) {
			g.edges = append(g.edges, edge{from: int32(i), to: int32(i + 1)})
		}
		in, err := classfile.Decode(l.code, int(b.last))
		if err != nil {
			continue // scan has seen it all
		}
		switch b.flow {
		case classfile.FlowBranch, classfile.FlowJump:
			g.take(i, first, g.at[in.Target()])
		case classfile.FlowSwitch:
			sw, _ := in.Switch(l.code)
			for k := -1; k < sw.Count; k++ {
				off := sw.Default
				if k >= 0 {
					off = sw.Offset(k)
				}
				g.take(i, first, g.at[in.Offset+int(off)])
			}
		}
	}
	g.blocks[0].in++ // where the method begins
	for i := range g.edges {
		e := &g.edges[i]
		to := &g.blocks[e.to]
		g.blocks[e.from].out++
		to.in++
		back = back || e.taken && e.to <= e.from
		if to.handler {
			to.in++ // throws
			e.free = true
			g.blocks[e.from].tells = true
		}
		if e.taken && e.from == e.to && !to.handler {
			to.own = to.n // a loop of one block counts in it: its jump has no place of its own
		}
	}
	return back
}

// take adds an edge of a jump; several cases of a switch are one.
func (g *paths) take(from, first int, to int32) {
	for i := first; i < len(g.edges); i++ {
		if e := &g.edges[i]; e.taken && e.to == to {
			return
		}
	}
	g.edges = append(g.edges, edge{from: int32(from), to: to, taken: true})
}

// deepen counts, for each block, the jumps back over it.
func (g *paths) deepen() {
	g.diff = append(g.diff[:0], make([]int32, len(g.blocks)+1)...)
	for i := range g.edges {
		if e := &g.edges[i]; e.taken && e.to <= e.from {
			g.diff[e.to]++
			g.diff[e.from+1]--
		}
	}
	depth := int32(0)
	for i := range g.blocks {
		depth += g.diff[i]
		g.blocks[i].depth = depth
	}
}

// critical tells whether an edge has no place of its own for code, neither at the
// end of the block that it leaves nor at the beginning of the one that it enters.
func (g *paths) critical(e *edge) bool {
	return e.taken && g.blocks[e.from].out > 1 && g.blocks[e.to].in > 1
}

// span chooses the tree (Kruskal), and sets the potentials along it.
func (g *paths) span() {
	g.order = g.order[:0]
	for i := range g.edges {
		if !g.edges[i].free {
			g.order = append(g.order, int32(i))
		}
	}
	hot := func(e *edge) int32 { return min(g.blocks[e.from].depth, g.blocks[e.to].depth) }
	slices.SortFunc(g.order, func(a, b int32) int {
		x, y := &g.edges[a], &g.edges[b]
		if c := cmp.Compare(hot(y), hot(x)); c != 0 {
			return c
		}
		if g.critical(x) != g.critical(y) {
			if g.critical(x) {
				return -1
			}
			return 1
		}
		return cmp.Compare(a, b)
	})
	g.up = g.up[:0]
	for i := range g.blocks {
		g.up = append(g.up, int32(i))
	}
	find := func(i int32) int32 {
		for g.up[i] != i {
			g.up[i] = g.up[g.up[i]]
			i = g.up[i]
		}
		return i
	}
	// The tree's edges of each block, as lists: head is each block's first, next
	// the rows, of an edge and the row behind it.
	g.head = append(g.head[:0], make([]int32, len(g.blocks))...)
	g.next = append(g.next[:0], [2]int32{})
	for _, i := range g.order {
		e := &g.edges[i]
		a, b := find(e.from), find(e.to)
		if a == b {
			continue
		}
		g.up[a] = b
		e.free = true
		for _, end := range [2]int32{e.from, e.to} {
			g.next = append(g.next, [2]int32{i, g.head[end]})
			g.head[end] = int32(len(g.next) - 1)
		}
	}
	for i := range g.blocks {
		if b := &g.blocks[i]; !b.known {
			b.known = true
			g.potentials(int32(i))
		}
	}
}

// potentials follows the tree from a block whose potential is known.
func (g *paths) potentials(from int32) {
	todo := append(g.order[:0], from)
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for row := g.head[at]; row != 0; row = g.next[row][1] {
			e := &g.edges[g.next[row][0]]
			from, to := &g.blocks[e.from], &g.blocks[e.to]
			switch {
			case !to.known:
				to.known, to.phi = true, from.lacks()
				todo = append(todo, e.to)
			case !from.known:
				from.known, from.phi = true, to.phi-from.weight()
				todo = append(todo, e.from)
			}
		}
	}
	g.order = todo
}

// chords works out by how much each edge that is not in the tree corrects n.
func (g *paths) chords() {
	for i := range g.edges {
		if e := &g.edges[i]; !g.blocks[e.to].handler {
			e.inc = g.blocks[e.from].lacks() - g.blocks[e.to].phi
		}
	}
}

// place finds a place for each correction of n.
func (g *paths) place() {
	for i := range g.blocks {
		b := &g.blocks[i]
		b.first, b.lead, b.stop = b.own, 0, 0
	}
	for i := range g.edges {
		e := &g.edges[i]
		if e.inc == 0 {
			continue
		}
		from, to := &g.blocks[e.from], &g.blocks[e.to]
		switch {
		case e.taken && from.out == 1:
			from.stop += e.inc
		case to.in == 1:
			to.first += e.inc
		case !e.taken:
			to.lead += e.inc
		default:
			e.detour = true
		}
	}
}

// before is what invocations have executed when they come to an instruction at
// an offset, that one included, where n is 0 until then on every path; else
// false. It is for calls of super(), behind which no path leads back before it.
func (g *paths) before(code []byte, at int32) (executed int32, ok bool) {
	for i := range g.blocks {
		b := &g.blocks[i]
		if b.start <= at && (b.own != 0 || b.handler) {
			return 0, false
		}
		if b.start <= at && at < b.end {
			upto := g.weights[code[at]]
			for s := classfile.Scan(code[b.start:at]); s.Next(); {
				upto += g.weights[s.Op]
			}
			if executed, ok = b.position(upto), true; g.whole {
				executed = b.lacks()
			}
		}
	}
	for i := range g.edges {
		if e := &g.edges[i]; e.inc != 0 && g.blocks[e.from].end <= at {
			return 0, false
		}
	}
	return executed, ok
}
