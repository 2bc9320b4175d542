package cct_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// TestNameReflected names what was created by reflection where constructors tell it, and only
// there.
func TestNameReflected(t *testing.T) {
	unknown := &cct.Type{Name: cct.Reflected, Size: cct.NotKnown}
	types := map[string]*cct.Type{"A": {Name: "A", Size: 16}, "B": {Name: "B", Size: 24}, "C": {Name: "C", Size: cct.NotKnown}}
	classes := map[int32]string{11: "A", 12: "B", 13: "C"}
	constructs := func(method int32) (string, bool) { c, ok := classes[method]; return c, ok }
	rows, _ := metric.Asked(metric.CountAllocations)
	table := metric.NewTable(rows.Rows...)
	alloc := func(name string, n int64) cct.Alloc {
		if name == "" {
			return cct.Alloc{Type: unknown, Objects: n, Bytes: cct.NotKnown}
		}
		a := cct.Alloc{Type: types[name], Objects: n, Bytes: cct.NotKnown}
		if a.Type.Size > 0 {
			a.Bytes = n * a.Type.Size
		}
		return a
	}
	for name, c := range map[string]struct {
		method  int32
		allocs  []cct.Alloc
		calls   map[int32]int64
		want    []cct.Alloc
		ofTotal int64 // bytes
	}{
		"one":                 {1, []cct.Alloc{alloc("", 5)}, map[int32]int64{11: 5}, []cct.Alloc{alloc("A", 5)}, 80},
		"beside new":          {1, []cct.Alloc{alloc("", 5), alloc("A", 2)}, map[int32]int64{11: 7}, []cct.Alloc{alloc("A", 7)}, 112},
		"two types":           {1, []cct.Alloc{alloc("", 5)}, map[int32]int64{11: 3, 12: 2}, []cct.Alloc{alloc("A", 3), alloc("B", 2)}, 96},
		"of unknown size":     {1, []cct.Alloc{alloc("", 5)}, map[int32]int64{13: 5}, []cct.Alloc{alloc("C", 5)}, 0},
		"of the JDK":          {1, []cct.Alloc{alloc("", 5)}, nil, []cct.Alloc{alloc("", 5)}, 0},
		"an argument threw":   {1, []cct.Alloc{alloc("", 5), alloc("A", 3)}, map[int32]int64{11: 1, 12: 5}, []cct.Alloc{alloc("", 5), alloc("A", 3)}, 48},
		"the JDK made others": {1, []cct.Alloc{alloc("", 5)}, map[int32]int64{11: 6}, []cct.Alloc{alloc("", 5)}, 0},
		"in a constructor":    {12, []cct.Alloc{alloc("", 5)}, map[int32]int64{11: 5}, []cct.Alloc{alloc("", 5)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			n := (&cct.Node{Method: c.method, Calls: 1, Counts: &metric.Values{Table: table}}).With(cct.Details{Allocs: c.allocs})
			for _, a := range c.allocs {
				n.Allocated(a)
			}
			for _, method := range []int32{11, 12, 13} {
				if k := c.calls[method]; k > 0 {
					n.Children = append(n.Children, &cct.Node{Method: method, Calls: k, Counts: &metric.Values{Table: table}})
				}
			}
			root := &cct.Node{Method: 2, Calls: 1, Children: []*cct.Node{n}, Counts: &metric.Values{Table: table}}
			s := &cct.Snapshot{Threads: []*cct.Thread{{Roots: []*cct.Node{root}}}}
			cct.Totals(s.Roots())
			s.NameReflected(constructs, func(class string) *cct.Type { return types[class] })
			if diff := cmp.Diff(c.want, n.Allocs()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			objects := int64(0)
			for _, a := range c.allocs {
				objects += a.Objects
			}
			if v := root.Counts.Total; v[0] != objects || v[2] != c.ofTotal {
				t.Errorf("%d objects and %d bytes in all, want %d and %d", v[0], v[2], objects, c.ofTotal)
			}
		})
	}
}
