package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/spec"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestFoldRecursion counts every level and keeps one node for all of them,
// whether a method calls itself or through others.
func TestFoldRecursion(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Parts")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for _, fold := range []bool{false, true} {
			t.Run(fmt.Sprint(fold), func(t *testing.T) {
				p := program(t, j, dir, "Parts", nil, "1")
				s := attached(t, p)
				start(t, s, session.Recording{Roots: []string{"t.Parts.recursion"}, Fold: fold})
				for range 3 {
					p.Send("recursion 1000")
					p.WaitLine("RECURSED")
				}
				r := closed(t, s)
				wantRoots(t, r, 3, 0)
				wantCalls(t, r, map[string]int64{
					"Parts.recursion": 3, "Parts.self": 3003, "Parts.leaf": 3000 + 1500 + 3*609, "Parts.even": 1503, "Parts.odd": 1500,
					"Parts.half": 3 * 377, "Parts$Half.<init>": 3 * 609, "Parts$Whole.<init>": 3 * 609,
				})
				nodes := cct.Sum(r.Tree.Roots()).Nodes
				if fold && nodes != 11 || !fold && nodes < 3000 { // recursion, self, its leaf, even, odd, its leaf, half, its leaf, two constructors, a leaf
					t.Errorf("%d nodes", nodes)
				}
				leaves, thrown := map[string]int64{}, map[string]int64{}
				for n := range cct.All(r.Tree.Roots()) {
					name := short(r, n.Method)
					thrown[name] += n.Thrown
					for _, c := range n.Children {
						if short(r, c.Method) == "Parts.leaf" {
							leaves[name] += c.Calls
						}
					}
				}
				want := map[string]int64{"Parts.self": 3000, "Parts.odd": 1500, "Parts.half": 3 * 377, "Parts$Whole.<init>": 3 * 232}
				if diff := cmp.Diff(want, leaves); diff != "" {
					t.Errorf("leaf by caller, -want +got:\n%s", diff)
				}
				for name, n := range thrown {
					want := map[string]int64{"Parts$Half.<init>": 3 * 609, "Parts$Whole.<init>": 3 * 609}[name]
					if fold && name == "Parts$Half.<init>" {
						want = 3 * 377 // one that calls itself has no exit, and leaves no trace in a folded tree
					}
					if n != want {
						t.Errorf("%s: %d thrown, want %d", name, n, want)
					}
				}
			})
		}
	}, 8, 17)
}

// TestCountedLater keeps a caller's time when its first call is to a method that
// counts only.
func TestCountedLater(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Parts")
	jvmtest.Each(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Parts", nil)
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Parts.late"}, Modes: []session.ModeRule{rule(t, "t.Parts.leaf=counted")}})
		p.Send("late")
		p.WaitLine("LATE")
		r := closed(t, s)
		wantCalls(t, r, map[string]int64{"Parts.late": 1, "Parts.leaf": 1})
		for _, n := range cct.FlatOf(r.Tree.Roots()) {
			if m, _ := r.Lookup(n.Method); strings.HasPrefix(m.Name, "t.Parts.late") && n.Self < int64(25*time.Millisecond) {
				t.Errorf("%s: %v", m.Name, time.Duration(n.Self))
			} else if strings.HasPrefix(m.Name, "t.Parts.leaf") && n.Self != 0 {
				t.Errorf("%s: %v of its own", m.Name, time.Duration(n.Self))
			}
		}
	}, 8, 17)
}

func rule(t *testing.T, text string) session.ModeRule {
	t.Helper()
	r, err := spec.ParseModeRule(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestModes switches modes and clock while it records.
func TestModes(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Parts")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Parts", nil, "2")
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Parts.root"}, Modes: []session.ModeRule{rule(t, "t.Parts.branch=counted")}})
		ask(t, p, "run 100", "RAN ")
		set := func(pattern, mode string, want int) {
			t.Helper()
			n, err := s.SetMode(t.Context(), rule(t, pattern+"="+mode))
			if err != nil || n != want {
				t.Errorf("%s %s: %d changed, %v", pattern, mode, n, err)
			}
		}
		set("t.Parts.le*", "off", 1)
		ask(t, p, "run 100", "RAN ")
		set("t.Parts.leaf", "precise", 1)
		must(t, "clock", func(ctx context.Context) error { return s.SetClock(ctx, "precise") })
		ask(t, p, "run 100", "RAN ")
		set("t.**", "off", 2) // the root stays
		ask(t, p, "run 100", "RAN ")
		for _, bad := range []string{"t.*=slow", "t.*", "=off"} {
			if r, err := spec.ParseModeRule(bad); err == nil {
				t.Errorf("%s: %v", bad, r)
			}
		}
		r := closed(t, s)
		wantRoots(t, r, 800, 0)
		wantCalls(t, r, map[string]int64{"Parts.root": 800, "Parts.branch": 600, "Parts.leaf": 2 * (2*1000 + 2*100)})
	}, 8, 17, 25)
}
