package live

import (
	"fmt"
	"strings"
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
	if c := page.Changes; len(c) != 3 || page.Within != 1 || c[0] != (Change{int64(after.numbers[2]), 20, 40, 50, 400, 50, 400, 200}) {
		t.Errorf("changes %v", c)
	}
	d := Difference(before.Report, after.Report, DifferenceOptions{Top: 9, Depth: 9})
	if len(d.Tree)+d.Small != 4 || len(d.Methods) != 3 {
		t.Errorf("%+v", d)
	}
}

// many is a root with n callees; time is what the i-th takes.
func many(roots int64, n int, time func(i int) int64) *cct.Snapshot {
	root := livetest.Node(1, roots, 1000)
	for i := range n {
		c := livetest.Node(int32(2+i), 10*roots, time(i))
		root.Children = append(root.Children, c)
		root.Total += c.Total
	}
	return livetest.Snapshot(root)
}

// TestCompareNoise wants no change where all methods differ by one factor, and one where
// one of them does.
func TestCompareNoise(t *testing.T) {
	b := newNumbering()
	before := frameOf(b, many(10, 50, func(i int) int64 { return 100_000 + int64(i) }))
	same := frameOf(b, many(10, 50, func(i int) int64 { return 48_000 + 500*int64(i%7) }))
	page := compare(before, same, &CompareQuery{Rows: 90, Open: []int32{1}, Each: true})
	if page.Differ != 0 || len(page.Changes) != 0 || page.Within != 50 || !strings.HasPrefix(page.Verdict, "No difference beyond noise: ") {
		t.Errorf("%d changes: %s", page.Differ, page.Verdict)
	}
	for _, r := range page.Rows {
		if max(r[6]-r[7], r[7]-r[6]) > r[11] || max(r[8]-r[9], r[9]-r[8]) > r[12] {
			t.Errorf("beyond noise: %v", r)
		}
	}
	wild := frameOf(b, many(10, 50, func(i int) int64 { return 100 << (i % 20) }))
	if got := compare(before, wild, &CompareQuery{Rows: 9, Each: true}).Verdict; !strings.Contains(got, "methods vary more than 10-fold") || !strings.Contains(got, "record more root calls") {
		t.Error(got)
	}
	other := frameOf(b, many(10, 50, func(i int) int64 {
		if i == 7 {
			return 300_000
		}
		return 99_000 + int64(i)
	}))
	page = compare(before, other, &CompareQuery{Rows: 90, Open: []int32{1}, Each: true, Flame: &FlameQuery{Width: 1000, Depth: 9}})
	if page.Differ != 1 || b.method(int32(page.Changes[0][0])).Name != "p0.C9.m9()V" || page.Hot[len(page.Hot)-1] != int32(page.Rows[1][0]) {
		t.Errorf("%s %v", page.Verdict, page.Changes)
	}
	// The flame graph has the changed method as wide as it is after, beside all others.
	f := page.Flame
	if len(f.Boxes) != 51 || f.Boxes[1][2] != page.Changes[0][0] || f.Boxes[1][5] != 100_007 || f.Boxes[1][6] != 300_000 || f.Boxes[1][9] >= 199_993 {
		t.Errorf("%v", f)
	}
	var end int64
	for _, x := range f.Boxes[1:] {
		if x[3] < end-1 || x[3]+x[4] > f.Total {
			t.Errorf("box %v begins before %d, or ends after %d", x, end, f.Total)
		}
		end = x[3] + x[4]
	}
	focused := compare(before, other, &CompareQuery{Rows: 1, Each: true, Flame: &FlameQuery{Width: 1000, Depth: 9, Focus: int32(f.Boxes[1][0])}}).Flame
	if len(focused.Boxes) != 1 || focused.Total != 300_000 || len(focused.Above) != 1 {
		t.Errorf("focused: %+v", focused)
	}
}

// TestCompareUnlike wants nothing scaled and no change listed where a root invocation is
// unfinished, or where there is no common root.
func TestCompareUnlike(t *testing.T) {
	b := newNumbering()
	before := frameOf(b, livetest.Snapshot(livetest.Node(1, 10, 100)))
	unfinished := livetest.Snapshot(livetest.Node(1, 3, 900))
	unfinished.Threads[0].RootReturns--
	report := livetest.Report(livetest.Snapshot(livetest.Node(9, 2, 7000)))
	report.Roots = []string{"shop.C9.m9()V"}
	for kind, after := range map[string]*Frame{"unfinished": frameOf(b, unfinished), "roots": newFrame(2, report, b)} {
		page := compare(before, after, &CompareQuery{Rows: 10, Each: true})
		if len(page.Unlike) != 1 || page.Unlike[0].Kind != kind || !page.Unlike[0].Grave {
			t.Errorf("%s: %+v", kind, page.Unlike)
		}
		if page.Scaled || page.After != total(after.merged) || page.Differ != 0 || len(page.Changes) != 0 || page.Verdict != "Their times can't be compared." {
			t.Errorf("%s: %+v", kind, page)
		}
	}
}
