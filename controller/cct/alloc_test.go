package cct_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// TestAllocations reads types out of the tree of calls, and puts contexts together.
func TestAllocations(t *testing.T) {
	point := &cct.Type{Name: "Point", Size: 24}
	ints := &cct.Type{Name: "int[]", Array: true, Size: cct.NotKnown}
	vague := &cct.Type{Name: "Vague", Size: cct.NotKnown}
	m := newImage(100)
	call := func(method int32, calls, self int64, below ...*cct.Node) *cct.Node {
		return &cct.Node{Method: method, Calls: calls, Self: self, Children: below}
	}
	m.thread(&cct.Thread{ID: 1, RootEntries: 1, RootReturns: 1, Roots: []*cct.Node{
		call(1, 1, 10,
			call(5, 3, 0), // Points
			call(2, 2, 5, call(6, 4, 96), call(5, 1, 0)),
			call(7, 2, 0),
			call(1, 1, 7, call(6, 1, 16))),
	}})
	rows, _ := metric.Asked(metric.CountAllocations)
	s, err := cct.ReadWith(m.mem, cct.Options{Metrics: metric.NewTable(rows.Rows...), Types: []*cct.Type{5: point, 6: ints, 7: vague}})
	if err != nil {
		t.Fatal(err)
	}
	sums := cct.Sum(s.Roots())
	if sums.Nodes != 3 || sums.Calls != 4 || sums.Self != 22 {
		t.Errorf("%d contexts, %d calls, %d ns: types are no calls", sums.Nodes, sums.Calls, sums.Self)
	}
	if got, want := sums.Counts.Own[:3], []int64{6, 5, 4*24 + 96 + 16}; !cmp.Equal(got, want) {
		t.Errorf("objects, arrays and bytes %v, want %v", got, want)
	}
	if got, want := s.Roots()[0].Counts.Total[:3], sums.Counts.Own[:3]; !cmp.Equal(got, want) {
		t.Errorf("the root's totals are %v, want %v", got, want)
	}
	folded := cct.FoldRecursion(s.Roots())
	want := []cct.Alloc{{Type: ints, Objects: 1, Bytes: 16}, {Type: point, Objects: 3, Bytes: 72}, {Type: vague, Objects: 2, Bytes: cct.NotKnown}}
	got := cct.ByBytes(folded[0].Allocs())
	if diff := cmp.Diff([]cct.Alloc{want[1], want[0], want[2]}, got); diff != "" {
		t.Errorf("of the folded root, -want +got:\n%s", diff)
	}
	if n := len(s.Roots()[0].Allocs()); n != 2 {
		t.Errorf("folding has changed what was folded: %d types", n)
	}
	types := cct.TypesOf(s.Roots())
	if diff := cmp.Diff([]cct.TypeSum{{Alloc: cct.Alloc{Type: ints, Objects: 5, Bytes: 112}, Contexts: 2}, {Alloc: cct.Alloc{Type: point, Objects: 4, Bytes: 96}, Contexts: 2}, {Alloc: cct.Alloc{Type: vague, Objects: 2, Bytes: cct.NotKnown}, Contexts: 1}}, types); diff != "" {
		t.Errorf("by type, -want +got:\n%s", diff)
	}
}
