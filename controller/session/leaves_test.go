package session_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// leaves are the methods of Leaves.java that need no times of their own.
var leaves = []string{"Leaves.at", "Leaves.chosen", "Leaves.divided", "Leaves.get", "Leaves.least", "Leaves.name", "Leaves.of", "Leaves.set", "Leaves.wide"}

// leafCalls are the calls and the exceptions of n root invocations.
func leafCalls(n int64) (calls, thrown map[string]int64) {
	f := (n + 4) / 5 * 2 // two threads
	n *= 2
	calls = map[string]int64{"Leaves.failing": f, "Leaves.thrower": f, "Leaves.at": n + f, "Leaves.of": n + f, "Leaves.divided": n + f, "Leaves.get": 2*n + f}
	for _, m := range []string{"root", "set", "wide", "name", "chosen", "least", "locked", "loop", "made", "elsewhere", "is", "caught", "more", "calls"} {
		calls["Leaves."+m] = n
	}
	return calls, map[string]int64{"Leaves.at": f, "Leaves.of": f, "Leaves.divided": f, "Leaves.thrower": f}
}

func wantLeaves(t *testing.T, r *export.Report, n int64, counted []string) {
	t.Helper()
	calls, thrown := leafCalls(n)
	wantCalls(t, r, calls)
	got := map[string]int64{}
	var untimed []string
	for n := range cct.All(r.Tree.Roots()) {
		name := short(r, n.Method)
		if n.Thrown > 0 {
			got[name] += n.Thrown
		}
		if r.Counted[n.Method] && !slices.Contains(untimed, name) {
			untimed = append(untimed, name)
		}
		if r.Counted[n.Method] && (n.Self != 0 || n.Total != 0 || len(n.Children) > 0) {
			t.Errorf("%s has %d ns of its own, %d in all and %d callees", name, n.Self, n.Total, len(n.Children))
		}
	}
	if diff := cmp.Diff(thrown, got); diff != "" {
		t.Errorf("thrown, -want +got:\n%s", diff)
	}
	slices.Sort(untimed)
	if diff := cmp.Diff(counted, untimed); diff != "" {
		t.Errorf("methods that are only counted, -want +got:\n%s", diff)
	}
}

// TestLeaves counts leaf methods exactly, those that an exception ends too, with
// each form of the probes, each clock and folded recursion.
func TestLeaves(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Leaves")
	file, err := os.ReadFile(filepath.Join(dir, "t", "Leaves.class"))
	if err != nil {
		t.Fatal(err)
	}
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for i, rec := range []session.Recording{
			{Scheme: "A"},
			{Scheme: "B", Probes: session.ProbesCalled},
			{Scheme: "C", Clock: "precise"},
			{Scheme: "B", Fold: true},
			{Scheme: "B", Leaves: session.LeavesTimed},
			{Scheme: "B", Events: true},
			{Scheme: "B", Modes: []session.ModeRule{rule(t, "t.Leaves.get=tick"), rule(t, "t.Leaves.set=counted")}},
		} {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				p := program(t, j, dir, "Leaves", nil)
				ask(t, p, "run 100", "RAN ")
				s := attached(t, p)
				rec.Roots = []string{"t.Leaves.root"}
				start(t, s, rec)
				counted := leaves
				switch {
				case rec.Leaves != "" || rec.Events:
					counted = nil
				case len(rec.Modes) > 0:
					counted = slices.DeleteFunc(slices.Clone(leaves), func(m string) bool { return m == "Leaves.get" })
				}
				b, err := s.Instrumented(t.Context(), "t/Leaves", file)
				if err != nil || bytes.Contains(b, []byte("$Leaf")) != (len(counted) > 0) {
					t.Errorf("the probes of leaves: %v in %d bytes, %v", bytes.Contains(b, []byte("$Leaf")), len(b), err)
				}
				ask(t, p, "run 30000", "RAN ")
				wantLeaves(t, closed(t, s), 30000, counted)
			})
		}
	}, 8, 17, 25)
}

// TestLeafModes switches leaves off, and to a clock of their own and back, while
// they are called.
func TestLeafModes(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Leaves")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		p := program(t, j, dir, "Leaves", nil)
		s := attached(t, p)
		start(t, s, session.Recording{Roots: []string{"t.Leaves.root"}})
		ask(t, p, "run 1000", "RAN ")
		set := func(text string, want int) {
			t.Helper()
			if n, err := s.SetMode(t.Context(), rule(t, text)); err != nil || n != want {
				t.Errorf("%s: %d changed, %v", text, n, err)
			}
		}
		p.Send("run 200000") // the switch is somewhere in the middle
		set("t.Leaves.get=tick", 1)
		set("t.Leaves.get=tick", 0)
		p.WaitLine("RAN ")
		counted := slices.DeleteFunc(slices.Clone(leaves), func(m string) bool { return m == "Leaves.get" })
		r, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wantLeaves(t, r, 201000, counted)
		set("t.Leaves.set=off", 1)
		ask(t, p, "run 1000", "RAN ")
		set("t.Leaves.set=precise", 1)
		ask(t, p, "run 1000", "RAN ")
		r = closed(t, s)
		calls, _ := leafCalls(203000)
		calls["Leaves.set"] -= 2000
		wantCalls(t, r, calls)
		for id := range r.Counted {
			if name := short(r, id); name == "Leaves.set" || name == "Leaves.get" {
				t.Errorf("%s is only counted", name)
			}
		}
	}, 8, 25)
}
