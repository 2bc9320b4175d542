package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// must runs one of a session's actions, bounded.
func must(t *testing.T, what string, f func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), jvmtest.Patience)
	defer cancel()
	if err := f(ctx); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// closed finishes a recording that is still on.
func closed(t *testing.T, s *session.Session) *export.Report {
	t.Helper()
	var r *export.Report
	must(t, "finish", func(ctx context.Context) (err error) {
		r, err = s.Finish(ctx)
		return err
	})
	return r
}

// wantRoots compares the root invocations, and those of them that have not
// returned.
func wantRoots(t *testing.T, r *export.Report, entries, open int64) {
	t.Helper()
	var e, o int64
	for _, th := range r.Tree.Threads {
		e += th.RootEntries
		o += th.RootEntries - th.RootReturns
	}
	if e != entries || o != open {
		t.Errorf("%d root calls, %d open, want %d, %d", e, o, entries, open)
	}
}

// TestPause records three phases of a program and pauses in the second; a root
// invocation that is open when a pause begins keeps what it has done and no
// more.
func TestPause(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Parts")
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Parts", nil, "2")
		s := attached(t, p)
		if err := s.Pause(t.Context()); !errors.Is(err, session.ErrNotRecording) {
			t.Errorf("pause before the recording: %v", err)
		}
		start(t, s, session.Recording{Roots: []string{"t.Parts.root", "t.Parts.waiting"}})
		ask(t, p, "run 1000", "RAN ")
		p.Send("open")
		p.WaitLine("OPEN")
		called(t, s, "Parts.hold")
		time.Sleep(300 * time.Millisecond)
		must(t, "pause", s.Pause)
		must(t, "pause again", s.Pause)
		if phase := s.Progress().Phase; phase != "paused" {
			t.Errorf("phase %q", phase)
		}
		ask(t, p, "run 500", "RAN ")
		must(t, "resume", s.Resume)
		must(t, "resume again", s.Resume)
		p.Send("shut")
		p.WaitLine("SHUT")
		ask(t, p, "run 300", "RAN ")
		r := closed(t, s)
		wantRoots(t, r, 2*1300+1, 1)
		wantCalls(t, r, map[string]int64{
			"Parts.root": 2600, "Parts.branch": 2600, "Parts.leaf": 2600*10 + 1300*2 + 1, "Parts.waiting": 1, "Parts.hold": 1,
		})
		for _, n := range cct.FlatOf(r.Tree.Roots()) {
			if n.Self < 0 || n.Total < n.Self {
				t.Errorf("times of %+v", n)
			}
			// It was in there for 300 ms before the pause, and nothing has charged that since.
			if m, _ := r.Lookup(n.Method); strings.HasPrefix(m.Name, "t.Parts.hold") && n.Total < int64(50*time.Millisecond) {
				t.Errorf("%s: %v", m.Name, time.Duration(n.Total))
			}
		}
	}, 8, 17, 25)
}

// TestPausedTwice: a root invocation that was open in a part before the last one has
// its time up to then, when its thread enters a root anew, and when another thread
// gets its record.
func TestPausedTwice(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Parts")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for _, c := range []struct {
			name    string
			rec     session.Recording
			another bool
		}{
			{"tick", session.Recording{Clock: "tick"}, false},
			{"precise", session.Recording{Clock: "precise"}, false},
			{"events", session.Recording{Events: true}, false},
			{"another", session.Recording{}, true},
			{"another-events", session.Recording{Events: true}, true},
		} {
			t.Run(c.name, func(t *testing.T) {
				p := program(t, j, dir, "Parts", nil, "1")
				s := attached(t, p)
				c.rec.Roots = []string{"t.Parts.root", "t.Parts.waiting"}
				c.rec.Natives = session.NativesOff // sleep would have the time charged
				start(t, s, c.rec)
				p.Send("twice")
				p.WaitLine("OPEN")
				called(t, s, "Parts.hold")
				time.Sleep(300 * time.Millisecond)
				must(t, "pause", s.Pause)
				hold := func(r *export.Report) (total int64) {
					for _, n := range cct.FlatOf(r.Tree.Roots()) {
						if m, _ := r.Lookup(n.Method); strings.HasPrefix(m.Name, "t.Parts.hold") {
							total = n.Total
						}
					}
					return total
				}
				r, err := s.Snapshot(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				before := hold(r)
				must(t, "resume", s.Resume)
				must(t, "pause", s.Pause)
				must(t, "resume", s.Resume)
				more := int64(1)
				if c.another {
					more = 2
					release := s.HoldRecords()
					ask(t, p, "run 1", "RAN ")
					release()
				}
				p.Send("shut")
				p.WaitLine("SHUT")
				r = closed(t, s)
				wantRoots(t, r, 1+more, 1)
				if after := hold(r); before < int64(50*time.Millisecond) || after < before-int64(time.Millisecond) {
					t.Errorf("%v before the second pause, %v at the end", time.Duration(before), time.Duration(after))
				}
				if c.rec.Events {
					agree(t, r)
				}
			})
		}
	}, 8, 17, 25)
}

// TestSwitching pauses, resumes and resets while threads run: at every moment
// each root invocation that has returned made all its calls, and none that is
// open made more.
func TestSwitching(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Parts")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for _, clock := range []string{"tick", "precise"} {
			t.Run(clock, func(t *testing.T) {
				const threads = 4
				p := program(t, j, dir, "Parts", nil, fmt.Sprint(threads))
				s := attached(t, p)
				start(t, s, session.Recording{Roots: []string{"t.Parts.root"}, Clock: clock})
				p.Send("free")
				p.WaitLine("FREE")
				pauses := int64(0)
				for i := range 150 {
					switch i % 3 {
					case 0:
						must(t, "pause", s.Pause)
						pauses++
						must(t, "resume", s.Resume)
					case 1:
						if i%30 == 1 {
							must(t, "reset", s.Reset)
							pauses = 0
						}
					default:
						time.Sleep(time.Duration(i%7) * time.Millisecond)
					}
				}
				must(t, "pause", s.Pause)
				pauses++
				ask(t, p, "stop", "STOPPED ")
				r := closed(t, s)
				var entries, returns int64
				for _, th := range r.Tree.Threads {
					entries += th.RootEntries
					returns += th.RootReturns
				}
				got := calls(r)
				if open := entries - returns; returns == 0 || open < 0 || open > threads*pauses {
					t.Errorf("%d root calls, %d returned, %d pauses", entries, returns, pauses)
				}
				if c := got["Parts.root"]; c < returns || c > entries {
					t.Errorf("root: %d calls, %d root calls", c, entries)
				}
				for name, each := range map[string]int64{"Parts.branch": 1, "Parts.leaf": 12} {
					if c := got[name]; c < each*returns || c > each*entries {
						t.Errorf("%s: %d calls in %d to %d root calls", name, c, returns, entries)
					}
				}
			})
		}
	}, 17, 25)
}

// wideCalls are what one call of wide makes.
func wideCalls(depth int) map[string]int64 {
	wide, each, leaves := int64(0), int64(0), int64(1)
	for level, n := depth, int64(1); level >= 0; level, n = level-1, n*3 {
		wide += n
		if level > 0 {
			each += n
		} else {
			leaves = n
		}
	}
	return map[string]int64{"Parts.wide": wide, "Parts.a": each, "Parts.b": each, "Parts.c": each, "Parts.thrower": each, "Parts.leaf": leaves + each}
}

// TestNoRoom fills the room: every call still counts, by method, and the time
// is all there.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Parts")
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Parts", nil)
		s := attachedBy(t, p, session.Config{Memory: 2 << 20})
		start(t, s, session.Recording{Roots: []string{"t.Parts.wide"}, Clock: "precise"})
		begin := time.Now()
		p.Send("wide 11")
		p.WaitLine("WIDE")
		took := time.Since(begin)
		r := closed(t, s)
		if r.Tree.Overflow == 0 || r.Tree.Bad != 0 || r.Tree.Lost != 0 {
			t.Errorf("overflow %d, bad %d, lost %d", r.Tree.Overflow, r.Tree.Bad, r.Tree.Lost)
		}
		wantCalls(t, r, wideCalls(11))
		wantRoots(t, r, 1, 0)
		var thrown, unplaced int64
		for n := range cct.All(r.Tree.Roots()) {
			thrown += n.Thrown
			if n.Method == cct.Unplaced {
				unplaced++
			}
		}
		if want := wideCalls(11)["Parts.thrower"]; thrown != want {
			t.Errorf("%d thrown, want %d", thrown, want)
		}
		if unplaced != 1 {
			t.Errorf("%d nodes above what is unplaced", unplaced)
		}
		sums := cct.Sum(r.Tree.Roots())
		measured := time.Duration(sums.Raw)
		if measured == 0 { // calibration found nothing on a busy machine, so nothing was corrected
			measured = time.Duration(sums.Self)
		}
		if measured > took || measured < took/20 {
			t.Errorf("%v measured of %v", measured, took)
		}
	}, 8, 17)
}

// TestWarmup forgets what came before the warm-up's end.
func TestWarmup(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Parts")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Parts", nil, "1")
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Parts.root"}, WarmupCalls: 100, UntilCalls: 50})
		if phase := s.Progress().Phase; phase != "warming up" {
			t.Errorf("phase %q", phase)
		}
		warm := make(chan error, 1)
		go func() { warm <- s.Warm(t.Context()) }()
		ask(t, p, "run 120", "RAN ")
		if err := <-warm; err != nil {
			t.Fatal(err)
		}
		ask(t, p, "run 70", "RAN ")
		r := finish(t, s)
		wantRoots(t, r, 50, 0)
		wantCalls(t, r, map[string]int64{"Parts.root": 50, "Parts.branch": 50, "Parts.leaf": 50*10 + 25*2})
	}, 8, 17, 25)
}

// TestLateCalibration has a mode calibrated that was not before the recording:
// that changes nothing of what was recorded.
func TestLateCalibration(t *testing.T) {
	dir := sources(t, "Parts")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Parts", nil, "2")
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Parts.root"}, UntilCalls: 100, Modes: []session.ModeRule{rule(t, "t.Parts.leaf=precise")}})
		ask(t, p, "run 50", "RAN ")
		r := finish(t, s)
		wantRoots(t, r, 100, 0)
		wantCalls(t, r, map[string]int64{"Parts.root": 100, "Parts.branch": 100, "Parts.leaf": 1000 + 2*50})
		if r.Tree.Refused != 0 {
			t.Errorf("refused %d", r.Tree.Refused)
		}
	}, 8, 17, 25)
}

// TestCPU tells computing from waiting.
func TestCPU(t *testing.T) {
	dir := sources(t, "Parts")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Parts", nil, "1")
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Parts.mixed"}, CPU: true, Natives: session.NativesOff})
		p.Send("mixed 80")
		p.WaitLine("MIXED")
		r := closed(t, s)
		if r.CPU == nil || r.CPU.Samples == 0 {
			t.Fatalf("%+v", r.CPU)
		}
		of := map[string]int64{}
		for _, f := range cct.FlatOf(r.Tree.Roots()) {
			m, _ := r.Lookup(f.Method)
			name, _, _ := strings.Cut(strings.TrimPrefix(m.Name, "t.Parts."), "(")
			of[name], _ = f.Sample.Of(100)
		}
		// Machines are shared: how much of a core computing gets, and how soon a thread that has slept is seen, is theirs. Where
		// nobody tells one from the other, both have the same share.
		if of["burn"] <= of["nap"] {
			t.Errorf("shares on a core: %v", of)
		}
	}, 8, 17, 25)
}
