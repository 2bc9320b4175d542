package session_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestFeat profiles the bench folder's coverage program, which calls each of
// its t_ methods through another mechanism: each is recorded exactly as often
// as that folder's README says, in every scheme.
func TestFeat(t *testing.T) {
	t.Parallel()
	const param, times = 20, 3
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for _, scheme := range []string{"A", "B", "C"} {
			t.Run(scheme, func(t *testing.T) {
				t.Parallel()
				p := jvmtest.Workload(t, j, nil, "micro", "feat", "0", "3", "0", "20")
				p.WaitLine("READY")
				s := attached(t, p)
				start(t, s, session.Recording{Roots: []string{"work.Feat.root"}, Scheme: scheme, UntilCalls: times})
				p.Send("go")
				r := finish(t, s)
				got := map[string]int64{}
				for name, n := range calls(r) {
					if name = strings.TrimPrefix(name, "work."); strings.Contains(name, ".t_") {
						got[name] = n
					}
				}
				want := map[string]int64{}
				for _, name := range strings.Fields(featMethods) {
					want[name] = param * times
				}
				want["Feat$Impl.t_abstract"] *= 2
				want["Feat$E$1.t_enumBody"] /= 2
				want["Feat$E$2.t_enumBody"] /= 2
				want["Feat.t_clinitCallee"] = 1
				same(t, got, want)
				p.Send("post")
				p.WaitLine("END")
			})
		}
	}, 17, 21, 25)
}

const featMethods = `Feat.t_static Feat.t_virtual Feat.t_lambdaBodyCallee Feat.t_methodRef
	Feat.t_reflect Feat.t_methodHandle Feat.t_ctorCallee Feat.t_toStringCallee Feat.t_throws Feat.t_rethrows
	Feat.t_finallyCallee Feat.t_sync Feat$I.t_default Feat$I.t_private Feat$I.t_istatic Feat$Impl.t_abstract
	Feat$Sub.t_abstract Feat.t_subCallee Feat.t_getter Feat.t_setter Feat.t_empty Feat.t_comparatorCallee
	Feat$E$1.t_enumBody Feat$E$2.t_enumBody Feat.t_recordCtorCallee Feat.t_privilegedCallee Feat.t_switch
	Feat.t_deep Feat.t_clinitCallee`

// same wants two tables of calls to be equal.
func same(t *testing.T, got, want map[string]int64) {
	t.Helper()
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%s: %d calls, want %d", name, got[name], n)
		}
	}
	for name, n := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %d calls, not expected", name, n)
		}
	}
}

// TestMechanisms does the same with a program for Java 8 that counts its calls
// itself: from its first call on, when all has been used before, and with four
// threads.
func TestMechanisms(t *testing.T) {
	t.Parallel()
	const times = 20 // JDK 8 and 11 make accessors of a Method's own at its 16th call
	dir := sources(t, "Mechanisms")
	runs := map[int][]string{
		8: {"A-before", "B-middle", "C-crowd"}, 11: {"A-middle", "B-before", "C-crowd"}, 17: {"A-crowd", "C-middle"}, 25: {"A-middle", "B-before"},
	}
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for _, run := range runs[j.Version] {
			scheme, when, _ := strings.Cut(run, "-")
			t.Run(run, func(t *testing.T) {
				t.Parallel()
				p := program(t, j, dir, "Mechanisms", nil, when, fmt.Sprint(times))
				s := attached(t, p)
				start(t, s, session.Recording{Roots: []string{"t.Mechanisms.root"}, Scheme: scheme, UntilCalls: times})
				p.Send("go")
				p.WaitLine("OK")
				r := finish(t, s)
				got := map[string]int64{}
				for name, n := range calls(r) {
					if strings.Contains(name, ".t_") && !strings.Contains(name, "$Proxy") {
						got[strings.TrimPrefix(strings.Replace(name, "Mechanisms$", "Mechanisms.", 1), "Mechanisms.")] = n
					}
				}
				want := map[string]int64{}
				for _, line := range p.Stdout() {
					if f := strings.Fields(line); len(f) == 3 && f[0] == "N" && !strings.HasSuffix(f[1], ".t_") {
						want[f[1]], _ = strconv.ParseInt(f[2], 10, 64)
					}
				}
				want["OfString.t_bridge"] *= 2 // and its bridge
				// JDK 8's handles of unreflect run on in old code (docs/architecture.md):
				// of each thread the first call may be missing.
				if lost := want["t_unreflected"] - got["t_unreflected"]; j.Version == 8 && lost > 0 && lost <= 4 {
					want["t_unreflected"] -= lost
				}
				same(t, got, want)
				p.Send("end")
				if code := p.Wait(); code != 0 {
					t.Errorf("exit code %d", code)
				}
			})
		}
	}, 8, 11, 17, 25)
}
