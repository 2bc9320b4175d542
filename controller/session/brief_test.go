package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestBriefRoots: where root invocations are shorter than the time between two ticks,
// nearly all end without one. Their time is not the root's for that, but its callees',
// and all of it is there, in the tree and in the one that is made of events. Shares are compared if the clock
// never stood still for long, which the report says: on a machine that is short of processor time it does.
func TestBriefRoots(t *testing.T) {
	dir := sources(t, "Brief")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		for _, slowest := range []int{0, 3} {
			t.Run(fmt.Sprint("slowest", slowest), func(t *testing.T) { brief(t, j, dir, slowest) })
		}
	}, 8, 17, 25)
}

func brief(t *testing.T, j jvmtest.JDK, dir string, slowest int) {
	p := program(t, j, dir, "Brief", nil)
	s := attached(t, p)
	start(t, s, session.Recording{Roots: []string{"t.Brief.root"}, Clock: "tick", Slowest: slowest})
	time.Sleep(2 * time.Second)           // until it is compiled
	calm := func(r *export.Report) bool { // a clock that stands for long gives all of that to one method
		k := r.Calibration
		return k != nil && k.Tick != nil && time.Duration(k.Tick.Longest) < 20*time.Millisecond
	}
	for range 4 {
		if err := s.Reset(context.Background()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		r, err := s.Snapshot(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if calm(r) {
			break
		}
	}
	r := stopped(t, s)
	p.Send("end")
	p.WaitLine("OK")
	self, all := map[string]int64{}, int64(0)
	for _, f := range cct.FlatOf(r.Tree.Roots()) {
		m, _ := r.Lookup(f.Method)
		name, _, _ := strings.Cut(m.Name, "(")
		self[strings.TrimPrefix(name, "t.Brief.")] += f.Self
		all += f.Self
	}
	t.Logf("self times, ns: %v; %d ns in all", self, all)
	if calm(r) {
		if self["root"] > all/20 {
			t.Errorf("the root, which does nothing itself, has %d of %d ns", self["root"], all)
		}
		for method, percent := range map[string]float64{"early": 2, "first": 30, "second": 68} {
			if part := 100 * float64(self[method]) / float64(all); part < percent/4 || part > percent*4 {
				t.Errorf("%s has %.1f %% of the time, and makes %v %% of the rounds", method, part, percent)
			}
		}
		if part := float64(all) / float64(r.Time); part < 0.5 || part > 1.01 {
			t.Errorf("%d ns charged in %v, for a thread that is always inside", all, r.Time)
		}
	}
	if slowest == 0 {
		return
	}
	agree(t, r)
	for _, k := range r.Slowest.Invocations {
		if sum := cct.Sum([]*cct.Node{k.Tree()}).Self; sum > k.Took || sum < k.Took*9/10 {
			t.Errorf("an invocation of %d ns has a tree of %d", k.Took, sum)
		}
	}
}
