package session_test

import (
	"context"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// mixCalls are the calls of testdata/FollowMix.java's methods after so many root
// invocations that handed over so much, of which so much was executed.
func mixCalls(roots, same, own int64) map[string]int64 {
	want := map[string]int64{"FollowMix.root": roots, "FollowMix.deep": 4 * roots, "FollowMix.same": same, "FollowMix.own": own, "FollowMix.down": 3*same + 2*own}
	for name, n := range want {
		if n == 0 {
			delete(want, name)
		}
	}
	return want
}

// ownCalls are the calls of the program's own methods, and executions by whether
// they are below the method that handed them over.
func ownCalls(r *export.Report) (calls map[string]int64, right, wrong int64) {
	calls = map[string]int64{}
	for n := range cct.All(cct.Merge(r.Tree.Roots())) {
		name := short(r, n.Method)
		if strings.HasPrefix(name, "FollowMix.") && !strings.Contains(name, "lambda$") {
			calls[name] += n.Calls
		}
		for _, c := range n.Children {
			switch {
			case c.Async() == nil:
			case name == "FollowMix.deep" || name == "FollowMix.wide" || n.Method == cct.Unplaced:
				right += c.Calls
			default:
				wrong += c.Calls
			}
		}
	}
	return calls, right, wrong
}

// TestFollowMixed follows tasks while recordings pause, go on and begin anew,
// with folded recursion, with looks at the threads, and without room for more.
func TestFollowMixed(t *testing.T) {
	t.Parallel()
	dir := sources(t, "FollowMix")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "FollowMix", nil)
		say := func(t *testing.T, line string) {
			t.Helper()
			p.Send(line)
			p.WaitLine("DONE " + line)
		}
		check := func(t *testing.T, r *export.Report, want map[string]int64, executed int64) {
			t.Helper()
			calls, right, wrong := ownCalls(r)
			same(t, calls, want)
			if right != executed || wrong != 0 {
				t.Errorf("%d executions below what handed them over, %d elsewhere, want %d", right, wrong, executed)
			}
			if k := r.Tree; k.Detached+k.Bad+k.Unfollowed+k.Lost > 0 {
				t.Errorf("%d detached, %d damaged, %d unfollowed, %d lost", k.Detached, k.Bad, k.Unfollowed, k.Lost)
			}
			if e := r.Events; e != nil && (e.Bad != 0 || e.Differ != nil && *e.Differ != 0) {
				t.Errorf("events: %+v", e)
			}
		}
		roots := []string{"t.FollowMix.root", "t.FollowMix.wide"}

		t.Run("parts", func(t *testing.T) {
			s := attached(t, p)
			start(t, s, session.Recording{Roots: roots, Follow: true, Slowest: 10})
			say(t, "run 5")
			say(t, "late 4") // executed while the recording pauses
			must(t, "pause", s.Pause)
			say(t, "open 0")
			must(t, "resume", s.Resume)
			say(t, "run 6")
			say(t, "late 4") // handed over in one part, executed in the next: not followed
			must(t, "pause", s.Pause)
			must(t, "resume", s.Resume)
			say(t, "open 0")
			say(t, "run 7")
			var r *export.Report
			must(t, "snapshot", func(ctx context.Context) (err error) {
				r, err = s.Snapshot(ctx)
				return err
			})
			check(t, r, mixCalls(5, 18, 18), 36)
			say(t, "late 4")
			must(t, "reset", s.Reset)
			say(t, "open 0")
			say(t, "run 3")
			r = closed(t, s)
			check(t, r, mixCalls(1, 3, 3), 6)
			if len(r.Slowest.Invocations) != 1 || r.Slowest.Invocations[0].Path == nil {
				t.Errorf("slowest: %+v", r.Slowest)
			}
		})
		t.Run("fold", func(t *testing.T) {
			s := attached(t, p)
			start(t, s, session.Recording{Roots: roots, Follow: true, Fold: true, CPU: true})
			say(t, "run 9")
			say(t, "run 9")
			r := closed(t, s)
			check(t, r, mixCalls(2, 18, 18), 36)
			for n := range cct.All(r.Tree.Roots()) {
				if name := short(r, n.Method); (name == "FollowMix.down" || name == "FollowMix.deep") && !n.Folded {
					t.Errorf("%s is not folded", name)
				}
			}
			if r.CPU == nil {
				t.Error("nobody looked at the threads")
			}
		})
		t.Run("full", func(t *testing.T) {
			const depth = 13
			s := attachedBy(t, p, session.Config{Memory: 3 << 20})
			start(t, s, session.Recording{Roots: roots, Follow: true, Events: true})
			say(t, "wide 13")
			r := closed(t, s)
			calls, right, wrong := ownCalls(r)
			lost := r.Tree.Unfollowed + r.Tree.Lost
			if r.Tree.Overflow == 0 || r.Tree.Uncounted != 0 || r.Tree.Bad+r.Tree.Detached != 0 {
				t.Errorf("overflow %d, uncounted %d, damaged %d, detached %d", r.Tree.Overflow, r.Tree.Uncounted, r.Tree.Bad, r.Tree.Detached)
			}
			if calls["FollowMix.wide"] != 2<<depth-1 || calls["FollowMix.left"] != 1<<depth-1 || calls["FollowMix.same"]+lost != 1<<depth || right != calls["FollowMix.same"] || wrong != 0 {
				t.Errorf("%v; %d executions, %d elsewhere, %d lost", calls, right, wrong, lost)
			}
			say(t, "run 1")
		})
		p.Send("end")
		if code := p.Wait(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}, 8, 17, 25)
}
