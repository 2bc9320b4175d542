package cct_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// parse makes trees from lines "method calls thrown self", where a method is
// a letter and two spaces of indentation are a level.
func parse(t *testing.T, text string) []*cct.Node {
	t.Helper()
	above := &cct.Node{}
	path := []*cct.Node{above}
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		body := strings.TrimLeft(line, " ")
		level := (len(line) - len(body)) / 2
		n := &cct.Node{}
		var method rune
		if _, err := fmt.Sscanf(body, "%c %d %d %d", &method, &n.Calls, &n.Thrown, &n.Self); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		n.Method = method - 'a'
		path[level].Children = append(path[level].Children, n)
		path = append(path[:level+1], n)
	}
	// Merging leaves a tree that has no siblings of one method as it is, with
	// its totals computed.
	return cct.Merge(above.Children)
}

// show prints what parse reads, with totals and levels.
func show(roots []*cct.Node) string {
	var b strings.Builder
	b.WriteByte('\n')
	for n, depth := range cct.All(roots) {
		fmt.Fprintf(&b, "%s%c %d %d %d = %d", strings.Repeat("  ", depth), 'a'+n.Method, n.Calls, n.Thrown, n.Self, n.Total)
		if n.Levels > 0 {
			fmt.Fprintf(&b, " x%d", n.Levels)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestMerge(t *testing.T) {
	roots := append(parse(t, `
a 1 0 10
  b 2 1 20
    c 3 0 30
  d 1 0 1
`), append(parse(t, `
a 10 1 1
  d 10 0 5
    e 1 0 1
  b 20 2 2
`), parse(t, `
b 1 0 4
`)...)...)
	before := show(roots)
	want := `
a 11 1 11 = 70
  b 22 3 22 = 52
    c 3 0 30 = 30
  d 11 0 6 = 7
    e 1 0 1 = 1
b 1 0 4 = 4
`
	if diff := cmp.Diff(want, show(cct.Merge(roots))); diff != "" {
		t.Error("-want +got:\n", diff)
	}
	if diff := cmp.Diff(before, show(roots)); diff != "" {
		t.Error("the trees merged have changed:\n", diff)
	}
}

// TestMergeMany has more children than a scan looks through.
func TestMergeMany(t *testing.T) {
	var roots []*cct.Node
	for i := range 300 {
		roots = append(roots, &cct.Node{Method: int32(i % 100), Calls: 1, Self: 1})
	}
	merged := cct.Merge(roots)
	if len(merged) != 100 {
		t.Fatalf("%d roots, want 100", len(merged))
	}
	for i, n := range merged {
		if n.Method != int32(i) || n.Calls != 3 || n.Total != 3 {
			t.Errorf("root %d: %+v", i, n)
		}
	}
}

func TestFoldRecursion(t *testing.T) {
	// a calls itself on two paths, with b between two of the levels: indirect
	// recursion stays.
	got := show(cct.FoldRecursion(parse(t, `
a 1 0 1
  b 1 0 1
    a 1 0 1
      a 1 0 1
  a 2 1 1
    a 4 0 1
      b 1 0 1
    c 1 0 1
`)))
	want := `
a 7 1 3 = 8 x3
  b 2 0 2 = 4
    a 2 0 2 = 2 x2
  c 1 0 1 = 1
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("-want +got:\n", diff)
	}
}

func TestFlatOf(t *testing.T) {
	got := cct.FlatOf(parse(t, `
a 1 0 1
  b 2 1 10
    a 4 0 100
      b 1 0 1000
  b 0 0 0
c 1 1 0
`))
	want := []cct.Flat{
		// b's second level lies inside its first: 1110, not 2110.
		{Method: 1, Contexts: 2, Calls: 3, Thrown: 1, Self: 1010, Total: 1110},
		{Method: 0, Contexts: 2, Calls: 5, Self: 101, Total: 1111},
		{Method: 2, Contexts: 1, Calls: 1, Thrown: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("-want +got:\n", diff)
	}
}

func TestHotPath(t *testing.T) {
	roots := parse(t, `
c 1 0 5
a 1 0 1
  b 1 0 10
  d 1 0 2
    e 1 0 20
      f 1 0 3
`)
	var got strings.Builder
	for _, n := range cct.HotPath(roots) {
		fmt.Fprintf(&got, "%c", 'a'+n.Method)
	}
	if got.String() != "ade" {
		t.Errorf("got %s, want ade", got.String())
	}
	if p := cct.HotPath(parse(t, "a 1 0 0")); p != nil {
		t.Errorf("a path without time: %v", p)
	}
}

func TestFoldSmall(t *testing.T) {
	roots := parse(t, `
a 1 0 1
  b 1 0 100
  c 1 0 50
    g 9 2 1
  d 2 1 3
  e 3 0 2
`)
	cct.Sort(roots)
	kids := roots[0].Children
	tests := []struct {
		least int64
		most  int
		shown int
		fold  cct.Fold
	}{
		{0, 10, 4, cct.Fold{}},
		{3, 10, 4, cct.Fold{}}, // e alone would be folded: shown instead
		{4, 10, 2, cct.Fold{Branches: 2, Total: 5, Sums: cct.Sums{Nodes: 2, Calls: 5, Thrown: 1, Self: 5, Depth: 1}}},
		{0, 1, 1, cct.Fold{Branches: 3, Total: 56, Sums: cct.Sums{Nodes: 4, Calls: 15, Thrown: 3, Self: 56, Depth: 2}}},
		{1000, 10, 0, cct.Fold{Branches: 4, Total: 156, Sums: cct.Sums{Nodes: 5, Calls: 16, Thrown: 3, Self: 156, Depth: 2}}},
	}
	for _, test := range tests {
		shown, fold := cct.FoldSmall(kids, test.least, test.most)
		if len(shown) != test.shown {
			t.Errorf("least %d most %d: %d shown, want %d", test.least, test.most, len(shown), test.shown)
		}
		if diff := cmp.Diff(test.fold, fold); diff != "" {
			t.Errorf("least %d most %d: -want +got:\n%s", test.least, test.most, diff)
		}
	}
}

func TestByThread(t *testing.T) {
	s := &cct.Snapshot{Threads: []*cct.Thread{
		{ID: 1, Name: "main", RootEntries: 2, RootReturns: 2, Roots: parse(t, "a 2 0 1")},
		{ID: 2, Name: "other", RootEntries: 1, Open: true, Roots: parse(t, "a 1 0 1")},
		{ID: 1, Name: "main", RootEntries: 3, RootReturns: 2, Open: true, Suspended: 4, Roots: parse(t, "b 1 0 1\na 3 0 2")},
		{ID: 3, Virtual: true, Roots: parse(t, "a 1 0 1")},
		{ID: 3, Virtual: true, Roots: parse(t, "a 1 0 1")},
	}}
	var got []string
	for _, th := range s.ByThread() {
		got = append(got, fmt.Sprint(th.ID, th.Name, th.RootEntries, th.RootReturns, th.Open, th.Suspended, show(th.Roots)))
	}
	want := []string{
		"1main5 4 true 4\na 5 0 3 = 3\nb 1 0 1 = 1\n",
		"2other1 0 true 0\na 1 0 1 = 1\n",
		"30 0 false 0\na 1 0 1 = 1\n",
		"30 0 false 0\na 1 0 1 = 1\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("-want +got:\n", diff)
	}
	if len(s.Threads) != 5 || len(s.Threads[0].Roots) != 1 {
		t.Error("the snapshot has changed")
	}
}
