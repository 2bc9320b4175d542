package sampler

import (
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestBriefThreads samples threads that end before they can be listed: what they run has its name, and its callers.
func TestBriefThreads(t *testing.T) {
	t.Parallel()
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		a := jvmtest.Open(t, "testdata/brief.txtar")
		p := jvmtest.Start(t, j, nil, "Brief", nil, a.Compile(t, j, 8))
		p.WaitLine("READY")
		work, bare := 0, 0
		st := sample(t, p.PID(), Options{Hz: 999}, func(s *stack.Stack) bool {
			switch {
			case s.Java && len(s.Frames) > 0:
				for _, f := range s.Frames {
					if f.Method.Name == "work" {
						work++
					}
				}
			case len(s.Frames) == 0 && (strings.HasPrefix(s.Thread, "thread ") || strings.HasPrefix(s.Thread, "Thread-") || s.Thread == "java"):
				bare++ // it begins, or ends
			}
			return work >= 500
		})
		t.Logf("%d samples of work, %d without frames, %d of %d complete", work, bare, st.Complete, st.Java)
		if bare > work/2 {
			t.Errorf("%d samples of work, %d without frames", work, bare)
		}
	})
}
