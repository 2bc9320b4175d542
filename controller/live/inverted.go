package live

import (
	"cmp"
	"math"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// An inverse is a tree as a list, so that each node's caller can be found: flame graphs from a
// method up to the roots are made of it.
type inverse struct {
	method []int32 // ids
	above  []int32 // place of the caller; -1 of a root
	self   []int64 // ns
	total  []int64
}

// inverse is kept, since a frame does not change.
func (f *Frame) inverse(k treeKey) *inverse {
	roots := f.tree(k)
	f.mu.Lock()
	v := f.inverses[k]
	f.mu.Unlock()
	if v != nil {
		return v
	}
	v = &inverse{}
	path := []int32{-1}
	cct.Walk(roots, func(n *cct.Node, _ int) bool {
		v.above = append(v.above, path[len(path)-1])
		path = append(path, int32(len(v.method)))
		v.method, v.self, v.total = append(v.method, n.Method), append(v.self, n.Self), append(v.total, n.Total)
		return true
	}, func(*cct.Node, int) { path = path[:len(path)-1] })
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inverses[k] = v
	return v
}

// A climb is a part of some node's time on its way up: where it is, and ns.
type climb struct {
	at int32
	ns int64
}

// A bunch is the time of climbs that have come to the same method.
type bunch struct {
	method int32
	total  int64
	climbs []climb
}

// bunches puts climbs together by the methods that they are at, the most time first.
func (v *inverse) bunches(climbs []climb) []bunch {
	place := map[int32]int{}
	var out []bunch
	for _, c := range climbs {
		m := v.method[c.at]
		i, ok := place[m]
		if !ok {
			i = len(out)
			place[m] = i
			out = append(out, bunch{method: m})
		}
		out[i].total += c.ns
		out[i].climbs = append(out[i].climbs, c)
	}
	slices.SortFunc(out, func(a, b bunch) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.method, b.method))
	})
	return out
}

// up are the climbs one level nearer to the roots; what has come from a root ends.
func (v *inverse) up(climbs []climb) []climb {
	out := make([]climb, 0, len(climbs))
	for _, c := range climbs {
		if a := v.above[c.at]; a >= 0 {
			out = append(out, climb{a, c.ns})
		}
	}
	return out
}

// leaves are the climbs of all self times.
func (v *inverse) leaves() []climb {
	var out []climb
	for i, ns := range v.self {
		if ns > 0 {
			out = append(out, climb{int32(i), ns})
		}
	}
	return out
}

// of are the climbs of a method's total times, of recursion those of the outermost levels.
func (v *inverse) of(method int32) []climb {
	var out []climb
	for i, m := range v.method {
		if m != method || v.total[i] <= 0 {
			continue
		}
		inner := false
		for a := v.above[i]; a >= 0 && !inner; a = v.above[a] {
			inner = v.method[a] == method
		}
		if !inner {
			out = append(out, climb{int32(i), v.total[i]})
		}
	}
	return out
}

// Edges at which paths of inverted flame graphs begin; no method has them.
const (
	invertedEdge = math.MaxInt32 - 1
	callersEdge  = math.MaxInt32 - 2
)

// inverted draws a flame graph of climbs: below each method, whoever calls it. Boxes have times
// alone; those of the uppermost level have theirs as self time if they are self times.
func (f *Frame) inverted(v *inverse, climbs []climb, edge int32, leaves bool, l *IcicleQuery) IcicleView {
	out := IcicleView{Boxes: []Box{}, Above: []Step{}, Inverted: leaves}
	for _, c := range climbs {
		out.Whole += c.ns
	}
	out.Total = out.Whole
	type item struct {
		bunch
		above int32
		start int64
	}
	base := f.numbering.addPath(0, edge)
	above := base
	level := v.bunches(climbs)
	if steps := f.numbering.edges(l.Focus); len(steps) > 1 && steps[0] == edge {
		var found *bunch
		next := level
		for i, step := range steps[1:] {
			at := slices.IndexFunc(next, func(b bunch) bool { return f.numbers[b.method] == step })
			if at < 0 {
				found = nil
				break
			}
			found = &next[at]
			if i < len(steps)-2 {
				above = f.numbering.addPath(above, step)
				out.Above = append(out.Above, Step{above, step})
				next = v.bunches(v.up(found.climbs))
			}
		}
		if found != nil {
			level, out.Focus, out.Total = []bunch{*found}, l.Focus, found.total
		} else {
			above, out.Above = base, []Step{}
		}
	}
	least := max(out.Total/int64(l.Width), 1)
	var items []item
	start := int64(0)
	for _, b := range level {
		if b.total >= least {
			items = append(items, item{b, above, start})
		}
		start += b.total
	}
	for depth := 0; len(items) > 0 && depth < l.Depth; depth++ {
		var next []item
		for _, it := range items {
			if len(out.Boxes) == maxBoxes {
				return out
			}
			number := f.numbers[it.method]
			path := f.numbering.addPath(it.above, number)
			self := int64(0)
			if leaves && it.above == base {
				self = it.total
			}
			out.Boxes = append(out.Boxes, Box{
				int64(path), int64(depth), int64(number), it.start, it.total, self, 0, 0, 0, 0, 0, int64(it.above),
			})
			if depth+1 == l.Depth {
				continue
			}
			start := it.start
			for _, b := range v.bunches(v.up(it.climbs)) {
				if b.total >= least {
					next = append(next, item{b, path, start})
				}
				start += b.total
			}
		}
		items = next
	}
	return out
}

// A Sandwich is two flame graphs of a method: whoever calls it, up to the roots, and what it calls.
type Sandwich struct {
	Callers IcicleView `json:"callers"`
	Callees IcicleView `json:"callees"`
}

func (f *Frame) sandwich(q *AroundQuery) *Sandwich {
	l := &IcicleQuery{Width: q.Width, Depth: mostSandwich}
	id, ok := f.local[q.Method]
	if !ok {
		return nil
	}
	v := f.inverse(treeKey{})
	s := &Sandwich{Callers: f.inverted(v, v.of(id), callersEdge, false, l)}
	var outermost []*cct.Node
	cct.Walk(f.merged, func(n *cct.Node, _ int) bool {
		if n.Method == id {
			outermost = append(outermost, n)
		}
		return n.Method != id
	}, func(*cct.Node, int) {})
	below := selection{f: f, roots: cct.Merge(outermost)}
	s.Callees = below.icicle(l)
	return s
}

// mostInvertedLive is how many nodes a recording that is on may have for inverted flame graphs,
// which go through the whole tree of each frame.
const mostInvertedLive = 100_000

// invertible tells whether flame graphs up to the roots are drawn of a frame.
func (l *Live) invertible(f *Frame, source int64) bool {
	if source != 0 || f.sums.Nodes <= mostInvertedLive {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.phase != InRecording
}

// mostSandwich is how many levels each half of a [Sandwich] has.
const mostSandwich = 60
