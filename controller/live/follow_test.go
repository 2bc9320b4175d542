package live

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest"
)

// followed is a root that calls method 2 twice and hands it over five times, each
// with a callee of its own.
func followed() *cct.Node {
	task := livetest.Node(2, 5, 50, livetest.Node(3, 5, 5))
	task.Details().Async = &cct.Handover{Waited: 1000, Longest: 400}
	return livetest.Node(1, 1, 10, livetest.Node(2, 2, 20, livetest.Node(4, 2, 4)), task)
}

// TestFollow wants calls and executions of one method below the same node to
// stay apart, and waits to be where they belong.
func TestFollow(t *testing.T) {
	f := frameOf(newNumbering(), livetest.Snapshot(followed()))
	v := f.selection(&Query{})
	var open []int32
	var page TreeView
	for range 3 {
		page = v.tree(&TreeQuery{Open: open, Rows: 20})
		open = nil
		for _, r := range page.Rows {
			open = append(open, int32(r[0]))
		}
	}
	var rows []string
	for _, r := range page.Rows {
		rows = append(rows, fmt.Sprint(r[1], " m", f.local[int32(r[2])], " ", r[4], " calls, async ", r[3]&rowAsync != 0, " ", r[12], " ", r[13]))
		n := (selection{f: f, roots: f.merged}).find(int32(r[0]))
		if n == nil || n.Calls != r[4] || (n.Async() != nil) != (r[3]&rowAsync != 0) {
			t.Errorf("path %d of row %v leads to %+v", r[0], r, n)
		}
	}
	want := []string{
		"0 m1 1 calls, async false 0 0", "1 m2 5 calls, async true 1000 400", "2 m3 5 calls, async false 0 0",
		"1 m2 2 calls, async false 0 0", "2 m4 2 calls, async false 0 0",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error("-want +got:\n", diff)
	}
	// The flame graph zooms to the execution, not to the call.
	for _, r := range page.Rows {
		ice := v.icicle(&IcicleQuery{Focus: int32(r[0]), Width: 800, Depth: 9})
		if b := ice.Boxes[0]; ice.Focus != int32(r[0]) || b[6] != r[4] || b[12]&rowAsync != r[3]&rowAsync || b[13] != r[12] || b[14] != r[13] {
			t.Errorf("zoomed to %v: %v", r, b)
		}
	}
	a := f.aroundView(&AroundQuery{Method: f.numbers[2]})
	if len(a.Callers) != 2 || a.Self.Figures[8] != 5 || a.Self.Figures[9] != 1000 {
		t.Fatalf("%+v", a)
	}
	for i, want := range [][4]int64{{5, 5, 1000, 400}, {2, 0, 0, 0}} {
		if g := a.Callers[i].Figures; g[0] != int64(f.numbers[1]) || g[2] != want[0] || [3]int64(g[8:]) != [3]int64(want[1:]) {
			t.Errorf("caller %d: %v", i, g)
		}
	}
	if b := f.aroundView(&AroundQuery{Method: f.numbers[1]}); len(b.Callees) != 2 || b.Callees[0].Figures[8] != 5 {
		t.Errorf("callees: %+v", b.Callees)
	}

	// What became a task is no change of what is called.
	before := frameOf(f.numbering, livetest.Snapshot(livetest.Node(1, 1, 10, livetest.Node(2, 7, 70))))
	q := &CompareQuery{Rows: 9, Open: []int32{int32(page.Rows[0][0])}}
	var diff []string
	for _, r := range compare(before, f, q).Rows {
		diff = append(diff, fmt.Sprint(r[1], " m", f.local[int32(r[2])], r[4:6], r[3]&rowAsync != 0))
	}
	if want := []string{"0 m1 [1 1] false", "1 m2 [0 5] true", "1 m2 [7 2] false"}; !cmp.Equal(diff, want) {
		t.Errorf("%q, want %q", diff, want)
	}
	var text strings.Builder
	d := Difference(livetest.Report(livetest.Snapshot(livetest.Node(1, 1, 10, livetest.Node(2, 7, 20)))), livetest.Report(livetest.Snapshot(followed())), DifferenceOptions{Top: 5, Depth: 5})
	if err := d.Text(&text, export.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text.String(), "⇢ "); n != 1 || !strings.Contains(text.String(), "(asynchronous)") {
		t.Errorf("%d marks:\n%s", n, text.String())
	}

	r := livetest.Report(livetest.Snapshot(livetest.Node(1, 1, 1)))
	r.Slowest = &export.Slowest{Asked: 1, Of: 1, Invocations: []export.Invocation{{Thread: &cct.Thread{Roots: []*cct.Node{followed()}}}}}
	if l := newFrame(1, r, newNumbering()).slowest(0).Lines[0]; l.Calls != 15 || l.Tasks != 5 || l.Waited != 1000 || l.LongestWait != 400 {
		t.Errorf("%+v", l)
	}
}

// TestFollowSeveral: tasks of one call that several threads have executed are one line, also where one thread has handed all of them over.
func TestFollowSeveral(t *testing.T) {
	root := livetest.Node(1, 1, 10)
	for range 2 {
		task := livetest.Node(2, 5, 50)
		task.Details().Async = &cct.Handover{Waited: 10, Longest: 4}
		root.Children = append(root.Children, task)
	}
	f := frameOf(newNumbering(), livetest.Snapshot(root))
	if len(f.merged) != 1 || len(f.merged[0].Children) != 1 || f.merged[0].Children[0].Calls != 10 || len(root.Children) != 2 {
		t.Errorf("%+v", f.merged[0].Children)
	}
}
