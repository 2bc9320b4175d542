package session_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestGaps has a recording exact where all is understood, and where what has no probe
// can't run; and not where a class was initialized by its name.
func TestGaps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(sources(t, "Gaps"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "t", "Gaps$Gone.class")); err != nil {
		t.Fatal(err)
	}
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for root, gap := range map[string]string{"plain": "", "names": "", "initializes": "t.Gaps$Dormant"} {
			t.Run(root, func(t *testing.T) {
				p := program(t, j, dir, "Gaps", nil)
				s := attached(t, p)
				start(t, s, session.Recording{Roots: []string{"t.Gaps." + root}, Scheme: "A", UntilCalls: 3})
				p.Send("go")
				p.WaitLine("OK")
				r := finish(t, s)
				wantCalls(t, r, map[string]int64{"Gaps." + root: 3, "Gaps.callee": 3})
				if gap == "" && !r.Exact() || gap != "" && (len(r.Gaps) != 1 || r.Gaps[0].Where[0] != gap) {
					t.Errorf("exact %v, gaps %+v", r.Exact(), r.Gaps)
				}
				unlinkable := slices.ContainsFunc(r.Skipped, func(k export.Skipped) bool {
					return strings.HasPrefix(k.Method, "t.Gaps$Unlinkable.call") && strings.Contains(k.Reason, "can't be linked")
				})
				if unlinkable != (root == "names") {
					t.Errorf("skipped: %+v", r.Skipped)
				}
			})
		}
	})
}

// TestUnanswered has a class loaded while the controller answers nobody: it is loaded with
// its own bytes, and the report says so.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Gaps")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Gaps", nil, "loads")
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Gaps.loads"}, Scheme: "A", UntilCalls: 3})
		s.Block(func() {
			p.Send("load")
			p.WaitLine("LOADED")
		})
		p.Send("go")
		<-s.Done()
		r, err := s.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wantCalls(t, r, map[string]int64{"Gaps.loads": 3})
		if r.Tree.Incomplete != 1 || len(r.Gaps) != 1 || !strings.Contains(r.Gaps[0].Reason, "before Rivulet answered: they may lack probes") {
			t.Errorf("incomplete %d, gaps %+v", r.Tree.Incomplete, r.Gaps)
		}
	})
}

// TestUnasked has a class loaded while there is no box to ask for it: the controller does not
// hear of it. It is listed soon after, and its calls are recorded from then on. After a reset
// nothing is missing.
func TestUnasked(t *testing.T) {
	t.Parallel()
	p := program(t, jvmtest.Need(t, 17), sources(t, "Gaps"), "Gaps", nil, "loads")
	s := attached(t, p)
	start(t, s, session.Recording{Roots: []string{"t.Gaps.loads"}, Scheme: "A", Patience: 200 * time.Millisecond})
	release := s.HoldBoxes()
	p.Send("load")
	p.WaitLine("LOADED")
	release()
	until := func(when string, ok func(r *export.Report) bool) {
		for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
			r, err := s.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if ok(r) {
				return
			}
			if time.Since(begin) > jvmtest.Patience {
				t.Fatalf("not seen: %s: late %q, gaps %+v, %v", when, lateOf(r), r.Gaps, calls(r))
			}
		}
	}
	says := func(words string) func(*export.Report) bool {
		return func(r *export.Report) bool {
			return slices.ContainsFunc(r.Gaps, func(g export.Gap) bool {
				return strings.Contains(g.Reason, "1 class was loaded before Rivulet answered: "+words)
			})
		}
	}
	until("late", func(r *export.Report) bool {
		return slices.ContainsFunc(r.Gaps, func(g export.Gap) bool {
			return strings.HasPrefix(g.Reason, "classes were loaded, or came within reach")
		})
	})
	until("both listings", says("what of them is within reach is recorded from some moment on"))
	p.Send("go")
	until("recorded", func(r *export.Report) bool {
		c := calls(r)
		return c["Gaps.loads"] == 3 && c["Gaps$Loaded.call"] == 3 && slices.Contains(lateOf(r), "Gaps$Loaded.call")
	})
	if err := s.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	until("reset", func(r *export.Report) bool { return r.Exact() && len(r.Gaps) == 0 })
	p.Send("repeat")
	until("recorded again", func(r *export.Report) bool { c := calls(r); return c["Gaps.loads"] == 3 && c["Gaps$Loaded.call"] == 3 })
	if r := stopped(t, s); !r.Exact() {
		t.Errorf("gaps %+v", r.Gaps)
	}
}

// TestUnansweredWatched does the same with Scheme D: the class is loaded all the same, nobody
// waits for the controller, and once that answers again the class's calls are recorded.
func TestUnansweredWatched(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Awake")
	j := jvmtest.Need(t, 17)
	p := program(t, j, dir, "Awake", nil)
	s := observed(t, p, session.Recording{Scheme: "D"})
	s.Block(func() {
		p.Send("f")
		p.WaitLine("FRESH")
	})
	called(t, s, "Awake$Elsewhere.inner")
	called(t, s, "Awake$Fresh.second")
	r, err := s.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if late := lateOf(r); r.Exact() || r.Tree.Incomplete != 0 || !slices.Contains(late, "Awake$Fresh.first") {
		t.Errorf("exact %v, incomplete %d, late %v", r.Exact(), r.Tree.Incomplete, late)
	}
	if wait := *r.Redefinition.LongestWait; wait >= 10*time.Second { // as long as other schemes wait
		t.Errorf("a thread waited for %v", wait)
	}
}
