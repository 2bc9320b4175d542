package live

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// TestNewMetric adds a metric, finds it in the views of the page and the terminal,
// and sorts by it.
func TestNewMetric(t *testing.T) {
	naps := metric.Metric{Name: "naps", Title: "naps", Unit: metric.Count, Merge: metric.Sum, Self: "self_naps", Total: "total_naps"}
	s := random(1, 60)
	s.Metrics = metric.NewTable(metric.Bytecodes, naps)
	k := int64(0)
	for n := range cct.All(s.Roots()) {
		k++
		n.Counts = &metric.Values{Table: s.Metrics}
		n.Counts.Own[1] = k * 7919 % 1000
	}
	cct.Totals(s.Roots())
	f := frameOf(newNumbering(), s)
	path := int32(f.selection(&Query{}).tree(&TreeQuery{Rows: 1}).Rows[0][0])
	v := f.selection(&Query{}).tree(&TreeQuery{Open: []int32{path}, Rows: maxRows, Sort: naps.Total})
	if len(v.Counts) != len(v.Rows) || len(v.Rows) < 3 || v.Metrics[1] != naps {
		t.Fatalf("%d rows, %d with counts, %v", len(v.Rows), len(v.Counts), v.Metrics)
	}
	if whole := cct.Sum(s.Roots()).Counts.Own[1]; v.Counts[0][3] != whole {
		t.Errorf("the root has %d naps, all together %d", v.Counts[0][3], whole)
	}
	for i := 2; i < len(v.Counts); i++ {
		if v.Counts[i][3] > v.Counts[i-1][3] {
			t.Errorf("rows by naps: %v", v.Counts)
		}
	}
	m := f.methods(&Query{Methods: &MethodsQuery{Rows: maxRows, Sort: naps.Self, Up: true}})
	for i, l := range m.Lines {
		if len(l.Counts) != 4 || i > 0 && l.Counts[2] < m.Lines[i-1].Counts[2] {
			t.Errorf("line %d by naps: %v", i, l.Counts)
		}
	}
	b, err := json.Marshal([]any{v, m})
	if err != nil || strings.Count(string(b), `"title":"naps"`) != 2 {
		t.Errorf("%v: %.300s", err, b)
	}
}

// TestAllocatedTypes lists what was allocated, by type, sorted by a sum.
func TestAllocatedTypes(t *testing.T) {
	c, _ := metric.Asked(metric.CountAllocations)
	s := random(1, 60)
	s.Metrics = metric.NewTable(c.Rows...)
	types := []cct.Alloc{{Type: &cct.Type{Name: "a.Point"}, Objects: 2, Bytes: 48}, {Type: &cct.Type{Name: "int[]", Array: true}, Objects: 3, Elements: 9, Bytes: 96}}
	nodes := int64(0)
	for n := range cct.All(s.Roots()) {
		n.Counts = &metric.Values{Table: s.Metrics}
		for _, a := range types[nodes%2:] {
			n.Allocs = append(n.Allocs, a)
			n.Allocated(a)
		}
		nodes++
	}
	cct.Totals(s.Roots())
	f := frameOf(newNumbering(), s)
	m := f.methods(&Query{Methods: &MethodsQuery{Group: byType, Rows: maxRows, Sort: metric.Objects.Self}})
	contexts := f.tree(treeKey{})
	merged := int64(0)
	for range cct.All(contexts) {
		merged++
	}
	if m.Count != 2 || m.Lines[0].Name != "a.Point" || m.Lines[0].Counts[0] != 2*((nodes+1)/2) || m.Lines[1].Counts[2] != 3*nodes || m.Lines[1].Counts[4] != 96*nodes || m.Lines[1].Figures[1] > merged {
		t.Errorf("%d contexts: %+v", nodes, m)
	}
}
