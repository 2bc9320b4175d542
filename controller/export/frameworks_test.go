package export

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/application"
	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// chain is a tree of one path, with a time of its own for each level.
func chain(names ...string) (*cct.Node, cct.Lookup) {
	var root, at *cct.Node
	for i := range names {
		n := &cct.Node{Method: int32(i), Calls: 1, Self: int64(i+1) * 1e6}
		if at == nil {
			root = n
		} else {
			at.Children = []*cct.Node{n}
		}
		at = n
	}
	cct.Totals([]*cct.Node{root})
	return root, func(id int32) (cct.Method, bool) { return cct.Method{Name: names[id] + "()V"}, true }
}

// TestFrameworks has the levels of frameworks on one line of the text's tree, and of a slow
// invocation's, and has a limit of levels count the application's.
func TestFrameworks(t *testing.T) {
	root, lookup := chain("app.A.a", "org.hibernate.B.b", "org.hibernate.C.c", "org.springframework.aop.D.d", "java.lang.reflect.Method.invoke", "app.E.e", "app.F.f", "app.G.g")
	thread := &cct.Thread{ID: 1, Name: "main", Roots: []*cct.Node{root}, RootEntries: 1, RootReturns: 1}
	r := &Report{
		Target: Target{Main: "app.Main"}, Scheme: "A", Clock: "tick", Tree: &cct.Snapshot{Threads: []*cct.Thread{thread}}, Lookup: lookup,
		Slowest: &Slowest{Asked: 1, Of: 1, Invocations: []Invocation{{Thread: thread, Took: 36e6}}},
	}
	write := func(o TextOptions) string {
		var b bytes.Buffer
		if err := r.Text(&b, o); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	var json bytes.Buffer
	if err := r.JSON(&json, JSONOptions{}); err != nil {
		t.Fatal(err)
	}
	if all := write(TextOptions{Depth: 4, Part: Tree}); strings.Contains(all, "levels of") || strings.Contains(all, "app.E.e") {
		t.Errorf("without folding:\n%s", all)
	}
	folded := write(TextOptions{Depth: 3, Part: Tree, Frameworks: &Frameworks{Hint: "--unfold shows them"}})
	want := `
Calling context tree, all threads (* hot path)

calls     self    total    share    method
    1  1.00 ms  36.0 ms  100.0 %  * app.A.a
    1  2.00 ms  35.0 ms   97.2 %  * └─ org.hibernate.B.b
    3  12.0 ms  33.0 ms   91.7 %  *    └─ … 3 levels of org.hibernate, org.springframework.aop, java.lang.reflect
    1  6.00 ms  21.0 ms   58.3 %  *       └─ app.E.e
    1  7.00 ms  15.0 ms   41.7 %  *          └─ app.F.f
    1           8.00 ms   22.2 %                └─ … 1 deeper branch
… levels of frameworks that lead to the application are folded; --unfold shows them
`
	if folded != strings.TrimPrefix(want, "\n") {
		t.Errorf("got\n%swant%s", folded, want)
	}
	if slow := write(TextOptions{Frameworks: &Frameworks{}}); strings.Count(slow, "… 3 levels of org.hibernate") != 2 || strings.Count(slow, "app.G.g") != 4 {
		t.Errorf("a slow invocation:\n%s", slow)
	}
	if _, err := application.New([]string{"a..b"}, ""); err == nil {
		t.Error("a package is refused nowhere")
	} else if err := r.Text(&bytes.Buffer{}, TextOptions{Frameworks: &Frameworks{App: []string{"a..b"}}}); err == nil {
		t.Error("Text takes what is no package")
	}
	var again bytes.Buffer
	if err := r.JSON(&again, JSONOptions{}); err != nil || !bytes.Equal(json.Bytes(), again.Bytes()) || !strings.Contains(again.String(), "org.springframework.aop.D.d") {
		t.Errorf("JSON has not the whole tree, or changes: %v", err)
	}
}
