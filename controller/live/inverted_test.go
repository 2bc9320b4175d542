package live

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest"
)

// drawn writes the boxes of a flame graph: depth, method, start, total, self.
func drawn(f *Frame, v IcicleView) string {
	var b strings.Builder
	for _, x := range v.Boxes {
		name, _, _ := strings.Cut(f.numbering.method(int32(x[2])).Name, "(")
		fmt.Fprintf(&b, "%d %s %d+%d self %d\n", x[1], name, x[3], x[4], x[5])
	}
	return b.String()
}

// TestInverted wants self times on top, each method once, and below it whoever calls it; the
// callers of one method alone, with recursion counted once, and what it calls.
func TestInverted(t *testing.T) {
	names := []string{"A.a", "B.b", "C.c", "D.d"}
	n := livetest.Node
	// a calls b and c; b calls d, and d itself; c calls d.
	r := livetest.Report(livetest.Snapshot(n(0, 1, 10, n(1, 1, 20, n(3, 2, 100, n(3, 1, 50))), n(2, 1, 5, n(3, 3, 40)))))
	r.Lookup = func(id int32) (cct.Method, bool) { return cct.Method{Name: names[id] + "()V", Loader: "app"}, true }
	f := newFrame(1, r, newNumbering())
	all := &IcicleQuery{Width: 1000, Depth: 10}
	v := f.inverse(treeKey{})
	whole := f.inverted(v, v.leaves(), invertedEdge, true, all)
	want := `0 D.d 0+190 self 190
0 B.b 190+20 self 20
0 A.a 210+10 self 10
0 C.c 220+5 self 5
1 B.b 0+100 self 0
1 D.d 100+50 self 0
1 C.c 150+40 self 0
1 A.a 190+20 self 0
1 A.a 220+5 self 0
2 A.a 0+100 self 0
2 B.b 100+50 self 0
2 A.a 150+40 self 0
3 A.a 100+50 self 0
`
	if got := drawn(f, whole); got != want || whole.Whole != 225 {
		t.Errorf("of %d:\n%swant\n%s", whole.Whole, got, want)
	}
	// Zoomed to D called by B.
	zoomed := f.inverted(v, v.leaves(), invertedEdge, true, &IcicleQuery{Focus: int32(whole.Boxes[4][0]), Width: 1000, Depth: 10})
	if got := drawn(f, zoomed); got != "0 B.b 0+100 self 0\n1 A.a 0+100 self 0\n" || len(zoomed.Above) != 1 || zoomed.Total != 100 || zoomed.Focus == 0 {
		t.Errorf("zoomed to %d, %v:\n%s", zoomed.Focus, zoomed.Above, got)
	}
	d := f.numbers[3]
	s := f.sandwich(&AroundQuery{Method: d, Width: 1000})
	if got := drawn(f, s.Callers); got != "0 D.d 0+190 self 0\n1 B.b 0+150 self 0\n1 C.c 150+40 self 0\n2 A.a 0+150 self 0\n2 A.a 150+40 self 0\n" {
		t.Errorf("callers:\n%s", got)
	}
	if got := drawn(f, s.Callees); got != "0 D.d 0+190 self 140\n1 D.d 0+50 self 50\n" {
		t.Errorf("callees:\n%s", got)
	}
	if f.sandwich(&AroundQuery{Method: 99, Width: 1000}) != nil {
		t.Error("a method that is not there has a flame graph")
	}
}
