package live

import (
	"cmp"
	"encoding/json"
	"slices"
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
			n.Details().Allocs = append(n.Allocs(), a)
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
	for _, row := range c.Rows {
		own := s.Metrics.Index(row.Name)
		view := f.selection(&Query{}).icicle(&IcicleQuery{Width: maxWidth, Depth: maxDepth, Weight: row.Total})
		if want := cct.Sum(s.Roots()).Counts.Own[own]; view.Whole != want || view.Metric == nil || view.Metric.Name != row.Name {
			t.Errorf("%s: a flame graph of %d, want %d: %v", row.Name, view.Whole, want, view.Metric)
		}
		of, ends := map[int64]Box{}, map[int64]int64{} // by paths; where the boxes of a level end
		var types int64
		boxes := slices.SortedFunc(slices.Values(view.Boxes), func(a, b Box) int { return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(a[3], b[3])) })
		for _, b := range boxes {
			of[b[0]] = b
			if above, ok := of[b[11]]; ok && (b[3] < above[3] || b[3]+b[4] > above[3]+above[4]) || b[3] < ends[b[1]] {
				t.Errorf("%s: box %v, below %v, beside one that ends at %d", row.Name, b, above, ends[b[1]])
			}
			ends[b[1]] = b[3] + b[4]
			if b[12]&rowType != 0 {
				types += b[4]
			}
		}
		if types != view.Whole {
			t.Errorf("%s: boxes of types have %d of %d", row.Name, types, view.Whole)
		}
	}
}
