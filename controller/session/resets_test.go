package session_test

import (
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestReset begins anew without another attach, and without what was before.
func TestReset(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Parts")
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Parts", nil, "3")
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Parts.root", "t.Parts.waiting"}, UntilCalls: 700})
		ask(t, p, "run 150", "RAN ")
		p.Send("open")
		p.WaitLine("OPEN")
		must(t, "reset", s.Reset)
		p.Send("shut")
		p.WaitLine("SHUT")
		begin := time.Now()
		ask(t, p, "run 300", "RAN ")
		r := finish(t, s)
		got := calls(r)
		n := got["Parts.root"]
		// Each second in which a thread that was let in gets no core lets others in, one in place of each open one.
		if most := 700 + 3*int64(time.Since(begin)/time.Second); n < 700 || n > most {
			t.Errorf("%d root calls, want 700, and %d at the most", n, most)
		}
		wantRoots(t, r, n, 0)
		wantHistory(t, r)
		if got["Parts.branch"] != n || got["Parts.waiting"] != 0 {
			t.Errorf("calls %v", got)
		}
		// Two alone make 600.
		if len(r.Tree.Threads) != 3 {
			t.Errorf("%d threads", len(r.Tree.Threads))
		}
	}, 8, 17)
}

// TestResetForgets: what the report says against a recording is of that recording
// and not of what was reset: tasks that could not be followed, and the tick clock.
func TestResetForgets(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Waiting")
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Waiting", nil)
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Waiting.root"}, Clock: "tick", Follow: true, Natives: session.NativesOff})
		p.Send("hand 200000") // more than can wait
		p.WaitLine("DONE")
		r, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.Tree.Unfollowed == 0 || s.Ticks() == nil {
			t.Fatalf("%d unfollowed, ticks %+v", r.Tree.Unfollowed, s.Ticks())
		}
		must(t, "reset", s.Reset)
		p.Send("hand 2000")
		p.WaitLine("DONE")
		must(t, "pause", s.Pause)
		k := s.Ticks() // without those of a calibration at the end
		r = closed(t, s)
		if r.Tree.Unfollowed != 0 {
			t.Errorf("%d unfollowed", r.Tree.Unfollowed)
		}
		if k != nil { // it may have been over before one
			if ticked := time.Duration(k.Period * float64(k.Ticks)); ticked > r.Time+10*time.Millisecond {
				t.Errorf("ticks of %v in a recording of %v", ticked, r.Time)
			}
		}
	}, 8, 17, 25)
}

// TestMeasuredAgain records for a while: the probes' cost is measured more than
// once, and counts nothing.
func TestMeasuredAgain(t *testing.T) {
	dir := sources(t, "Parts")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Parts", nil)
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Parts.root"}})
		until(t, "it is measured three times", jvmtest.Patience, func() bool {
			n, err := s.Calibrations(t.Context())
			return err == nil && n >= 3
		})
		ask(t, p, "run 100", "RAN ")
		r := closed(t, s)
		exact(t, r)
		wantRoots(t, r, 100, 0)
		if r.Calibration == nil {
			t.Error("the report is not corrected")
		}
	}, 8, 17, 25)
}

// TestResetReuses resets a recording that has filled much of the room: the next
// one finds all of it again.
func TestResetReuses(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Parts")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Parts", nil)
		s := attachedBy(t, p, session.Config{Memory: 3 << 20}) // 49,152 nodes
		start(t, s, session.Recording{Roots: []string{"t.Parts.wide"}})
		for range 5 { // 26,242 contexts each
			p.Send("wide 8")
			p.WaitLine("WIDE")
			must(t, "reset", s.Reset)
		}
		p.Send("wide 8")
		p.WaitLine("WIDE")
		r := closed(t, s)
		if r.Tree.Overflow != 0 || r.Tree.Bad != 0 {
			t.Errorf("overflow %d, bad %d", r.Tree.Overflow, r.Tree.Bad)
		}
		wantCalls(t, r, wideCalls(8))
	}, 8, 17, 25)
}
