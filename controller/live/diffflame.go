package live

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/noise"
)

// A FlameQuery asks for the part of a difference's flame graph that fits into a window.
type FlameQuery struct {
	Focus int32 `json:"focus"` // the path that fills the width, 0 for all roots
	Width int   `json:"width"` // pixels
	Depth int   `json:"depth"` // levels
}

// A DiffBox is a context of the difference's flame graph: [path, depth, method, start, width,
// self before, self after, total before, total after, bound of self, path above, flags, calls
// before, calls after]. Times are in ns. A context is as wide as the larger of its totals;
// where callees would need more than their caller has, they share it.
type DiffBox [14]int64

// A DiffFlame is the flame graph of a difference, cut as an [IcicleView] is.
type DiffFlame struct {
	Focus int32     `json:"focus"`
	Above []Step    `json:"above"`
	Total int64     `json:"total"` // ns across the width
	Boxes []DiffBox `json:"boxes"`
}

// flame cuts the boxes, level by level.
func (n *diffNoise) flame(a, b *Frame, same matching, scale float64, q *FlameQuery) DiffFlame {
	by := func(v int64) int64 { return int64(float64(v) * scale) }
	wide := func(p pair) float64 {
		var of float64
		if p.a != nil {
			of = float64(p.a.Total)
		}
		if p.b != nil {
			of = max(of, float64(p.b.Total)*scale)
		}
		return of
	}
	type item struct {
		pair
		above        int32
		start, width float64
	}
	out := DiffFlame{Above: []Step{}, Boxes: []DiffBox{}}
	next, above := pairs(a, b, same, a.merged, b.merged, scale), int32(0)
	if q.Focus > 0 { // down to it, as far as it is there
		steps := a.numbering.edges(q.Focus)
		for i, edge := range steps {
			at := slices.IndexFunc(next, func(p pair) bool { return p.edge == edge })
			if at < 0 {
				next, above, out.Above = pairs(a, b, same, a.merged, b.merged, scale), 0, []Step{}
				break
			}
			if i == len(steps)-1 {
				next, out.Focus = next[at:at+1], q.Focus
				break
			}
			above = a.numbering.addPath(above, edge)
			out.Above = append(out.Above, Step{above, methodOf(edge)})
			na, nb := next[at].children()
			next = pairs(a, b, same, na, nb, scale)
		}
	}
	for _, p := range next {
		out.Total += int64(wide(p))
	}
	least := float64(out.Total) / float64(q.Width)
	place := func(to []item, of []pair, above int32, start, room float64) []item {
		var sum float64
		for _, p := range of {
			sum += wide(p)
		}
		if sum <= 0 {
			return to
		}
		shrink := min(1, room/sum)
		slices.SortFunc(of, func(x, y pair) int { return cmp.Or(cmp.Compare(wide(y), wide(x)), cmp.Compare(x.edge, y.edge)) })
		for _, p := range of {
			w := wide(p) * shrink
			if w < least || w <= 0 {
				break
			}
			to = append(to, item{p, above, start, w})
			start += w
		}
		return to
	}
	level := place(nil, next, above, 0, float64(out.Total))
	for depth := 0; len(level) > 0 && depth < q.Depth; depth++ {
		var below []item
		for _, it := range level {
			if len(out.Boxes) == maxBoxes {
				return out
			}
			var na, nb cct.Node
			if it.a != nil {
				na = *it.a
			}
			if it.b != nil {
				nb = *it.b
			}
			path := a.numbering.addPath(it.above, it.edge)
			bound := n.band.Bound(noise.Pair{Before: na.Self, After: by(nb.Self), ErrorBefore: na.Error, ErrorAfter: by(nb.Error)})
			box := DiffBox{
				int64(path), int64(depth), int64(methodOf(it.edge)), int64(it.start), int64(it.width),
				na.Self, by(nb.Self), na.Total, by(nb.Total), bound, int64(it.above), 0, na.Calls, by(nb.Calls),
			}
			if it.edge < 0 {
				box[11] |= rowAsync
			}
			out.Boxes = append(out.Boxes, box)
			below = place(below, pairs(a, b, same, na.Children, nb.Children, scale), path, it.start, it.width)
		}
		level = below
	}
	return out
}
