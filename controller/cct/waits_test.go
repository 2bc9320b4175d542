package cct_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// TestWaits adds the waits of contexts up, by lock, method and owner, and leaves each as it was.
func TestWaits(t *testing.T) {
	rows, _ := metric.Asked(metric.CountContention)
	table := metric.NewTable(rows.Rows...)
	node := func(method int32, waits ...cct.LockWait) *cct.Node {
		n := &cct.Node{Method: method, Calls: 1, Counts: &metric.Values{Table: table}}
		n.Waited(&cct.Waits{List: waits})
		return n
	}
	leaf := node(2, cct.LockWait{"Lock", "", "Owner.m()V", 3, 300}, cct.LockWait{"Lock", "", "", 1, 50})
	other := node(2, cct.LockWait{"Lock", "", "Owner.m()V", 2, 100}, cct.LockWait{"Table", "Table.get()V", "", 1, 900})
	root := node(1)
	root.Children = []*cct.Node{leaf, {Method: 3, Counts: &metric.Values{Table: table}, Children: []*cct.Node{other}}}
	roots := []*cct.Node{root}
	cct.Totals(roots)
	if got, want := root.Counts.Total[:2], []int64{7, 1350}; !cmp.Equal(got, want) {
		t.Errorf("the root's waits and ns %v, want %v", got, want)
	}
	want := []cct.WaitSum{
		{cct.LockWait{"Table", "Table.get()V", "", 1, 900}, 2, 1},
		{cct.LockWait{"Lock", "", "Owner.m()V", 5, 400}, 2, 2},
		{cct.LockWait{"Lock", "", "", 1, 50}, 2, 1},
	}
	if diff := cmp.Diff(want, cct.WaitsOf(roots)); diff != "" {
		t.Errorf("sums, -want +got:\n%s", diff)
	}
	merged := cct.Merge([]*cct.Node{leaf, other})
	if diff := cmp.Diff([]cct.LockWait{{"Lock", "", "Owner.m()V", 5, 400}, {"Lock", "", "", 1, 50}, {"Table", "Table.get()V", "", 1, 900}}, merged[0].Waits().All()); len(merged) != 1 || diff != "" {
		t.Errorf("merged, -want +got:\n%s", diff)
	}
	if leaf.Waits().List[0].Count != 3 || other.Waits().List[0].Count != 2 {
		t.Error("merging has changed what was merged")
	}
}
