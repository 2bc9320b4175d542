package live

import (
	"slices"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest"
)

// The tree of a range of samples is that of the samples that were taken then.
func TestHeat(t *testing.T) {
	leaf := livetest.Node(2, 1, 70)
	leaf.Details().Sample = &cct.Sample{Count: 7, Wall: 70}
	tree := livetest.Snapshot(livetest.Node(1, 1, 0, leaf))
	tree.Taken = &cct.Taken{
		Step: 10, Until: 95, Parents: []int32{-1, 0}, Methods: []int32{1, 2},
		Steps: []cct.TakenStep{{At: 0, Node: 1, Count: 2, Wall: 20}, {At: 3, Node: 1, Count: 4, Wall: 40}, {At: 9, Node: 1, Count: 1, Wall: 10}},
	}
	r := livetest.Report(tree)
	r.Sampling = &export.Sampling{Samples: 7}
	l := New(Config{})
	l.frame = l.newFrame(r)
	look := func(from, to int64) (View, int64) {
		t.Helper()
		v := l.View(&Query{Range: [2]int64{from, to}, History: true, Tree: &TreeQuery{Rows: 10}, Icicle: &IcicleQuery{Width: 1000, Depth: 10}, Methods: &MethodsQuery{Rows: 10}})
		if v.Icicle.Total != v.Tree.Total {
			t.Errorf("%d to %d: the flame graph has %d ns, the tree %d", from, to, v.Icicle.Total, v.Tree.Total)
		}
		return v, v.Tree.Total
	}
	v, total := look(0, 0)
	if h := v.History; total != 70 || h.Shown != [2]int64{} || h.Heat == nil || !h.Heat.Known || h.Heat.Piece != 10 || !slices.Equal(h.Heat.Samples, []int64{2, 0, 0, 4, 0, 0, 0, 0, 0, 1}) || h.At != 100 {
		t.Errorf("all: %d ns, %+v, %+v", total, h, h.Heat)
	}
	for _, c := range []struct{ from, to, total, shownFrom, shownTo int64 }{
		{0, 30, 20, 0, 30}, {25, 38, 40, 20, 40}, {40, 90, 0, 40, 90}, {31, 99, 50, 30, 100}, {0, 100, 70, 0, 0},
	} {
		if v, total := look(c.from, c.to); total != c.total || v.History.Shown != [2]int64{c.shownFrom, c.shownTo} {
			t.Errorf("%d to %d: %d ns of %v", c.from, c.to, total, v.History.Shown)
		}
	}
	// Of a file, the samples over time are known, and no range.
	r.Tree.Taken, r.Sampling.OverTime = nil, &export.OverTime{Piece: 2, Samples: []int64{3, 4}}
	l.frame = l.newFrame(r)
	if v, total := look(0, 2_000_000); total != 70 || v.History.Shown != [2]int64{} || v.History.Heat.Known || v.History.At != 4_000_000 {
		t.Errorf("of a file: %d ns, %+v", total, v.History)
	}
}
