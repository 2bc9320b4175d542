package live

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/history"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest"
)

// grown are the trees of a recording at 10, 20 and 30 ns.
func grown() []*export.Report {
	var out []*export.Report
	for i, tree := range []*cct.Snapshot{
		livetest.Snapshot(livetest.Node(1, 10, 100, livetest.Node(2, 20, 50))),
		livetest.Snapshot(livetest.Node(1, 13, 140, livetest.Node(2, 26, 70, livetest.Node(3, 5, 11)))),
		livetest.Snapshot(livetest.Node(1, 13, 140, livetest.Node(2, 26, 70, livetest.Node(3, 9, 21))), livetest.Node(4, 1, 3)),
	} {
		r := livetest.Report(tree)
		r.History = &history.History{At: int64(10 * (i + 1)), Steps: []history.Step{{Took: int64(10 * (i + 1))}}}
		out = append(out, r)
	}
	return out
}

// The tree of a range is the difference of two moments, and snaps to what is known.
func TestRange(t *testing.T) {
	l := New(Config{})
	var f *Frame
	for _, r := range grown() {
		f = l.newFrame(r)
		l.moments = later(l.moments, momentOf(f))
		f.moments = l.moments
	}
	l.frame = f
	type figures struct{ calls, self, total int64 }
	look := func(from, to int64) (map[string]figures, [2]int64) {
		t.Helper()
		v := l.View(&Query{Range: [2]int64{from, to}, History: true, Methods: &MethodsQuery{Rows: 10}, Tree: &TreeQuery{Rows: 10}, Icicle: &IcicleQuery{Width: 1000, Depth: 10}})
		out := map[string]figures{}
		for _, line := range v.Methods.Lines {
			out[v.Method(int32(line.Figures[0])).Name] = figures{line.Figures[2], line.Figures[4], line.Figures[7]}
		}
		var sum int64
		for _, k := range out {
			sum += k.self
		}
		if v.Tree.Total != sum || v.Icicle.Total != sum {
			t.Errorf("%d to %d: the tree has %d ns, the flame graph %d, the methods %d", from, to, v.Tree.Total, v.Icicle.Total, sum)
		}
		return out, v.History.Shown
	}
	for _, c := range []struct {
		from, to int64
		shown    [2]int64
		want     map[string]figures
	}{
		{0, 0, [2]int64{}, map[string]figures{"p1.C1.m1()V": {13, 140, 231}, "p2.C2.m2()V": {26, 70, 91}, "p0.C3.m3()V": {9, 21, 21}, "p1.C4.m4()V": {1, 3, 3}}},
		{2, 9, [2]int64{0, 10}, map[string]figures{"p1.C1.m1()V": {10, 100, 150}, "p2.C2.m2()V": {20, 50, 50}}},
		{12, 18, [2]int64{10, 20}, map[string]figures{"p1.C1.m1()V": {3, 40, 71}, "p2.C2.m2()V": {6, 20, 31}, "p0.C3.m3()V": {5, 11, 11}}},
		{20, 99, [2]int64{20, 30}, map[string]figures{"p1.C1.m1()V": {0, 0, 10}, "p2.C2.m2()V": {0, 0, 10}, "p0.C3.m3()V": {4, 10, 10}, "p1.C4.m4()V": {1, 3, 3}}},
		{5, 25, [2]int64{}, nil}, // from the beginning to the end
	} {
		got, shown := look(c.from, c.to)
		if shown != c.shown {
			t.Errorf("%d to %d shows %v, not %v", c.from, c.to, shown, c.shown)
		}
		for name, want := range c.want {
			if got[name] != want {
				t.Errorf("%d to %d: %s has %v, not %v", c.from, c.to, name, got[name], want)
			}
		}
		if c.want != nil && len(got) != len(c.want) {
			t.Errorf("%d to %d: %v", c.from, c.to, got)
		}
	}
}

// What is kept is bounded, the last moment stays, and what was forgotten is not mixed with
// what came after.
func TestMoments(t *testing.T) {
	var list []*moment
	for at := int64(1); at <= 1000; at++ {
		before := list
		list = later(list, &moment{at: at, nodes: make([]momentNode, 100)})
		if len(list) > mostMoments || list[len(list)-1].at != at {
			t.Fatalf("%d moments, the last is of %d, not %d", len(list), list[len(list)-1].at, at)
		}
		if len(before) > 0 && before[len(before)-1].at != at-1 {
			t.Fatal("the list of before has changed")
		}
	}
	big := later(list, &moment{at: 2000, nodes: make([]momentNode, mostMomentNodes/2)})
	nodes := 0
	for _, m := range later(big, &moment{at: 2001, nodes: make([]momentNode, mostMomentNodes/2)}) {
		nodes += len(m.nodes)
	}
	if nodes > mostMomentNodes {
		t.Errorf("%d nodes are kept", nodes)
	}
	if after := later(list, &moment{at: 1001, warmed: 5}); len(after) != 1 {
		t.Errorf("%d moments after a reset", len(after))
	}
	if after := later(list, &moment{at: 3}); len(after) != 1 {
		t.Errorf("%d moments after an earlier one", len(after))
	}
}

// Many ranges do not pile up in a frame.
func TestManyRanges(t *testing.T) {
	l := New(Config{})
	f := l.newFrame(grown()[2])
	for at := int64(1); at < 30; at++ {
		f.moments = append(f.moments, &moment{at: at})
	}
	for at := int64(1); at < 30; at++ {
		f.tree(treeKey{within: f.snapped(at, 30)})
	}
	if len(f.trees) > mostRanges {
		t.Errorf("%d trees are kept", len(f.trees))
	}
}
