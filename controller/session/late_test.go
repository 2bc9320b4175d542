package session_test

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestLate calls more and more of a class that the root has loaded: each step is
// a redefinition in Schemes A and B, none in C, which had all of its methods get
// probes while it was loaded.
func TestLate(t *testing.T) {
	dir := sources(t, "Late")
	want := map[string]int64{"Late.root": 2, "Late$Far.one": 1, "Late$Far.two": 1, "Late$Far.three": 6, "Late$Far.four": 5}
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		batches := map[string]int{}
		for _, scheme := range []string{"A", "B", "C"} {
			p := program(t, j, dir, "Late", nil)
			s := attached(t, p)
			start(t, s, session.Recording{Roots: []string{"t.Late.root"}, Scheme: scheme})
			p.Send("1")
			p.WaitLine("ROOT 1")
			p.Send("2")
			p.WaitLine("ROOT 2")
			r := stopped(t, s)
			exact(t, r)
			wantCalls(t, r, want)
			batches[scheme] = r.Redefinition.Batches
			if n := map[string]int{"C": 6}[scheme]; n != 0 && r.Instrumented < n {
				t.Errorf("%d methods with probes, want %d", r.Instrumented, n)
			}
			p.Send("end")
			if code := p.Wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		}
		if batches["C"] >= batches["B"] || batches["C"] >= batches["A"] {
			t.Errorf("batches %v", batches)
		}
	}, 8, 17, 25)
}
