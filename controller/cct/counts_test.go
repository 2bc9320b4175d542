package cct_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// longest is a metric that no recording has: one of a node's side, of which the
// largest counts.
var longest = metric.Metric{
	Name: "longest", Title: "longest", Unit: metric.Nanoseconds, Merge: metric.Max, Self: "longest_ns", Total: "longest_below_ns",
	Word: metric.Word{Side: true, Offset: wire.XFree},
}

// TestNewMetric reads a metric that was added to the table, beside one that is
// there, from the words that their rows say.
func TestNewMetric(t *testing.T) {
	m := newImage(64)
	child := &cct.Node{Method: 2, Calls: 5, Thrown: 2}
	rec := m.thread(&cct.Thread{ID: 1, Name: "main", RootEntries: 1, Roots: []*cct.Node{{Method: 1, Calls: 3, Self: 7, Children: []*cct.Node{child}}}})
	root, leaf := offNode(2), offNode(3) // above both is the record's top
	m.put64(root+wire.NCount, 100)
	m.put64(leaf+wire.NCount, 10)
	side := int(*(*uint32)(ptr(m, leaf+wire.NFlags)) & wire.NSide)
	m.put64(side+wire.XFree, 77)
	m.put64(side+wire.XUnwound, 1)
	m.put64(offRecord(rec)+wire.RCursor, int64(leaf)) // one invocation of each is open
	s, err := cct.ReadWith(m.mem, cct.Options{Metrics: metric.NewTable(metric.Bytecodes, longest)})
	if err != nil {
		t.Fatal(err)
	}
	lost := s.AddExecuted("bytecodes", func(method int32) cct.Executed {
		return map[int32]cct.Executed{1: {Each: 1000}, 2: {Each: 3, Super: 20, SuperVaries: true}}[method]
	})
	if diff := cmp.Diff(map[int32]int64{2: 1}, lost); diff != "" {
		t.Errorf("lost, -want +got:\n%s", diff)
	}
	type row struct {
		Method      int32
		Own, Total  [2]int64
		Unwound, Op int64
	}
	rows := func(roots []*cct.Node) (got []row) {
		for n := range cct.All(roots) {
			v := n.Counts
			got = append(got, row{n.Method, [2]int64(v.Own[:2]), [2]int64(v.Total[:2]), v.Unwound, v.Open})
		}
		return got
	}
	below := int64(10 + (5-2-1)*3 + 20)
	want := []row{
		{1, [2]int64{100 + 2*1000, 0}, [2]int64{2100 + below, 77}, 0, 1},
		{2, [2]int64{below, 77}, [2]int64{below, 77}, 1, 1},
	}
	if diff := cmp.Diff(want, rows(s.Roots())); diff != "" {
		t.Errorf("read, -want +got:\n%s", diff)
	}
	if s.Roots()[0].Children[0].Thrown != 2 {
		t.Errorf("thrown: %d", s.Roots()[0].Children[0].Thrown)
	}
	twice := cct.Merge(append(s.Roots(), s.Roots()...))
	want = []row{
		{1, [2]int64{4200, 0}, [2]int64{4200 + 2*below, 77}, 0, 2},
		{2, [2]int64{2 * below, 77}, [2]int64{2 * below, 77}, 2, 2},
	}
	if diff := cmp.Diff(want, rows(twice)); diff != "" {
		t.Errorf("merged, -want +got:\n%s", diff)
	}
	if sum := cct.Sum(twice).Counts; sum.Own[0] != 4200+2*below || sum.Own[1] != 77 {
		t.Errorf("sums: %v", sum.Own)
	}
	for _, f := range cct.FlatOf([]*cct.Node{{Method: 2, Counts: twice[0].Counts, Children: twice}}) {
		if f.Method == 2 && (f.Counts.Own[0] != 4200+2*below || f.Counts.Total[0] != 4200+2*below) { // the outermost level's total
			t.Errorf("flat: %+v", f.Counts)
		}
	}
}

// TestSides reads nodes whose sides lead nowhere: the target's memory is damaged.
func TestSides(t *testing.T) {
	for _, side := range []uint32{wire.NSide, uint32(offNode(63)), uint32(offNode(1) - 1<<wire.NodeShift)} {
		m := newImage(64)
		m.thread(&cct.Thread{ID: 1, RootEntries: 1, Roots: []*cct.Node{{Method: 1, Calls: 3}}})
		m.put32(offNode(2)+wire.NFlags, side)
		s, err := cct.ReadWith(m.mem, cct.Options{Metrics: metric.NewTable(longest)})
		if err != nil || s.Bad != 1 || s.Roots()[0].Thrown != 0 || s.Roots()[0].Calls != 3 {
			t.Errorf("side %#x: %+v, %v", side, s, err)
		}
	}
}
