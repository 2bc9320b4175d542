package session_test

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// wantHistory wants all of a recording in the steps of its history, to the last call.
func wantHistory(t *testing.T, r *export.Report) {
	t.Helper()
	if r.History == nil || len(r.History.Steps) == 0 {
		t.Error("no history")
		return
	}
	var calls, roots, ended, at int64
	for i, s := range r.History.Steps {
		if s.From != at {
			t.Errorf("step %d begins at %d, the one before ended at %d", i, s.From, at)
		}
		at = s.From + s.Took
		calls, roots, ended = calls+s.Calls, roots+s.RootCalls, ended+s.Ended
		if s.Ended > 0 && (s.Mean <= 0 || s.P99 <= 0) {
			t.Errorf("step %d: %+v", i, s)
		}
	}
	var began, returned int64
	for _, k := range r.Tree.Threads {
		began, returned = began+k.RootEntries, returned+k.RootReturns
	}
	if all := cct.Sum(r.Tree.Roots()).Calls; calls != all || roots != began || ended != returned {
		t.Errorf("the history has %d calls and %d root calls, %d of which ended, the tree %d, %d and %d", calls, roots, ended, all, began, returned)
	}
	if x := r.History.Times; returned > 0 && (x == nil || x.Count != returned || x.Of != began || x.P50 > x.P99 || x.P99 > x.P999) {
		t.Errorf("times of root calls: %+v, of %d", x, returned)
	}
}
