package export_test

import (
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// TestDiffMetrics shows counts of contexts that differ, for as many root invocations.
func TestDiffMetrics(t *testing.T) {
	before, after := work(10, 1000), work(5, 1020)
	d := export.Diff{Each: true, Metrics: export.DiffMetrics(before, after, true, 1)}
	var text, json strings.Builder
	if err := d.Text(&text, export.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := d.JSON(&json); err != nil {
		t.Fatal(err)
	}
	want := `Contexts whose own bytecodes differ
in all 10,000 before, 10,200 after, +200
change  before  after  call path
  +180   9,000  9,180  shop.Orders.process > shop.Price.of
and 1 call path
`
	if got := strings.ReplaceAll(text.String(), "\n\n", "\n"); !strings.Contains(got, want) {
		t.Errorf("text:\n%s\nwant:\n%s", text.String(), want)
	}
	got := strings.Join(strings.Fields(json.String()), "")
	if want := `"metrics":[{"name":"bytecodes","unit":"count","total":[10000,10200],"contexts":[{"path":["`; !strings.Contains(got, want) ||
		!strings.Contains(got, `"self":[9000,9180],"total":[9000,9180]}],"more_contexts":1}]`) {
		t.Errorf("json: %s", got)
	}
	if d := export.DiffMetrics(before, after, false, 9); d[0].Total != [2]int64{10000, 5100} || len(d[0].Contexts) != 2 {
		t.Errorf("unscaled: %+v", d)
	}
	if d := export.DiffMetrics(before, before, true, 9); d[0].Contexts != nil {
		t.Errorf("alike: %+v", d)
	}
	if d := export.DiffMetrics(before, &export.Report{}, true, 9); d != nil {
		t.Errorf("of a report without: %+v", d)
	}
}
