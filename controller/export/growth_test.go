package export_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// work is a report of so many root invocations that execute so much each: a tenth
// in the root, the rest in its callee.
func work(invocations, each int64) *export.Report {
	table := metric.NewTable(metric.Bytecodes)
	count := func(n *cct.Node, own int64) *cct.Node {
		n.Counts = &metric.Values{Table: table}
		n.Counts.Own[0] = own
		return n
	}
	root := count(node(0, invocations, 0, 1, count(node(2, 2*invocations, 0, 1), invocations*each*9/10)), invocations*each/10)
	cct.Totals([]*cct.Node{root})
	return &export.Report{Lookup: lookup, Tree: &cct.Snapshot{Metrics: table, Threads: []*cct.Thread{
		{ID: 1, Name: "main", RootEntries: invocations, RootReturns: invocations, Roots: []*cct.Node{root}},
	}}}
}

// TestGrowth compares for each root invocation, and says where the growth is.
func TestGrowth(t *testing.T) {
	for _, test := range []struct {
		before, after *export.Report
		most          float64
		passed        bool
		share         float64
		contexts      string
	}{
		{work(10, 1000), work(20, 1000), 0, true, 0, ""},
		{work(10, 1000), work(5, 900), 0, true, -0.1, ""},
		{work(10, 1000), work(5, 1010), 0.01, true, 0.01, "shop.Price.of shop.Orders.process"},
		{work(10, 1000), work(5, 1020), 0.01, false, 0.02, "shop.Price.of shop.Orders.process"},
		{work(10, 0), work(5, 10), 1, false, 10, "shop.Price.of shop.Orders.process"},
	} {
		g, err := export.GrowthOf(test.before, test.after, "bytecodes", test.most+1e-12, 5)
		if err != nil {
			t.Fatal(err)
		}
		var contexts []string
		for _, l := range g.Contexts {
			name, _, _ := strings.Cut(l.Path[len(l.Path)-1].Name, "(")
			contexts = append(contexts, name)
		}
		if got := strings.Join(contexts, " "); g.Passed() != test.passed || g.Share() < test.share-1e-9 || g.Share() > test.share+1e-9 || got != test.contexts {
			t.Errorf("passed %v, share %v, contexts %q, want %+v", g.Passed(), g.Share(), got, test)
		}
	}
	g, err := export.GrowthOf(work(10, 1000), work(5, 1020), "bytecodes", 0.01, 1)
	if err != nil {
		t.Fatal(err)
	}
	g.Names = [2]string{"a.json", "b.json"}
	var text, json strings.Builder
	if err := errors.Join(g.Text(&text, export.TextOptions{}), g.JSON(&json)); err != nil {
		t.Fatal(err)
	}
	want := `failed: bytecodes a root call: 1,000 before, 1,020 after, +2 %; at most +1 %
before: a.json, 10 root calls
after: b.json, 5 root calls

Call paths that have grown, for each root call

change  before  after  call path
   +18     900    918  shop.Orders.process > shop.Price.of
and 1 call path
`
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &text, want)
	}
	for _, part := range []string{`"kind": "growth"`, `"passed": false`, `"per_root_invocation": 1020`, `"more_contexts": 1`, `"shop.Price.of(I)J"`} {
		if !strings.Contains(json.String(), part) {
			t.Errorf("%s is missing in %s", part, &json)
		}
	}
	if _, err := export.GrowthOf(report(), work(1, 1), "bytecodes", 0, 1); !errors.Is(err, export.ErrNoMetric) {
		t.Error(err)
	}
	if _, err := export.GrowthOf(work(1, 1), work(0, 1), "calls", 0, 1); !errors.Is(err, export.ErrNoMetric) {
		t.Error(err)
	}
}
