package flight

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/locks"
)

// TestWaitContexts puts waits into contexts by their threads and stacks: of the method that wants the lock, or of what it calls
// without probes; with the method in which the owner had got it.
func TestWaitContexts(t *testing.T) {
	names := []string{"", "Root", "A", "B"}
	a, b, b2 := &cct.Node{Method: 2}, &cct.Node{Method: 3}, &cct.Node{Method: 3}
	a.Children = []*cct.Node{b}
	r := &export.Report{
		Tree: &cct.Snapshot{Threads: []*cct.Thread{
			{ID: 1, Roots: []*cct.Node{{Method: 1, Children: []*cct.Node{a, b2}}}},
		}},
		Lookup: func(id int32) (cct.Method, bool) { return cct.Method{Name: names[id]}, true },
	}
	wait := func(thread, took int64, whole bool, owner []string, stack ...string) locks.Wait {
		return locks.Wait{Class: "java/lang/Object", Thread: thread, Start: 100, End: 100 + took, Whole: whole, Stack: stack, OwnerStack: owner}
	}
	c := contention{known: true, waits: []locks.Wait{
		wait(1, 5, true, []string{"jdk.X", "A", "Root"}, "B", "A", "Root", "Thread.run"),
		wait(1, 6, true, []string{"jdk.X", "A", "Root"}, "B", "A", "Root", "Thread.run"),
		wait(1, 7, true, []string{"jdk.Y", "Outside"}, "jdk.Z", "jdk.Y", "A", "Root"),
		wait(1, 8, false, nil, "B", "A"),            // cut off, but there is one context
		wait(1, 9, false, nil, "B"),                 // cut off, and there are two
		wait(1, 10, true, nil, "jdk.Y", "Other"),    // outside
		wait(2, 11, true, nil, "B", "Root", "main"), // of a thread without contexts
	}}
	c.report(r)
	if diff := cmp.Diff(&export.Contention{Inside: 4, Outside: 2, Unplaced: 1}, r.Contention); diff != "" {
		t.Errorf("waits, -want +got:\n%s", diff)
	}
	const lock = "java.lang.Object"
	for _, w := range []struct {
		node *cct.Node
		want []cct.LockWait
	}{
		{a, []cct.LockWait{{Lock: lock, Via: "jdk.Y", Owner: "jdk.Y", Count: 1, Took: 7}}},
		{b, []cct.LockWait{{Lock: lock, Owner: "A", Count: 2, Took: 11}, {Lock: lock, Count: 1, Took: 8}}},
		{b2, nil},
	} {
		if diff := cmp.Diff(w.want, w.node.Waits().All()); diff != "" {
			t.Errorf("%s, -want +got:\n%s", names[w.node.Method], diff)
		}
	}
}
