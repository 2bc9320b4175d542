package export_test

import (
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// withSurvivors is a report of a recording that has followed objects.
func withSurvivors() *export.Report {
	r := report()
	allocations, _ := metric.Asked(metric.CountAllocations)
	survivors, _ := metric.Asked(metric.CountSurvivors)
	r.Tree.Metrics = metric.NewTable(append(allocations.Rows, survivors.Rows...)...)
	for n := range cct.All(r.Tree.Roots()) {
		n.Counts = &metric.Values{Table: r.Tree.Metrics}
		n.Details().Allocs = []cct.Alloc{
			{Type: &cct.Type{Name: "a.Order", Size: 32}, Objects: 100, Bytes: 3200, Survival: &cct.Survival{
				Tracked: 20, Survived: 5, Variance: 100,
				Live: cct.Aged{Objects: [6]int64{10, 0, 20, 0, 0, 0}, Bytes: [6]int64{320, 0, 640}},
				Gone: cct.Aged{Objects: [6]int64{65, 5}, Bytes: [6]int64{2080, 160}},
			}},
			{Type: &cct.Type{Name: "int[]", Array: true}, Objects: 2, Elements: 8, Bytes: 64},
		}
		for _, a := range n.Allocs() {
			n.Allocated(a)
		}
	}
	cct.Totals(r.Tree.Roots())
	return r
}

// TestSurvivorsWritten writes what survived as text and JSON, and reads it back.
func TestSurvivorsWritten(t *testing.T) {
	r := withSurvivors()
	var text, doc strings.Builder
	if err := r.Text(&text, export.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := r.JSON(&doc, export.JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"~survived", "~live", "Survived a garbage collection, by type and method (estimated)", "a.Order in "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	want := `"survival":{"tracked":20,"tracked_survived":5,"error_objects":19.6,"live":{"objects":[10,0,20,0,0,0],"bytes":[320,0,640,0,0,0]},"gone":{"objects":[65,5,0,0,0,0],"bytes":[2080,160,0,0,0,0]}}`
	if !strings.Contains(doc.String(), want) || strings.Contains(doc.String(), `"int[]","objects":2,"elements":8,"bytes":64,"survival"`) {
		t.Errorf("JSON:\n%s", doc.String())
	}
	back := readBack(t, doc.String())
	sum := export.Merge(back, withSurvivors())
	var survived int64
	for _, a := range cct.TypesOf(sum.Tree.Roots()) {
		n, _ := a.Survival.Older()
		survived += n
	}
	if n := int64(len(sum.Tree.Roots())); survived%(2*25) != 0 || survived == 0 || n == 0 {
		t.Errorf("%d survived in both", survived)
	}
}
