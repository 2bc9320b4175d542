package event

import (
	"cmp"
	"slices"
)

// MostItems bounds the slices of one [Window].
const MostItems = 20_000

// A Query is what somebody looks at of a timeline.
type Query struct {
	From, To int64 // ns, on the slices' own time; To 0 is no end
	Thread   int64 // 0 is all
	Most     int   // slices wanted, at most MostItems; 0 is MostItems
}

// A Window is a part of a timeline: its longest slices, in the order in which
// they began, callers before callees.
type Window struct {
	Slices []Slice
	Left   int64   // slices that are kept and meet the query, but are shorter than those here
	Least  int64   // ns below which those are; 0 if none is
	Lanes  []int64 // threads that have slices anywhere in the timeline, by the time of their first one
}

// Cut answers a query of slices in any order.
func Cut(all []Slice, q Query) Window {
	var w Window
	first := map[int64]int64{}
	for i := range all {
		s := &all[i]
		if at, ok := first[s.Thread]; !ok || s.Start < at {
			first[s.Thread] = s.Start
		}
		if s.Start+s.Took < q.From || q.To != 0 && s.Start > q.To || q.Thread != 0 && s.Thread != q.Thread {
			continue
		}
		w.Slices = append(w.Slices, *s)
	}
	for id := range first {
		w.Lanes = append(w.Lanes, id)
	}
	slices.SortFunc(w.Lanes, func(a, b int64) int { return cmp.Or(cmp.Compare(first[a], first[b]), cmp.Compare(a, b)) })
	most := q.Most
	if most <= 0 || most > MostItems {
		most = MostItems
	}
	if n := len(w.Slices); n > most {
		// Callers are longer than their callees, and come first among equals.
		slices.SortFunc(w.Slices, func(a, b Slice) int { return cmp.Or(cmp.Compare(b.Took, a.Took), cmp.Compare(a.Depth, b.Depth)) })
		w.Left, w.Least = int64(n-most), w.Slices[most].Took+1
		w.Slices = slices.Clip(w.Slices[:most])
	}
	slices.SortFunc(w.Slices, func(a, b Slice) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Depth, b.Depth)) })
	return w
}

// mostOpen bounds the invocations under way that one thread shows, the
// outermost ones.
const mostOpen = 1 << 12

// Kept copies the slices so far, those of invocations under way included: they
// end now, which is on the target's nanoTime. left and least are as of
// [Builder.Slices].
func (b *Builder) Kept(now int64) (out []Slice, left, least int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Timeline == nil {
		return nil, 0, 0
	}
	out = slices.Clone(b.Timeline.slices)
	for _, s := range b.streams {
		if s == nil {
			continue
		}
		k, end := s.called(s.top), max(now, s.shown)
		for depth := len(s.begins) - 1; depth >= 0 && k != 0; depth-- {
			if depth >= mostOpen {
				k = s.called(s.nodes[k].parent)
				continue
			}
			task := s.nodes[s.nodes[k].parent].method <= firstTask
			out = append(out, Slice{
				Record: s.record, Thread: s.thread, Method: s.nodes[k].method, Depth: depthOf(depth), Root: depth == 0 && !task, Task: task, Open: true,
				Start: s.begins[depth], Took: max(end-s.begins[depth], 0),
			})
			k = s.called(s.nodes[k].parent)
		}
	}
	return out, b.Timeline.left, b.Timeline.least
}

// called is a node itself, or what is above it if it stands for a hand-over.
func (s *stream) called(k int32) int32 {
	for k != 0 && s.nodes[k].method < 0 {
		k = s.nodes[k].parent
	}
	return k
}
