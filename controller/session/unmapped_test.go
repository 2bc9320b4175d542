package session_test

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/session/sessiontest"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestUnmapped: after a recording the data file, a GB by default, is not mapped any more. How that is done depends on the
// JDK; 11 is the one that is like no other.
func TestUnmapped(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Parts")
	j := jvmtest.Need(t, 11)
	p := program(t, j, dir, "Parts", nil, "2")
	s := attached(t, p)
	start(t, s, session.Recording{Roots: []string{"t.Parts.root"}, Scheme: "A"})
	ask(t, p, "run 10", "RAN")
	if _, err := s.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	sessiontest.Gone(t, p.PID(), patient)
}
