package ask

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

var names = []string{"", "a.Main.run()V", "a.Cart.add(I)V", "a.Price.of(I)J", "b.Log.write()V"}

func node(method int32, calls, self int64, children ...*cct.Node) *cct.Node {
	n := &cct.Node{Method: method, Calls: calls, Self: self, Total: self, Children: children}
	for _, c := range children {
		n.Total += c.Total
	}
	return n
}

// run calls add 10 times, which calls of 20 times, each of which calls itself once;
// run calls of 5 times, too.
func report() *export.Report {
	return &export.Report{
		Target: export.Target{PID: 7, Main: "a.Main", Java: "17"}, Roots: []string{names[1]}, Time: 2 * time.Second,
		Tree: &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Name: "main", RootEntries: 3, RootReturns: 3, Roots: []*cct.Node{
			node(1, 3, 100,
				node(2, 10, 200, node(3, 20, 300, node(3, 20, 100)), node(4, 10, 100)),
				node(3, 5, 200)),
		}}}},
		Lookup: func(id int32) (cct.Method, bool) {
			return cct.Method{Name: names[id]}, id > 0 && int(id) < len(names)
		},
	}
}

func TestSummarize(t *testing.T) {
	s := Summarize(report(), 2)
	if s.Kind != "recording" || !s.Exact || s.Invocations != 3 || s.Calls != 68 || s.TotalNS != 1000 || s.Seconds != 2 || len(s.Hot) != 2 {
		t.Errorf("%+v", s)
	}
	if h := s.Hot[0]; h.Method != names[3] || h.Calls != 45 || h.SelfNS != 600 || h.SelfShare != 0.6 || h.TotalNS != 600 {
		t.Errorf("%+v", h)
	}
	r := report()
	r.Sampling = &export.Sampling{Samples: 9}
	if s := Summarize(r, 1); s.Kind != "sample" || s.Exact || s.Samples != 9 {
		t.Errorf("%+v", s)
	}
	if s := Summarize(&export.Report{}, 5); s.Hot == nil || len(s.Hot) > 0 {
		t.Errorf("%+v", s)
	}
}

func TestTop(t *testing.T) {
	for by, want := range map[string][]string{
		"self": {names[3], names[2]}, "total": {names[1], names[2]}, "calls": {names[3], names[2]},
	} {
		got, err := Top(report(), by, 2)
		if err != nil || got[0].Method != want[0] || got[1].Method != want[1] {
			t.Errorf("%s: %+v, %v", by, got, err)
		}
	}
	if _, err := Top(report(), "size", 2); !errors.Is(err, ErrOrder) {
		t.Error(err)
	}
}

func TestFind(t *testing.T) {
	for text, want := range map[string][]int32{
		names[3]: {3}, "a.Price.of": {3}, "Price.of": {3}, "of": {3}, "a.": {1, 2, 3},
	} {
		if got, err := Find(report(), text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "nothing"} {
		if _, err := Find(report(), text); !errors.Is(err, ErrNoMethod) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Time that recursion adds below itself is counted once.
func TestCallersAndCallees(t *testing.T) {
	got, err := CallersAndCallees(report(), "Price.of", 10)
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	want := []Line{
		{Method: names[2], Calls: 20, TotalNS: 400, Share: 0.4444},
		{Method: names[1], Calls: 5, TotalNS: 200, Share: 0.1111},
		{Method: names[3], Calls: 20, TotalNS: 0, Share: 0.4444},
	}
	if !reflect.DeepEqual(got[0].Callers, want) {
		t.Errorf("%+v", got[0].Callers)
	}
	if c := got[0].Callees; len(c) != 1 || c[0].Method != names[3] || c[0].Calls != 20 {
		t.Errorf("%+v", c)
	}
	if got[0].Method.TotalNS != 600 || got[0].Method.Calls != 45 {
		t.Errorf("%+v", got[0].Method)
	}
}

func TestTree(t *testing.T) {
	all, err := Tree(report(), "", 2, 0)
	if err != nil || len(all) != 1 || len(all[0].Below) != 2 || all[0].Below[0].Method != names[2] || all[0].Below[0].Left != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	below, err := Tree(report(), "Price.of", 5, 0)
	if err != nil || len(below) != 1 || below[0].Calls != 25 || below[0].TotalNS != 600 {
		t.Errorf("%+v, %v", below, err)
	}
	if cut, _ := Tree(report(), "", 9, 0.5); len(cut[0].Below) != 1 || cut[0].Left != 1 {
		t.Errorf("%+v", cut)
	}
	if _, err := Tree(report(), "nothing", 5, 0); !errors.Is(err, ErrNoMethod) {
		t.Error(err)
	}
}
