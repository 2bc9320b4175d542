package session_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestUntold has a root call by reflection while there is no box to say so: the controller does not
// hear of the target, and the report says that something is unknown, after a reset, too. As soon as
// there is a box it is told, though nobody asks again: the target is recorded late.
func TestUntold(t *testing.T) {
	t.Parallel()
	p := program(t, jvmtest.Need(t, 17), sources(t, "Untold"), "Untold", nil)
	s := attached(t, p)
	start(t, s, session.Recording{Roots: []string{"t.Untold.root"}, Scheme: "A", Patience: 200 * time.Millisecond})
	snapshot := func() *export.Report {
		r, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	call := func() {
		p.Send("c")
		p.WaitLine("CALLED")
	}
	release := s.HoldBoxes()
	call()
	if err := s.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := snapshot()
	untold := func(g export.Gap) bool { return strings.HasPrefix(g.Reason, "1 target of reflection") }
	if r.Exact() || !slices.ContainsFunc(r.Gaps, untold) {
		t.Errorf("exact %v, gaps %+v", r.Exact(), r.Gaps)
	}
	release()
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		call()
		r = snapshot()
		told := !slices.ContainsFunc(r.Gaps, untold)
		if told && calls(r)["Untold$Target.call"] > 0 && slices.Contains(lateOf(r), "Untold$Target.call") {
			break
		}
		if time.Since(begin) > jvmtest.Patience {
			t.Fatalf("the target is not recorded as late: late %q, gaps %+v, %v", lateOf(r), r.Gaps, calls(r))
		}
	}
	if r.Exact() {
		t.Error("a method is late, and the recording exact")
	}
	if err := s.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	call()
	r = stopped(t, s)
	wantCalls(t, r, map[string]int64{"Untold.root": 1, "Untold$Target.call": 1, "Untold$Target.callee": 1})
	if !r.Exact() {
		t.Errorf("gaps %+v", r.Gaps)
	}
}
