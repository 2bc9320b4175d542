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
