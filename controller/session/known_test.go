package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestKnownAgain attaches twice to a program that is warm and calls nothing in between:
// Scheme C gives as many methods their probes when the roots are armed, though the
// restored classes' counters begin anew.
func TestKnownAgain(t *testing.T) {
	cache := t.TempDir()
	defer session.CacheIn(cache)()
	dir := sources(t, "Warm")
	p := program(t, jvmtest.Need(t, 17), dir, "Warm", nil)
	ask(t, p, "run 100 false", "RAN ")
	armed := make([]int, 2)
	for i := range armed {
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Warm.root"}, Scheme: "C", Leaves: session.LeavesTimed})
		armed[i] = s.Progress().Instrumented
		stopped(t, s)
	}
	if armed[0] != armed[1] || armed[0] < 5 {
		t.Errorf("%d methods had probes when armed, then %d", armed[0], armed[1])
	}
	if files, _ := filepath.Glob(filepath.Join(cache, "rivulet", "invoked", "*")); len(files) != 1 {
		t.Errorf("kept: %q", files)
	} else if st, err := os.Stat(files[0]); err != nil || st.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", st, err)
	}
	p.CloseStdin()
	p.Wait()
}
