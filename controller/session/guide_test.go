package session_test

import (
	"fmt"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestInvokedBefore records a program that is warm: what it has called before has its
// probes when the root is armed, with both implementations of an interface, and nothing
// gets any while it runs. What it calls for the first time is recorded all the same. Where
// the JVM doesn't tell, and where nothing was called before, methods get probes while it
// runs, and the counts are the same.
func TestInvokedBefore(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Warm")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for _, warm := range []int{0, 100} {
			t.Run(fmt.Sprint(warm), func(t *testing.T) {
				p := program(t, j, dir, "Warm", nil)
				if warm > 0 {
					ask(t, p, fmt.Sprintf("run %d false", warm), "RAN ")
				}
				s := attached(t, p)
				start(t, s, session.Recording{Roots: []string{"t.Warm.root"}, Leaves: session.LeavesTimed, UntilCalls: 20})
				known, armed := warm > 0 && j.Version >= 11, s.Progress().Instrumented
				ask(t, p, "run 10 false", "RAN ")
				if after := s.Progress().Instrumented; (after == armed) != known {
					t.Errorf("%d methods got probes while it ran; the JVM told what it had invoked: %v", after-armed, known)
				}
				ask(t, p, "run 10 true", "RAN ")
				r := finish(t, s)
				wantCalls(t, r, map[string]int64{
					"Warm.root": 20, "Warm.sum": 20, "Warm$Square.area": 20, "Warm$Line.area": 20, "Warm$Cube.area": 10,
					"Warm$Square.sq": 30, "Warm$Square.one": 40, "Warm$Square.two": 20, "Warm$Line.zero": 20, "Warm$Line.three": 20, "Warm.never": 10, "Warm.deep": 10,
				})
				p.CloseStdin()
				if code := p.Wait(); code != 0 {
					t.Errorf("exit code %d", code)
				}
			})
		}
	}, 8, 11, 17, 21, 25)
}
