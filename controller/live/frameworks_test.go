package live

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest"
)

// frameworksFrame is app.A → 3 levels of Spring → app.E → app.F, with a branch of Spring's
// own below the last level.
func frameworksFrame() *Frame {
	names := []string{"app.A.a", "org.springframework.B.b", "org.springframework.C.c", "org.springframework.D.d", "app.E.e", "app.F.f", "org.springframework.G.g"}
	n := livetest.Node
	r := livetest.Report(livetest.Snapshot(n(0, 1, 1, n(1, 1, 2, n(2, 1, 4, n(3, 1, 8, n(4, 1, 16, n(5, 3, 32)), n(6, 2, 64)))))))
	r.Target.Main = "app.Main"
	r.Lookup = func(id int32) (cct.Method, bool) { return cct.Method{Name: names[id] + "()V", Loader: "app"}, true }
	return newFrame(1, r, newNumbering())
}

// lines are the rows of a tree whose nodes are all open, or the boxes of its flame graph.
func lines(f *Frame, q *Query) (tree, icicle string, folds []int32) {
	v := f.selection(q)
	l := &TreeQuery{Rows: maxRows}
	for range 20 {
		var open []int32
		for _, r := range v.tree(l).Rows {
			open = append(open, int32(r[0]))
		}
		l.Open = open
	}
	var b strings.Builder
	for _, r := range v.tree(l).Rows {
		if r[3]&RowFold != 0 {
			folds = append(folds, int32(r[0]))
		}
		name, _, _ := strings.Cut(f.numbering.method(int32(r[2])).Name, "(")
		fmt.Fprintf(&b, "%s%s %d %d\n", strings.Repeat(" ", int(r[1])), name, r[6], r[9])
	}
	var g strings.Builder
	for _, x := range v.icicle(&IcicleQuery{Width: 1000, Depth: maxDepth}).Boxes {
		name, _, _ := strings.Cut(f.numbering.method(int32(x[2])).Name, "(")
		fmt.Fprintf(&g, "%d %s %d\n", x[1], name, x[4])
	}
	return b.String(), g.String(), folds
}

// TestFrameworks folds the levels that lead to the application in the table, the flame
// graph and the hot path, and opens the fold by its path.
func TestFrameworks(t *testing.T) {
	f := frameworksFrame()
	q := &Query{Frameworks: true}
	tree, icicle, folds := lines(f, q)
	if want := `app.A.a 1 127
 org.springframework.B.b 2 126
  2 levels of org.springframework 12 124
   org.springframework.G.g 64 64
   app.E.e 16 48
    app.F.f 32 32
`; tree != want {
		t.Errorf("got\n%swant\n%s", tree, want)
	}
	if want := "0 app.A.a 127\n1 org.springframework.B.b 126\n2 2 levels of org.springframework 124\n3 org.springframework.G.g 64\n3 app.E.e 48\n4 app.F.f 32\n"; icicle != want {
		t.Errorf("flame graph: got\n%swant\n%s", icicle, want)
	}
	if len(folds) != 1 {
		t.Fatalf("folds %v", folds)
	}
	v := f.selection(q)
	if hot := v.hot(); len(hot) != 4 || hot[2] != folds[0] || v.find(hot[3]) == nil {
		t.Errorf("hot path %v, fold %v", hot, folds)
	}
	whole, _, _ := lines(f, &Query{})
	opened, graph, none := lines(f, &Query{Frameworks: true, Unfold: folds})
	if opened != whole || len(none) != 0 || !strings.Contains(whole, "org.springframework.D.d 8 120") || strings.Contains(graph, "levels of") {
		t.Errorf("opened:\n%swhole:\n%sgraph:\n%s", opened, whole, graph)
	}
	if got, _, _ := lines(f, &Query{Frameworks: true, app: []string{"org.springframework"}}); got != whole {
		t.Errorf("with Spring as the application:\n%s", got)
	}
}
