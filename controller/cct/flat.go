package cct

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// A Flat is a method's line over all the paths that lead to it.
type Flat struct {
	Method     int32
	Incomplete bool
	Contexts   int64 // nodes that the method has
	Calls      int64
	Thrown     int64
	Self       int64
	Raw        int64 // see Node
	Sample     Sample
	Total      int64          // recursion counted once: only the outermost level of each path
	Counts     *metric.Values // its Total as Total; nil where nodes have none
	Allocs     []Alloc        // what it has allocated itself
	Heap       []HeapSample   // what of it samples of the heap have met
	Uncertainty
}

// FlatOf adds up the trees by method, most self time first (then most calls,
// then by method id, so that equal trees give equal lists).
func FlatOf(roots []*Node) []Flat {
	at := map[int32]int{}
	var flat []Flat
	var open []int32 // levels of flat[i]'s method on the current path
	lookup := func(m int32) int {
		i, ok := at[m]
		if !ok {
			i = len(flat)
			at[m] = i
			flat = append(flat, Flat{Method: m})
			open = append(open, 0)
		}
		return i
	}
	Walk(roots,
		func(n *Node, _ int) bool {
			if n.Method == Unplaced {
				return true
			}
			i := lookup(n.Method)
			f := &flat[i]
			f.Contexts++
			f.Calls += n.Calls
			f.Thrown += n.Thrown
			f.Self += n.Self
			f.Raw += n.Raw
			f.Uncertainty = f.Uncertainty.Plus(n.Uncertainty)
			if n.Sample() != nil {
				f.Sample = f.Sample.Plus(*n.Sample())
			}
			f.Incomplete = f.Incomplete || n.Incomplete
			f.Counts = addCounts(f.Counts, n.Counts)
			f.Allocs = addAllocs(f.Allocs, n.Allocs())
			f.Heap = addHeaps(f.Heap, n.Heap())
			if open[i] == 0 {
				f.Total += n.Total
				if n.Counts != nil {
					f.Counts.Over(n.Counts)
				}
			}
			open[i]++
			return true
		},
		func(n *Node, _ int) {
			if n.Method != Unplaced {
				open[at[n.Method]]--
			}
		})
	slices.SortFunc(flat, func(a, b Flat) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Method, b.Method))
	})
	return flat
}
