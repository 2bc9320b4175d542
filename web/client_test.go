package web

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest/fakejvm"
)

// million is a tree of a million nodes: wide, deep, and uneven.
func million() *cct.Snapshot {
	r := rand.New(rand.NewPCG(1, 2))
	root := &cct.Node{Method: 1, Calls: 1, Self: 1}
	all := []*cct.Node{root}
	for len(all) < 1_000_000 {
		at := all[r.IntN(len(all))]
		if r.IntN(4) == 0 {
			at = all[len(all)-1] // deeper
		}
		n := &cct.Node{Method: int32(2 + r.IntN(20_000)), Calls: int64(1 + r.IntN(1000)), Self: int64(r.IntN(100_000))}
		at.Children = append(at.Children, n)
		all = append(all, n)
	}
	for i := len(all) - 1; i >= 0; i-- {
		all[i].Total = all[i].Self
		for _, c := range all[i].Children {
			all[i].Total += c.Total
		}
	}
	return livetest.Snapshot(root)
}

// TestMillion looks at everything at once, with every bound at its limit, and
// wants the message to stay below a megabyte, the first with all its names
// included, and below half of that afterwards.
func TestMillion(t *testing.T) {
	f, tree := fakejvm.New(), million()
	f.Tree = func() *cct.Snapshot { return tree }
	c := recorded(t, f)
	if _, err := c.live.ReportNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	open := []int32{}
	for i := range int32(4000) {
		open = append(open, i+1)
	}
	text, _ := json.Marshal(map[string]any{
		"tree": map[string]any{"open": open, "rows": 1 << 30, "from": 100}, "icicle": map[string]any{"width": 1 << 30, "depth": 1 << 30},
		"methods": map[string]any{"rows": 1 << 30}, "around": map[string]any{"method": 5}, "threads": true, "doubts": true,
	})
	q, err := live.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	first := c.page(q)
	var m struct {
		Tree   live.TreeView
		Icicle live.IcicleView
	}
	if err := json.Unmarshal(first, &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Tree.Rows) != 400 || len(m.Icicle.Boxes) < 1000 {
		t.Errorf("%d rows, %d boxes: this tests nothing", len(m.Tree.Rows), len(m.Icicle.Boxes))
	}
	q.Tree.From = 0
	second := c.page(q)
	t.Logf("%d bytes, then %d", len(first), len(second))
	if len(first) > 1<<20 || len(second) > 1<<19 {
		t.Errorf("messages of %d and %d bytes", len(first), len(second))
	}
	if again := c.page(q); again != nil {
		t.Errorf("nothing has changed, and %d bytes are sent", len(again))
	}
}

// TestPlaces tells a client where methods are in what it looks at, since a method
// is elsewhere in another version of the program, and tells it once.
func TestPlaces(t *testing.T) {
	f := fakejvm.New()
	c := recorded(t, f)
	q, err := live.ParseQuery([]byte(`{"tree":{"rows":10}}`))
	if err != nil {
		t.Fatal(err)
	}
	for i, test := range []struct {
		source string
		line   int
		want   []any
	}{
		{"", 0, []any{1.0, "a.B.c()V", "app"}},
		{"B.java", 12, []any{1.0, "a.B.c()V", "app", "B.java:12"}},
		{"B.java", 12, nil},
		{"B\x1b.java", 0, []any{1.0, "a.B.c()V", "app", "B\ufffd.java"}},
	} {
		r := livetest.Report(livetest.Snapshot(livetest.Node(1, int64(i), 5)))
		r.Lookup = func(int32) (cct.Method, bool) {
			return cct.Method{Name: "a.B.c()V", Loader: "app", Hidden: i, Source: test.source, Line: test.line}, true
		}
		f.Report = func(*cct.Snapshot) *export.Report { return r }
		if _, err := c.live.ReportNow(t.Context()); err != nil {
			t.Fatal(err)
		}
		var m struct {
			Names [][]any
			Tree  *live.TreeView
		}
		if err := json.Unmarshal(c.page(q), &m); err != nil {
			t.Fatal(err)
		}
		var got []any
		if len(m.Names) > 0 {
			got = m.Names[0]
		}
		if diff := cmp.Diff(test.want, got); diff != "" || len(m.Names) > 1 || len(m.Tree.Rows) != 1 {
			t.Errorf("frame %d: -want +got:\n%s", i+1, diff)
		}
	}
}
