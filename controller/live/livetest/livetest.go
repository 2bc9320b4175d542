// Package livetest makes trees, reports and timelines for tests of package live and of
// what stands on it.
package livetest

import (
	"fmt"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// Node is a context with its own time in ns; totals are summed up.
func Node(method int32, calls, self int64, children ...*cct.Node) *cct.Node {
	n := &cct.Node{Method: method, Calls: calls, Self: self, Total: self, Children: children}
	for _, c := range children {
		n.Total += c.Total
	}
	return n
}

// Snapshot is a recording of one thread, which has begun a root invocation for each call
// of a root, and has ended all of them.
func Snapshot(roots ...*cct.Node) *cct.Snapshot {
	var calls int64
	for _, r := range roots {
		calls += r.Calls
	}
	return &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Name: "main", Roots: roots, RootEntries: calls, RootReturns: calls}}}
}

// Report is that of a recording of one second by Scheme B. Method n is called m<n>, in
// class C<n> of one of three packages.
func Report(s *cct.Snapshot) *export.Report {
	return &export.Report{
		Target: export.Target{PID: 4711, Main: "shop.Main"}, Roots: []string{"shop.C1.m1()V"}, Scheme: "B", Clock: "tick", Ended: "stopped",
		Time: time.Second, Tree: s,
		Lookup: func(id int32) (cct.Method, bool) {
			return cct.Method{Name: fmt.Sprintf("p%d.C%d.m%d()V", id%3, id, id), Loader: "app"}, true
		},
	}
}

// Timeline has two threads, 17 slices and five hand-overs of tasks, and a collection.
func Timeline() (*export.Timeline, *export.Marks) {
	t := &export.Timeline{Threads: map[int64]cct.Thread{1: {ID: 1}}, Left: 3, Least: 5}
	for i := range int64(10) {
		t.Slices = append(t.Slices, event.Slice{Thread: 1, Method: int32(i), Depth: 1, Start: 100 * i, Took: 10 + i})
	}
	t.Slices = append(t.Slices,
		event.Slice{Thread: 1, Method: 1, Root: true, Open: true, Took: 2000},
		event.Slice{Thread: 1, Method: event.Suspended, Depth: 2, Start: 7, Took: 1})
	for i := range int64(5) {
		t.Slices = append(t.Slices, event.Slice{Thread: 2, Method: 3, Task: true, Start: 100*i + 50, Took: 5})
		t.Hops = append(t.Hops, event.Hop{From: 1, FromDepth: 1, By: int32(i), At: 100*i + 2, To: 2, Method: 3, Began: 100*i + 50, Took: 5})
	}
	t.Threads[2], t.HopsLeft = cct.Thread{ID: 2}, 7
	t.Hops = append(t.Hops, event.Hop{From: 9, To: 2, Began: 100}) // from a thread that has no slices
	return t, &export.Marks{All: []event.Mark{{Kind: event.GC, Name: "Copy", Start: 150, Took: 20, Count: 1, Pause: 20}}}
}
