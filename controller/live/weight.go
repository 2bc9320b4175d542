package live

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// typeLoader stands where the loader of a method is for what is a type's name.
const typeLoader = "type"

// A weight is what the widths of a flame graph stand for: time, or the i-th metric.
type weight struct {
	metric *metric.Metric // nil is time
	i      int
}

// weightNamed is the weight whose total is the field of JSON; time if there is none.
func (f *Frame) weightNamed(field string) weight {
	rows := f.metrics().All()
	i := slices.IndexFunc(rows, func(m metric.Metric) bool { return field != "" && m.Total == field })
	if i < 0 {
		return weight{}
	}
	return weight{&rows[i], i}
}

// of is a node's total and own weight.
func (w weight) of(n *cct.Node) (total, own int64) {
	switch {
	case w.metric == nil:
		return n.Total, n.Self
	case n.Counts == nil:
		return 0, 0
	}
	return n.Counts.Total[w.i], n.Counts.Own[w.i]
}

// sum is the weight of a list of trees.
func (w weight) sum(roots []*cct.Node) (sum int64) {
	for _, n := range roots {
		total, _ := w.of(n)
		sum += total
	}
	return sum
}

// types are nodes without callees for what a context has allocated itself, the most
// first, where the weight is one of allocations; and the weight of each.
func (w weight) types(n *cct.Node) (types []cct.Alloc) {
	if w.metric == nil || len(n.Allocs()) == 0 || w.ofType(n.Allocs()[0]) < 0 {
		return nil
	}
	types = slices.Clone(n.Allocs())
	slices.SortFunc(types, func(a, b cct.Alloc) int {
		return cmp.Or(cmp.Compare(w.ofType(b), w.ofType(a)), cmp.Compare(a.Type.Name, b.Type.Name))
	})
	return types
}

// ofType is the weight of what was allocated of a type; -1 if the weight is none of
// allocations.
func (w weight) ofType(a cct.Alloc) int64 {
	switch w.metric.Name {
	case metric.AllocatedBytes.Name:
		return max(a.Bytes, 0)
	case metric.Objects.Name:
		if a.Type.Array {
			return 0
		}
		return a.Objects
	case metric.Arrays.Name:
		if !a.Type.Array {
			return 0
		}
		return a.Objects
	case metric.SurvivedBytes.Name:
		_, bytes := a.Survival.Older()
		return bytes
	case metric.LiveBytes.Name:
		_, bytes := a.Survival.Remaining()
		return bytes
	}
	return -1
}

// typeBoxes are the boxes of what the context of a box has allocated itself, behind its
// callees, as far as they are wide enough.
func (v selection) typeBoxes(w weight, n *cct.Node, of Box, start, least int64) (boxes []Box) {
	for _, a := range w.types(n) {
		width := w.ofType(a)
		if width < least || width == 0 {
			break // the rest is not wider
		}
		number := v.f.numbering.addMethod(cct.Method{Name: export.Clean(a.Type.Name), Loader: typeLoader})
		path := v.f.numbering.addPath(int32(of[0]), number)
		boxes = append(boxes, Box{int64(path), of[1] + 1, int64(number), start, width, width, a.Objects, 0, 0, 0, 0, of[0], rowType, 0, 0})
		start += width
	}
	return boxes
}
