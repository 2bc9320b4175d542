package export_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// TestContentionWritten writes waits for locks as text and JSON, and reads them back.
func TestContentionWritten(t *testing.T) {
	r := report()
	rows, _ := metric.Asked(metric.CountContention)
	r.Tree.Metrics = metric.NewTable(rows.Rows...)
	r.Contention = &export.Contention{Inside: 4, Outside: 9, Unplaced: 1}
	for n := range cct.All(r.Tree.Roots()) {
		n.Counts = &metric.Values{Table: r.Tree.Metrics}
	}
	n := r.Tree.Roots()[0]
	n.Waited(&cct.Waits{List: []cct.LockWait{
		{Lock: "java.util.Hashtable", Via: "java.util.Hashtable.get(Ljava/lang/Object;)V", Owner: "a.Owner.fill()V", Count: 3, Took: 3_000_000},
		{Lock: "a.Lock", Count: 1, Took: 1_000_000},
	}})
	cct.Totals(r.Tree.Roots())
	var text, doc strings.Builder
	if err := r.Text(&text, export.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := r.JSON(&doc, export.JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Waits for locks, by lock and method", "by java.util.Hashtable.get, held by a.Owner.fill", "4 waits below the roots, 4.00 ms in all; 9 elsewhere", "1 wait is left out"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	want := `"lock_waits":[{"lock":"java.util.Hashtable","via":"java.util.Hashtable.get(Ljava/lang/Object;)V","owner":"a.Owner.fill()V","count":3,"blocked_ns":3000000},{"lock":"a.Lock","count":1,"blocked_ns":1000000}]`
	if !strings.Contains(doc.String(), want) {
		t.Errorf("JSON:\n%s", doc.String())
	}
	back := readBack(t, doc.String())
	sum := export.Merge(back, back)
	if diff := cmp.Diff(&export.Contention{Inside: 8, Outside: 18, Unplaced: 2}, sum.Contention); diff != "" {
		t.Errorf("two together, -want +got:\n%s", diff)
	}
}
