package live

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// A Box is one node of the flame graph: [path, depth, method, start, total, self, calls,
// thrown, measured, error, cut, path above, flags, waited, longest wait]. Times are in ns;
// start is counted from the left edge, depth from the focus. cut is the number of callees
// that are left out, since they are too small to be seen or too deep. Flags are those of a
// [Row], except open and hot, and one that is set for allocated types. Where the view has a
// metric, total and self are of that, and a type's calls are objects.
type Box [15]int64

// An IcicleView is the flame graph, cut to a window. Nodes narrower than a pixel or deeper
// than asked for are left out. There are at most 4,000 boxes; the deepest go first.
type IcicleView struct {
	Focus int32  `json:"focus"` // the path shown; 0 if the one asked for is gone
	Above []Step `json:"above"` // what is above the focus, from the root on
	Total int64  `json:"total"` // ns across the width
	Whole int64  `json:"whole"` // ns of the whole tree
	Boxes []Box  `json:"boxes"`

	Metric *metric.Metric `json:"metric,omitempty"` // what widths stand for; nil is time

	Inverted bool `json:"inverted,omitempty"`
}

// A Step is one node above the focus of a flame graph: [path, method].
type Step [2]int32

// icicle cuts the boxes, level by level, so that what is left out when there
// are too many is the deepest.
func (v selection) icicle(l *IcicleQuery) IcicleView {
	w := v.f.weightNamed(l.Weight)
	if v.key.within != (span{}) { // metrics of a range are not known
		w = weight{}
	}
	out := IcicleView{Whole: w.sum(v.roots), Boxes: []Box{}, Above: []Step{}, Metric: w.metric}
	type item struct {
		node  *cct.Node
		above int32
		start int64
		total int64
	}
	var level []item
	place := func(to []item, nodes []*cct.Node, above int32, start, least int64) (out []item, cut int) {
		from := len(to)
		for _, n := range nodes {
			if total, _ := w.of(n); total >= least && total > 0 {
				to = append(to, item{node: n, above: above, total: total})
			} else {
				cut++
			}
		}
		slices.SortFunc(to[from:], func(a, b item) int {
			return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.node.Method, b.node.Method))
		})
		for i := from; i < len(to); i++ {
			to[i].start = start
			start += to[i].total
		}
		return to, cut
	}
	out.Total = out.Whole
	least := int64(0)
	focus, across := v.find(l.Focus), int64(0)
	if focus != nil {
		across, _ = w.of(focus)
	}
	if across > 0 {
		steps := v.f.numbering.edges(l.Focus)
		out.Focus, out.Total = l.Focus, across
		least = out.Total / int64(l.Width)
		var above int32
		for _, edge := range steps[:len(steps)-1] {
			above = v.f.numbering.addPath(above, edge)
			out.Above = append(out.Above, Step{above, v.stepMethod(above, edge)})
		}
		level = []item{{focus, above, 0, across}}
	} else {
		least = out.Total / int64(l.Width)
		level, _ = place(nil, v.kids(v.roots, 0), 0, 0, least)
	}
	for depth := 0; len(level) > 0 && depth < l.Depth; depth++ {
		var next []item
		for _, it := range level {
			if len(out.Boxes) >= maxBoxes {
				return out
			}
			n := it.node
			edge := v.f.edge(n)
			path := v.f.numbering.addPath(it.above, edge)
			kids := v.kids(n.Children, path)
			cut := len(kids)
			if depth+1 < l.Depth {
				next, cut = place(next, kids, path, it.start, least)
			}
			_, own := w.of(n)
			b := Box{
				int64(path), int64(depth), int64(v.method(n, edge)), it.start, it.total, own, n.Calls, n.Thrown, n.Raw, n.Error, int64(cut), int64(it.above), 0, 0, 0,
			}
			if n.Method == cct.Frameworks {
				b[12] |= RowFold
			}
			if n.Incomplete {
				b[12] |= rowIncomplete
			}
			if v.f.Report.Counted[n.Method] {
				b[12] |= RowCounted
			}
			if a := n.Async(); a != nil {
				b[12] |= rowAsync
				b[13], b[14] = a.Waited, a.Longest
			}
			if w.metric != nil {
				b[8], b[9] = 0, 0 // of the time
			}
			out.Boxes = append(out.Boxes, b)
			if depth+1 < l.Depth {
				out.Boxes = append(out.Boxes, v.typeBoxes(w, n, b, it.start+w.sum(kids), least)...)
			}
		}
		level = next
	}
	return out
}
