package session_test

import (
	"slices"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestLate calls more and more of a class that the root has loaded: each step is
// a redefinition in Schemes A and B, none in C, which had all of its methods get
// probes while it was loaded.
func TestLate(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Late")
	want := map[string]int64{"Late.root": 2, "Late$Far.one": 1, "Late$Far.two": 1, "Late$Far.three": 6, "Late$Far.four": 5}
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
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

// TestLateRoots has roots in two classes that are loaded one after the other and
// called the other way round: what is planned for the first is needed by the second.
// The implementations of an interface come late, too, the first as a lambda.
func TestLateRoots(t *testing.T) {
	t.Parallel()
	dir := sources(t, "LateRoots")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		for _, scheme := range []string{"A", "B", "C"} {
			t.Run(scheme, func(t *testing.T) {
				p := program(t, j, dir, "LateRoots", nil)
				s := attached(t, p)
				start(t, s, session.Recording{Roots: []string{"t.LateRoots$First.root", "t.LateRoots$Second.root", "t.LateRoots$Handler.handle", "t.LateRoots$Body.handle"}, Scheme: scheme, Wait: true})
				for _, line := range []string{"load", "call", "lambda", "implement", "body"} {
					p.Send(line)
					p.WaitLine("DONE " + line)
				}
				r := stopped(t, s)
				exact(t, r)
				wantCalls(t, r, map[string]int64{
					"LateRoots$First.root": 1, "LateRoots$Second.root": 1, "LateRoots$Late.handle": 2,
					"LateRoots$Makes.lambda$both$0": 1, "LateRoots$Makes.lambda$both$1": 0,
					"LateRoots$Own.handle": 0, "LateRoots$Common.add": 5, "LateRoots$Common.one": 13, "LateRoots$Common.half": 13,
				})
				if want := []string{"t.LateRoots$First.root()V", "t.LateRoots$Second.root()V", "t.LateRoots$Makes.lambda$both$0()V", "t.LateRoots$Late.handle()V", "t.LateRoots$Body.handle()V"}; !slices.Equal(r.Roots, want) {
					t.Errorf("roots %v, want %v", r.Roots, want)
				}
				p.Send("end")
				if code := p.Wait(); code != 0 {
					t.Errorf("exit code %d", code)
				}
			})
		}
	}, 8, 17, 25)
}

// TestLateRootBetween has an implementation loaded whose superclass alone knows the
// interface.
func TestLateRootBetween(t *testing.T) {
	t.Parallel()
	p := program(t, jvmtest.Any(t), sources(t, "LateRoots"), "LateRoots", nil)
	s := attached(t, p)
	start(t, s, session.Recording{Roots: []string{"t.LateRoots$Deep.handle"}, Wait: true})
	p.Send("between")
	p.WaitLine("DONE between")
	r := stopped(t, s)
	exact(t, r)
	wantCalls(t, r, map[string]int64{"LateRoots$Low.handle": 2, "LateRoots$Common.add": 2})
	p.Send("end")
	if code := p.Wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
