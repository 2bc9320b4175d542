package session_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestSetRoots replaces the roots of a recording again and again: each tree has what was
// called since, from the first call on, and classes are redefined for new roots alone.
func TestSetRoots(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Parts")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for _, scheme := range []string{"A", "B", "C"} {
			t.Run(scheme, func(t *testing.T) {
				p := program(t, j, dir, "Parts", nil, "2")
				s := attached(t, p)
				if err := s.SetRoots(t.Context(), []string{"t.Parts.root"}); !errors.Is(err, session.ErrNotRecording) {
					t.Errorf("before the recording: %v", err)
				}
				start(t, s, session.Recording{Roots: []string{"t.Parts.root"}, Scheme: scheme})
				so := func(n int64) *export.Report {
					t.Helper()
					ask(t, p, fmt.Sprintf("run %d", n), "RAN ")
					r, err := s.Snapshot(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					return r
				}
				to := func(roots ...string) {
					t.Helper()
					must(t, "set roots", func(ctx context.Context) error { return s.SetRoots(ctx, roots) })
				}
				r := so(100)
				wantRoots(t, r, 200, 0)
				classes := r.Redefinition.Classes
				if err := s.SetRoots(t.Context(), []string{"t.Parts.nowhere"}); !errors.Is(err, roots.ErrNoRoot) {
					t.Errorf("a root that is not there: %v", err)
				}
				r = so(10)
				wantRoots(t, r, 220, 0)
				to("t.Parts.branch")
				r = so(50)
				wantRoots(t, r, 100, 0)
				wantCalls(t, r, map[string]int64{"Parts.branch": 100, "Parts.leaf": 100})
				if n := r.Redefinition.Classes - classes; scheme == "A" && n > 1 {
					t.Errorf("%d classes were redefined for another root", n)
				}
				to("t.Parts.leaf")
				r = so(30)
				wantRoots(t, r, 660, 0)
				wantCalls(t, r, map[string]int64{"Parts.leaf": 660})
				to("t.Parts.root", "t.Parts.waiting")
				must(t, "pause", s.Pause)
				to("t.Parts.root")
				r = so(20)
				wantRoots(t, r, 40, 0)
				wantCalls(t, r, map[string]int64{"Parts.root": 40, "Parts.branch": 40, "Parts.leaf": 440})
				if r = closed(t, s); len(r.Roots) != 1 || !r.Exact() {
					t.Errorf("roots %v, gaps %v", r.Roots, r.Gaps)
				}
			})
		}
	})
}
