package session_test

import (
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestCalibratedBeside: the probes are measured while the recording is on, and
// nothing of that is in it, nor in what a reset begins.
func TestCalibratedBeside(t *testing.T) {
	p := program(t, jvmtest.Any(t), sources(t, "Parts"), "Parts", nil, "2")
	s := attached(t, p)
	start(t, s, session.Recording{Roots: []string{"t.Parts.root"}, Events: true})
	for i, deadline := 0, time.Now().Add(jvmtest.Patience); ; i++ {
		r, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Tree.Threads) != 0 || r.Tree.Lost+r.Tree.Refused != 0 {
			t.Fatalf("%d threads, lost %d, refused %d", len(r.Tree.Threads), r.Tree.Lost, r.Tree.Refused)
		}
		if r.Calibration != nil {
			break
		}
		if i == 0 { // while the sample runs
			if err := s.Reset(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.Pause(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if time.Now().After(deadline) {
			t.Skip("this machine is too busy to measure a probe on")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if r := stopped(t, s); r.Calibration == nil || len(r.Tree.Threads) != 0 || r.Tree.Bad != 0 {
		t.Errorf("calibration %v, %d threads, %d bad links", r.Calibration, len(r.Tree.Threads), r.Tree.Bad)
	}
}
