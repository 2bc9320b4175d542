package export_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// loadingReport has classes that its contexts have caused to be loaded, some of them timed.
func loadingReport() *export.Report {
	table := metric.NewTable(metric.ClassLoads, metric.ClassLoadTime)
	n := func(method int32, self int64, loads []cct.Load, children ...*cct.Node) *cct.Node {
		c := &cct.Node{Method: method, Calls: 1, Self: self, Counts: &metric.Values{Table: table}, Children: children}
		if loads != nil {
			c.Loaded(&cct.Loads{List: loads})
		}
		return c
	}
	roots := []*cct.Node{n(0, 10e6, []cct.Load{{Class: "shop.Line", Loader: "app", From: "/srv/shop.jar", At: 5, Took: 3e6, Own: 2e6}, {Class: "shop.Base", Loader: "app", At: 6, Took: 1e6, Own: 1e6}},
		n(2, 10e6, []cct.Load{{Class: "shop.Tax", Loader: "plugin.Loader a", From: "http:/x", At: 4, Took: cct.NotKnown, Own: cct.NotKnown}}))}
	cct.Totals(roots)
	return &export.Report{
		Tree:   &cct.Snapshot{Metrics: table, Threads: []*cct.Thread{{ID: 1, Name: "main", RootEntries: 1, RootReturns: 1, Roots: roots}}},
		Lookup: lookup, Loads: &export.ClassLoads{Inside: 3, Outside: 9, Timed: true},
	}
}

// TestClassLoads has contexts keep what they have caused to be loaded in JSON, and in reports that are put together.
func TestClassLoads(t *testing.T) {
	r := loadingReport()
	var b bytes.Buffer
	if err := r.JSON(&b, export.JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	saved, err := export.ReadSaved(&b)
	if err != nil {
		t.Fatal(err)
	}
	back := saved.Report
	type load struct {
		cct.Load
		Path []string
	}
	loads := func(r *export.Report) (out []load) {
		for _, c := range r.Tree.Caused() {
			l := load{Load: c.Load}
			for _, n := range c.Path {
				l.Path = append(l.Path, r.Method(n.Method).Name)
			}
			out = append(out, l)
		}
		return out
	}
	want := loads(r)
	if len(want) != 3 || want[0].Class != "shop.Tax" || len(want[0].Path) != 2 {
		t.Fatalf("loads %+v", want)
	}
	if diff := cmp.Diff(want, loads(back)); diff != "" {
		t.Errorf("read again:\n%s", diff)
	}
	if diff := cmp.Diff(r.Loads, back.Loads); diff != "" {
		t.Errorf("read again:\n%s", diff)
	}
	both := export.Merge(r, back)
	if n := len(loads(both)); n != 6 || both.Loads.Inside != 6 || !both.Loads.Timed {
		t.Errorf("put together: %d loads, %+v", n, both.Loads)
	}
	counts := func(r *export.Report) (own, total [2]int64) {
		for _, root := range r.Tree.Roots() {
			for i, m := range []metric.Metric{metric.ClassLoads, metric.ClassLoadTime} {
				at := root.Counts.Table.Index(m.Name)
				own[i] += root.Counts.Own[at]
				total[i] += root.Counts.Total[at]
			}
		}
		return own, total
	}
	for _, one := range []*export.Report{r, back} {
		if own, total := counts(one); own != [2]int64{2, 3e6} || total != [2]int64{3, 3e6} {
			t.Errorf("own %v, total %v", own, total)
		}
	}
	var text bytes.Buffer
	if err := r.Text(&text, export.TextOptions{Part: export.Methods}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Classes loaded, by the method that needed them",
		"3 classes were loaded below the roots; loading took 3.00 ms, 15.0 % of their time, and 1 load that nobody timed",
		"Line + 1",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}
