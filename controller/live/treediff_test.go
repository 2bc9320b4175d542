package live

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest"
)

func TestCompare(t *testing.T) {
	b := newNumbering()
	before := frameOf(b, livetest.Snapshot(livetest.Node(1, 10, 100, livetest.Node(2, 20, 50), livetest.Node(3, 5, 5))))
	after := frameOf(b, livetest.Snapshot(livetest.Node(1, 20, 200, livetest.Node(2, 40, 400), livetest.Node(4, 1, 8))))
	page := compare(before, after, &CompareQuery{Open: []int32{1}, Rows: 10})
	var rows []string
	for _, r := range page.Rows {
		rows = append(rows, fmt.Sprint(b.method(int32(r[2])).Name, r[4:10]))
	}
	want := []string{
		"p1.C1.m1()V[10 20 155 608 100 200]", "p2.C2.m2()V[20 40 50 400 50 400]", "p1.C4.m4()V[0 1 0 8 0 8]", "p0.C3.m3()V[5 0 5 0 5 0]",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error("-want +got:\n", diff)
	}
	if want := []int32{1, b.findPath(1, after.numbers[2])}; !cmp.Equal(want, page.Hot) || want[1] == 0 {
		t.Errorf("most of the difference is at %v, want %v", page.Hot, want)
	}
	page = compare(before, after, &CompareQuery{Rows: 10, Each: true})
	if r := page.Rows[0]; r[4] != 10 || r[5] != 10 || r[7] != 304 {
		t.Errorf("for the same number of root calls: %v", r)
	}
	if c := page.Changes[0]; b.method(int32(c[0])).Name != "p2.C2.m2()V" || c[4] != 200 {
		t.Errorf("largest change: %v", c)
	}
}

// TestCompareRestarted compares recordings of a server before and after a restart:
// its loaders have other hashes then.
func TestCompareRestarted(t *testing.T) {
	run := func(b *Numbering, hash string, s *cct.Snapshot) *Frame {
		r := livetest.Report(s)
		r.Lookup = func(id int32) (cct.Method, bool) {
			return cct.Method{Name: fmt.Sprintf("p.C.m%d()V", id), Loader: "srv.WebLoader@" + hash}, true
		}
		return newFrame(1, r, b)
	}
	b := newNumbering()
	before := run(b, "1f", livetest.Snapshot(livetest.Node(1, 10, 100, livetest.Node(2, 20, 50), livetest.Node(3, 5, 5))))
	after := run(b, "2a", livetest.Snapshot(livetest.Node(1, 20, 200, livetest.Node(2, 40, 400), livetest.Node(4, 1, 8))))
	root := b.addPath(0, after.numbers[1])
	page := compare(before, after, &CompareQuery{Open: []int32{root}, Rows: 10})
	var rows []string
	for _, r := range page.Rows {
		rows = append(rows, fmt.Sprint(b.method(int32(r[2])).Key(), r[4:10]))
	}
	want := []string{
		"{p.C.m1()V srv.WebLoader@2a} [10 20 155 608 100 200]", "{p.C.m2()V srv.WebLoader@2a} [20 40 50 400 50 400]",
		"{p.C.m4()V srv.WebLoader@2a} [0 1 0 8 0 8]", "{p.C.m3()V srv.WebLoader@1f} [5 0 5 0 5 0]",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error("-want +got:\n", diff)
	}
	if c := page.Changes; len(c) != 4 || c[0] != (Change{int64(after.numbers[2]), 20, 40, 50, 400, 50, 400}) {
		t.Errorf("changes %v", c)
	}
	d := Difference(before.Report, after.Report, DifferenceOptions{Top: 9, Depth: 9})
	if len(d.Tree)+d.Small != 4 || len(d.Methods) != 4 {
		t.Errorf("%+v", d)
	}
}
