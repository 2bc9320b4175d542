package session_test

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestEvery records one of five root invocations: of each five in a row exactly one, with
// all of its calls, whichever threads they are on.
func TestEvery(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Parts")
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Parts", nil, "2")
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Parts.root"}, Every: 5})
		if n := ask(t, p, "run 500", "RAN"); n != 1000 {
			t.Fatalf("%d root invocations", n)
		}
		r, err := s.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wantCalls(t, r, map[string]int64{"Parts.root": 200, "Parts.branch": 200})
		if leaf := calls(r)["Parts.leaf"]; r.Seen != 1000 || leaf < 2000 || leaf > 2400 || !r.Exact() {
			t.Errorf("of %d, %d leaves, exact %v %v", r.Seen, leaf, r.Exact(), r.Gaps)
		}
	})
}
