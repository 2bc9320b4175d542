package web

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// A DiffRow is [path, depth, method, flags, calls before, calls after, total
// before, total after, self before, self after, children]; times in ns.
type DiffRow [11]int64

// A Change is [method, calls before, calls after, self before, self after,
// total before, total after]; times in ns.
type Change [7]int64

// A ComparePage is a window of the difference of two trees, and the methods
// whose own time differs most.
type ComparePage struct {
	Before  int64     `json:"before"` // ns of the whole tree
	After   int64     `json:"after"`
	Roots   [2]int64  `json:"roots"` // root invocations, before and after
	Count   int       `json:"count"`
	From    int       `json:"from"`
	Rows    []DiffRow `json:"rows"`
	Changes []Change  `json:"changes"`
	More    int       `json:"more"` // methods beyond the listed changes
}

// A pair is one path in two trees; either may lack it.
type pair struct {
	edge int32 // of both
	a, b *cct.Node
}

// compare draws the difference between two frames, from a to b. Nodes are
// matched by their paths. With each, b's figures are scaled to a's number of
// root invocations, so that recordings of different length can be compared.
func compare(a, b *Frame, l *CompareLook) ComparePage {
	scale := 1.0
	if l.Each && a.invocations > 0 && b.invocations > 0 {
		scale = float64(a.invocations) / float64(b.invocations)
	}
	by := func(v int64) int64 { return int64(float64(v) * scale) }
	page := ComparePage{
		Before: total(a.merged), After: by(total(b.merged)), Roots: [2]int64{a.invocations, b.invocations},
		From: l.From, Rows: []DiffRow{},
	}
	open := set(l.Open)
	type level struct {
		pairs []pair
		above int32
	}
	stack := []level{{pairs(a, b, a.merged, b.merged, scale), 0}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.pairs) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		p, above, depth := top.pairs[0], top.above, len(stack)-1
		top.pairs = top.pairs[1:]
		path := a.book.enter(above, p.edge)
		var na, nb cct.Node
		if p.a != nil {
			na = *p.a
		}
		if p.b != nil {
			nb = *p.b
		}
		children := max(len(na.Children), len(nb.Children))
		isOpen := open[path] && path != 0 && children > 0
		if page.Count >= l.From && len(page.Rows) < l.Rows {
			r := DiffRow{
				int64(path), int64(depth), int64(methodOf(p.edge)), 0, na.Calls, by(nb.Calls), na.Total, by(nb.Total), na.Self, by(nb.Self),
				int64(children),
			}
			if isOpen {
				r[3] |= rowOpen
			}
			if p.edge < 0 {
				r[3] |= rowAsync
			}
			page.Rows = append(page.Rows, r)
		}
		page.Count++
		if isOpen && depth < mostDepth {
			stack = append(stack, level{pairs(a, b, na.Children, nb.Children, scale), path})
		}
	}
	page.Changes, page.More = changes(a, b, by)
	return page
}

// pairs matches two lists of nodes, the largest change first.
func pairs(fa, fb *Frame, a, b []*cct.Node, scale float64) []pair {
	at := map[int32]int{}
	var out []pair
	for _, n := range a {
		k := fa.edge(n)
		at[k] = len(out)
		out = append(out, pair{edge: k, a: n})
	}
	for _, n := range b {
		k := fb.edge(n)
		if i, ok := at[k]; ok {
			out[i].b = n
		} else {
			out = append(out, pair{edge: k, b: n})
		}
	}
	weight := func(p pair) float64 {
		var before, after float64
		if p.a != nil {
			before = float64(p.a.Total)
		}
		if p.b != nil {
			after = float64(p.b.Total) * scale
		}
		return max(before-after, after-before)
	}
	slices.SortFunc(out, func(x, y pair) int {
		return cmp.Or(cmp.Compare(weight(y), weight(x)), cmp.Compare(x.edge, y.edge))
	})
	return out
}

// changes are the methods whose own time differs most.
func changes(a, b *Frame, by func(int64) int64) (out []Change, more int) {
	at := map[int32]int{}
	for _, e := range a.flat(flatKey{}) {
		at[e.Method] = len(out)
		out = append(out, Change{int64(e.Method), e.Calls, 0, e.Self, 0, e.Total, 0})
	}
	for _, e := range b.flat(flatKey{}) {
		i, ok := at[e.Method]
		if !ok {
			i = len(out)
			out = append(out, Change{int64(e.Method)})
		}
		out[i][2], out[i][4], out[i][6] = by(e.Calls), by(e.Self), by(e.Total)
	}
	weight := func(c Change) int64 { return max(c[3]-c[4], c[4]-c[3]) }
	slices.SortFunc(out, func(x, y Change) int {
		return cmp.Or(cmp.Compare(weight(y), weight(x)), cmp.Compare(x[0], y[0]))
	})
	n := min(len(out), 100)
	if out == nil {
		out = []Change{}
	}
	return out[:n], len(out) - n
}
