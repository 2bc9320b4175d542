package session_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// lateOf are the names of the methods that a report has as late.
func lateOf(r *export.Report) []string {
	var out []string
	for _, l := range r.Late {
		name, _, _ := strings.Cut(strings.TrimPrefix(l.Method, "t."), "(")
		out = append(out, name)
	}
	return out
}

// watched records Awake's root with a scheme. Threads of the target wait for long, so that
// no class is late since the machine is slow.
func watched(t *testing.T, p *jvmtest.Proc, scheme string, until int64) *session.Session {
	t.Helper()
	return observed(t, p, session.Recording{Scheme: scheme, UntilCalls: until, Patience: 10 * time.Second})
}

// observed records Awake's root.
func observed(t *testing.T, p *jvmtest.Proc, rec session.Recording) *session.Session {
	t.Helper()
	s := attached(t, p)
	rec.Roots, rec.Observe = []string{"t.Awake.work"}, 300*time.Millisecond
	start(t, s, rec)
	return s
}

// called waits until a method has been recorded.
func called(t *testing.T, s *session.Session, method string) {
	t.Helper()
	for deadline := time.Now().Add(jvmtest.Patience); ; time.Sleep(20 * time.Millisecond) {
		r, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if calls(r)[method] > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is not recorded: %v, late %v", method, calls(r), r.Late)
		}
	}
}

// TestWatched records with Scheme D: exactly where nothing wakes, and by name what was
// late where something does.
func TestWatched(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Awake")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Run("exact", func(t *testing.T) {
			s := watched(t, program(t, j, dir, "Awake", nil), "D", 200)
			<-s.Done()
			r, err := s.Finish(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			wantCalls(t, r, map[string]int64{"Awake.work": 200, "Awake.shape": 600, "Awake$Square.area": 600, "Awake$Square.side": 1200, "Awake$Round.area": 0, "Awake$Elsewhere.busy": 0})
			if !r.Exact() || r.Late == nil || len(r.Late) > 0 || r.Scheme != "D" {
				t.Errorf("scheme %s, exact %v, late %v, gaps %+v, notes %q", r.Scheme, r.Exact(), r.Late, r.Gaps, r.Notes)
			}
		})
		t.Run("rerooted", func(t *testing.T) {
			s := watched(t, program(t, j, dir, "Awake", nil), "D", 0)
			called(t, s, "Awake.work")
			if err := s.SetRoots(t.Context(), []string{"t.Awake$Square.area"}); err != nil {
				t.Fatal(err)
			}
			called(t, s, "Awake$Square.side")
			r, err := s.Finish(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c := calls(r)
			if n := 2 * c["Awake$Square.area"]; c["Awake.work"] != 0 || c["Awake$Square.side"] > n || c["Awake$Square.side"] < n-2 { // one may be open
				t.Errorf("calls %v", c)
			}
			if late := lateOf(r); slices.Contains(late, "Awake$Square.area") || slices.Contains(late, "Awake$Square.side") || len(r.Roots) != 1 || !strings.HasPrefix(r.Roots[0], "t.Awake$Square.area(") {
				t.Errorf("roots %v, late %v", r.Roots, late)
			}
		})
		t.Run("woken", func(t *testing.T) {
			p := program(t, j, dir, "Awake", nil)
			s := watched(t, p, "D", 0)
			p.Send("r")
			called(t, s, "Awake$Elsewhere.inner")
			r, err := s.Finish(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			late := lateOf(r)
			for _, name := range []string{"Awake$Elsewhere.busy", "Awake$Elsewhere.inner"} {
				if !slices.Contains(late, name) {
					t.Errorf("%s is not late: %+v", name, r.Late)
				}
			}
			if r.Exact() || slices.Contains(late, "Awake.shape") || slices.Contains(late, "Awake$Square.area") {
				t.Errorf("exact %v, late %v", r.Exact(), late)
			}
		})
		t.Run("deferred", func(t *testing.T) {
			p := program(t, j, dir, "Awake", nil)
			s := watched(t, p, "D", 0)
			called(t, s, "Awake$Square.side")
			p.Send("b") // outside of the root
			p.WaitLine("b")
			time.Sleep(100 * time.Millisecond) // it may be seen while recording, or at the end
			r, err := s.Finish(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"Awake$Own.area", "Awake$Rare.one", "Awake$Rare.two"} {
				if n := calls(r)[name]; n != 0 || slices.Contains(lateOf(r), name) {
					t.Errorf("%s: %d calls; late %v", name, n, r.Late)
				}
			}
		})
		t.Run("called", func(t *testing.T) {
			p := program(t, j, dir, "Awake", nil)
			s := watched(t, p, "D", 0)
			called(t, s, "Awake$Square.side")
			p.Send("b")
			p.WaitLine("b")
			p.Send("o")
			called(t, s, "Awake$Rare.two")
			r, err := s.Finish(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			late := lateOf(r)
			for _, name := range []string{"Awake$Rare.one", "Awake$Rare.two"} {
				if !slices.Contains(late, name) {
					t.Errorf("%s is not late: %+v", name, r.Late)
				}
			}
			if r.Exact() || slices.Contains(late, "Awake$Own.area") {
				t.Errorf("exact %v, late %v", r.Exact(), late)
			}
		})
		t.Run("reflective", func(t *testing.T) {
			p := program(t, j, dir, "Awake", nil)
			s := watched(t, p, "D", 0)
			p.Send("m")
			called(t, s, "Awake$Reflective.target")
			r, err := s.Finish(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if late := lateOf(r); r.Exact() || !slices.Contains(late, "Awake$Reflective.target") {
				t.Errorf("exact %v, late %v", r.Exact(), late)
			}
		})
		t.Run("loaded", func(t *testing.T) {
			p := program(t, j, dir, "Awake", nil)
			s := watched(t, p, "D", 0)
			p.Send("f")
			called(t, s, "Awake$Elsewhere.inner")
			r, err := s.Finish(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c, late := calls(r), lateOf(r)
			// On a machine without time the JVM's thread goes on before they have probes: after it has waited for
			// 100 ms in all, of which some waits are parts.
			first, second := c["Awake$Fresh.first"], c["Awake$Fresh.second"]
			unanswered := slices.Contains(late, "Awake$Fresh.first") || slices.Contains(late, "Awake$Fresh.second")
			if !unanswered && (first == 0 || second > first || second < first-1) { // one may be open
				t.Errorf("calls %v", c)
			}
			if wait := *r.Redefinition.LongestWait; r.Exact() || unanswered && wait < 20*time.Millisecond || !slices.Contains(late, "Awake$Elsewhere.busy") {
				t.Errorf("exact %v, late %v, a thread waited for %v at most", r.Exact(), late, wait)
			}
		})
	}, 11, 17, 21, 25)
}

// TestAuto takes D where the root is called all the time, and C, with a reason, where it
// is not called at all.
func TestAuto(t *testing.T) {
	t.Parallel()
	j := jvmtest.Need(t, 17)
	dir := sources(t, "Awake")
	for root, want := range map[string]struct{ scheme, why string }{
		"t.Awake.work":        {"D", ""},
		"t.Awake$Fresh.first": {"C", "no root was called"},
	} {
		p := program(t, j, dir, "Awake", nil)
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{root}, Scheme: "auto", Observe: 4 * time.Second, Wait: true})
		r, err := s.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if named := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, want.why) }); r.Scheme != want.scheme || !named && want.why != "" {
			t.Errorf("%s: scheme %s, want %s; notes %q", root, r.Scheme, want.scheme, r.Notes)
		}
	}
}

// TestUnwatched takes another scheme, and says so, where the JVM does not tell what is
// active.
func TestUnwatched(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Awake")
	for _, test := range []struct {
		java    int
		options []string
		why     string
	}{
		{8, nil, "does not say"},
		{17, []string{"-Xint"}, "counted no invocation"},
	} {
		j := jvmtest.Need(t, test.java)
		s := watched(t, program(t, j, dir, "Awake", test.options), "auto", 50)
		<-s.Done()
		r, err := s.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wantCalls(t, r, map[string]int64{"Awake.work": 50, "Awake.shape": 150})
		if r.Scheme != "C" || r.Late != nil || !r.Exact() || !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, test.why) }) {
			t.Errorf("scheme %s, late %v, exact %v, notes %q", r.Scheme, r.Late, r.Exact(), r.Notes)
		}
		s = attached(t, program(t, j, dir, "Awake", test.options))
		err = s.Start(t.Context(), session.Recording{Roots: []string{"t.Awake.work"}, Scheme: "D"})
		if err == nil || !strings.Contains(err.Error(), test.why) || !strings.Contains(err.Error(), "--scheme auto") {
			t.Errorf("with scheme D: %v", err)
		}
	}
}

// TestPrepare has a JVM redefine a class of Rivulet's, and wants nothing of the program's
// changed; a JVM that was started with the agent for that says so.
func TestPrepare(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Awake")
	jar := filepath.Join(t.TempDir(), "prepared.jar")
	if err := os.WriteFile(jar, jvmside.PreparedJar(), 0o644); err != nil {
		t.Fatal(err)
	}
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		for _, options := range [][]string{nil, {"-javaagent:" + jar}} {
			p := program(t, j, dir, "Awake", options)
			s := attachedBy(t, p, session.Config{Look: true})
			if err := s.Prepare(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			proc, err := attach.Inspect(p.PID())
			if err != nil || proc.Prepared != (options != nil) {
				t.Errorf("%v: prepared %v, %v", options, proc.Prepared, err)
			}
			p.CloseStdin()
			if code := p.Wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		}
	})
}

// TestWatchedReset forgets what was late once it has its probes.
func TestWatchedReset(t *testing.T) {
	t.Parallel()
	j := jvmtest.Need(t, 17)
	p := program(t, j, sources(t, "Awake"), "Awake", nil)
	s := watched(t, p, "D", 0)
	p.Send("r")
	called(t, s, "Awake$Elsewhere.inner")
	for deadline := time.Now().Add(jvmtest.Patience); ; time.Sleep(20 * time.Millisecond) {
		r, err := s.Snapshot(t.Context())
		if err != nil || time.Now().After(deadline) {
			t.Fatal(err, r.Late)
		}
		if !slices.ContainsFunc(r.Late, func(l export.Late) bool { return l.After == 0 }) { // all have their probes
			break
		}
	}
	if err := s.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	called(t, s, "Awake$Elsewhere.inner")
	r, err := s.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := calls(r)
	area, inner, work := c["Awake$Round.area"], c["Awake$Elsewhere.inner"], c["Awake.work"]
	if !r.Exact() || len(r.Late) > 0 || area > 3*work || area < 3*(work-1) || inner > area || inner < area-1 {
		t.Errorf("exact %v, late %v, gaps %v, calls %v", r.Exact(), r.Late, r.Gaps, c)
	}
}

// TestWatchedToTheEnd says so where the target ends before the last look at it.
func TestWatchedToTheEnd(t *testing.T) {
	t.Parallel()
	j := jvmtest.Need(t, 17)
	p := program(t, j, sources(t, "Awake"), "Awake", nil)
	s := watched(t, p, "D", 0)
	called(t, s, "Awake.work")
	p.CloseStdin()
	<-s.Done()
	r, err := s.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Exact() || !slices.ContainsFunc(r.Gaps, func(g export.Gap) bool { return strings.Contains(g.Reason, "watched to the end") }) {
		t.Errorf("exact %v, gaps %+v", r.Exact(), r.Gaps)
	}
}
