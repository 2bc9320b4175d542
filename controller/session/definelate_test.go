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

// TestDefinedLate has a root meet a call of a class whose definition does not end for now.
// It goes on, and the class's calls are recorded from when it is there and redefined.
func TestDefinedLate(t *testing.T) {
	t.Parallel()
	j := jvmtest.Need(t, 17)
	p := program(t, j, sources(t, "Define"), "Define", nil)
	s := attached(t, p)
	start(t, s, session.Recording{Roots: []string{"t.Define.root"}, Scheme: "B"})
	p.Send("define")
	p.WaitLine("MET")
	p.Send("go")
	for n := int64(0); n == 0; time.Sleep(20 * time.Millisecond) {
		p.Send("call")
		p.WaitLine("CALLED")
		r, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n = calls(r)["Define$Sub.call"]
	}
	r := stopped(t, s)
	if late := lateOf(r); r.Exact() || !slices.Contains(late, "Define$Sub.call") || r.Tree.Incomplete != 0 {
		t.Errorf("exact %v, late %q, incomplete %d", r.Exact(), late, r.Tree.Incomplete)
	}
	if slices.ContainsFunc(r.Skipped, func(k export.Skipped) bool { return strings.HasPrefix(k.Method, "t.Define$Sub") }) {
		t.Errorf("skipped: %+v", r.Skipped)
	}
}
