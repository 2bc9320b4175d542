package session_test

import (
	"slices"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestPatience has the session answer nobody while a root invocation meets with a fresh
// method and loads a class: it goes on by itself. What it called is late, and recorded
// from then on.
func TestPatience(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Late")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		for _, scheme := range []string{"A", "B", "C"} {
			t.Run(scheme, func(t *testing.T) {
				p := program(t, j, dir, "Late", nil)
				s := attached(t, p)
				start(t, s, session.Recording{Roots: []string{"t.Late.root"}, Scheme: scheme, Patience: 20 * time.Millisecond})
				s.Block(func() {
					p.Send("1")
					p.WaitLine("ROOT 1")
				})
				for n := int64(0); n == 0; time.Sleep(20 * time.Millisecond) {
					p.Send("more")
					r, err := s.Snapshot(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					n = calls(r)["Late$Far.four"]
				}
				r := stopped(t, s)
				late := lateOf(r)
				if !slices.Contains(late, "Late$Far.one") {
					t.Errorf("late: %q", late)
				}
				if r.Exact() || r.Tree.Incomplete != 0 {
					t.Errorf("exact %v, incomplete %d, gaps %+v", r.Exact(), r.Tree.Incomplete, r.Gaps)
				}
				if n := calls(r)["Late$Far.one"]; n != 0 {
					t.Errorf("%d calls of a method that had no probes", n)
				}
				p.Send("end")
				if code := p.Wait(); code != 0 {
					t.Errorf("exit code %d", code)
				}
			})
		}
	}, 8, 17, 25)
}
