package live

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/noise"
)

// A DiffRow is a node of two trees: [path, depth, method, flags, calls before, calls after,
// total before, total after, self before, self after, children, bound of total, bound of
// self]. Times are in ns. A bound is by how much the two times may differ though the program
// is unchanged: a smaller difference is noise.
type DiffRow [13]int64

// A Change is a method whose own time differs: [method, calls before, calls after, self
// before, self after, total before, total after, bound of self]. Times are in ns.
type Change [8]int64

// A CompareView is a window of the difference of two trees, and the 100 methods whose own
// time differs most, of those that differ beyond noise.
type CompareView struct {
	Before  int64           `json:"before"` // ns of the whole tree
	After   int64           `json:"after"`
	Roots   [2]int64        `json:"roots"`  // root calls, before and after
	Scaled  bool            `json:"scaled"` // after's figures are
	Unlike  []export.Unlike `json:"unlike"` // what makes the recordings unlike
	Verdict string          `json:"verdict"`
	Differ  int             `json:"differ"` // methods whose own time differs beyond noise
	Count   int             `json:"count"`
	From    int             `json:"from"`
	Rows    []DiffRow       `json:"rows"`
	Hot     []int32         `json:"hot"` // from a root to where most of the difference is
	Changes []Change        `json:"changes"`
	More    int             `json:"more"`   // methods that differ beyond the listed changes
	Within  int             `json:"within"` // methods whose difference is noise
	Flame   *DiffFlame      `json:"flame,omitempty"`
}

// A pair is one path in two trees; either may lack it.
type pair struct {
	edge int32 // of both
	a, b *cct.Node
}

// A matching gives the methods of the one before the numbers that the one after
// has for them; those that only the one before has keep theirs.
type matching map[int32]int32

func match(a, b *Frame) matching {
	needed := false
	for n, id := range a.local {
		if _, both := b.local[n]; !both && strings.Contains(a.method(id).Loader, "@") {
			needed = true
			break
		}
	}
	if !needed {
		return nil
	}
	var m cct.Matcher
	in := func(f *Frame) (numbers, same []int32) {
		numbers = slices.Sorted(maps.Keys(f.local))
		methods := make([]cct.Method, len(numbers))
		for i, n := range numbers {
			methods[i] = f.method(f.local[n])
		}
		return numbers, m.Add(methods)
	}
	after, keys := in(b)
	at := make(map[int32]int32, len(after))
	for i, k := range keys {
		at[k] = after[i]
	}
	out := matching{}
	before, keys := in(a)
	for i, k := range keys {
		if n, ok := at[k]; ok && n != before[i] {
			out[before[i]] = n
		}
	}
	return out
}

// edge is one of the one before, as the one after has it.
func (m matching) edge(of int32) int32 {
	n, ok := m[methodOf(of)]
	switch {
	case !ok:
		return of
	case of < 0:
		return -n
	}
	return n
}

// differs is by how much a part of a pair's time, which of chooses, has changed, in ns.
func (p pair) differs(of func(*cct.Node) int64, scale float64) float64 {
	var before, after float64
	if p.a != nil {
		before = float64(of(p.a))
	}
	if p.b != nil {
		after = float64(of(p.b)) * scale
	}
	return max(before-after, after-before)
}

func (p pair) total(scale float64) float64 {
	return p.differs(func(n *cct.Node) int64 { return n.Total }, scale)
}

func (p pair) self(scale float64) float64 {
	return p.differs(func(n *cct.Node) int64 { return n.Self }, scale)
}

// children are those of both.
func (p pair) children() (a, b []*cct.Node) {
	if p.a != nil {
		a = p.a.Children
	}
	if p.b != nil {
		b = p.b.Children
	}
	return a, b
}

// compare draws the difference between two frames, from a to b. Nodes are
// matched by their paths, methods as [cct.Matcher] does. With each, b's figures
// are scaled to a's number of root invocations, and of reports of samples to a's
// length, so that recordings of different length can be compared. Recordings with
// unfinished root invocations are not scaled.
func compare(a, b *Frame, l *CompareQuery) CompareView {
	unlike := export.UnlikeOf(a.Report, b.Report)
	scale := 1.0
	switch sampled := a.Report.Sampling != nil && b.Report.Sampling != nil; {
	case !l.Each || export.Grave(unlike):
	case sampled && a.Report.Time > 0 && b.Report.Time > 0:
		scale = float64(a.Report.Time) / float64(b.Report.Time)
	case !sampled && a.invocations > 0 && b.invocations > 0:
		scale = float64(a.invocations) / float64(b.invocations)
	}
	by := func(v int64) int64 { return int64(float64(v) * scale) }
	view := CompareView{
		Before: total(a.merged), After: by(total(b.merged)), Roots: [2]int64{a.invocations, b.invocations}, Scaled: l.Each && !export.Grave(unlike),
		Unlike: append([]export.Unlike{}, unlike...), From: l.From, Rows: []DiffRow{},
	}
	open, same := set(l.Open), match(a, b)
	all := changesOf(a, b, same, scale)
	n := newNoise(a, b, all, scale, export.Grave(unlike))
	view.takeChanges(all, n)
	type level struct {
		pairs []pair
		above int32
	}
	stack := []level{{pairs(a, b, same, a.merged, b.merged, scale), 0}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.pairs) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		p, above, depth := top.pairs[0], top.above, len(stack)-1
		top.pairs = top.pairs[1:]
		path := a.numbering.addPath(above, p.edge)
		var na, nb cct.Node
		if p.a != nil {
			na = *p.a
		}
		if p.b != nil {
			nb = *p.b
		}
		children := max(len(na.Children), len(nb.Children))
		isOpen := open[path] && path != 0 && children > 0
		if view.Count >= l.From && len(view.Rows) < l.Rows {
			r := DiffRow{
				int64(path), int64(depth), int64(methodOf(p.edge)), 0, na.Calls, by(nb.Calls), na.Total, by(nb.Total), na.Self, by(nb.Self),
				int64(children), n.total(na.Total, by(nb.Total)), n.band.Bound(noise.Pair{
					Before: na.Self, After: by(nb.Self), ErrorBefore: na.Error, ErrorAfter: by(nb.Error),
				}),
			}
			if isOpen {
				r[3] |= rowOpen
			}
			if p.edge < 0 {
				r[3] |= rowAsync
			}
			view.Rows = append(view.Rows, r)
		}
		view.Count++
		if isOpen && depth < maxDepth {
			stack = append(stack, level{pairs(a, b, same, na.Children, nb.Children, scale), path})
		}
	}
	view.Hot = hottest(a, b, same, scale)
	if l.Flame != nil {
		view.Flame = ptr(n.flame(a, b, same, scale, l.Flame))
	}
	return view
}

// hottest is the path to where most of the difference is: from a root on to the
// callee that differs most, until a method's own time differs more than any of them.
func hottest(a, b *Frame, same matching, scale float64) []int32 {
	path := []int32{}
	above := int32(0)
	for next := pairs(a, b, same, a.merged, b.merged, scale); len(next) > 0 && len(path) < maxDepth; {
		p := next[0]
		above = a.numbering.addPath(above, p.edge)
		if above == 0 || p.total(scale) == 0 {
			break
		}
		path = append(path, above)
		na, nb := p.children()
		next = pairs(a, b, same, na, nb, scale)
		if len(next) > 0 && next[0].total(scale) < p.self(scale) {
			break
		}
	}
	return path
}

// pairs matches two lists of nodes, the largest change first.
func pairs(fa, fb *Frame, same matching, a, b []*cct.Node, scale float64) []pair {
	at := map[int32]int{}
	var out []pair
	for _, n := range a {
		k := same.edge(fa.edge(n))
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
	slices.SortFunc(out, func(x, y pair) int {
		return cmp.Or(cmp.Compare(y.total(scale), x.total(scale)), cmp.Compare(x.edge, y.edge))
	})
	return out
}
