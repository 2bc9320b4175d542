package cct_test

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/calibrate"
	"github.com/rivulet-profiler/rivulet/controller/cct"
)

func TestCorrect(t *testing.T) {
	leaf := &cct.Node{Method: 2, Calls: 100, Self: 2500}
	short := &cct.Node{Method: 3, Calls: 10, Self: 50}
	root := &cct.Node{Method: 1, Calls: 1, Self: 10000, Children: []*cct.Node{leaf, short}}
	s := &cct.Snapshot{Threads: []*cct.Thread{{Roots: []*cct.Node{root}}}}
	got := s.Correct(func(int32) cct.Clock {
		return cct.Clock{Cost: calibrate.Cost{Inner: 20, Outer: 30, Spread: 2}}
	})
	// root: 10000 - 20 - 110*30; leaf: 2500 - 100*20; short has less than its cost.
	if root.Self != 6680 || leaf.Self != 500 || short.Self != 0 {
		t.Errorf("self times %d, %d, %d", root.Self, leaf.Self, short.Self)
	}
	if root.Raw != 10000 || root.Total != 7180 {
		t.Errorf("raw %d, total %d", root.Raw, root.Total)
	}
	if want := (cct.Correction{Subtracted: 3320 + 2000 + 50, Clamped: 150}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if leaf.Error != 100 || root.Error != 111 {
		t.Errorf("errors %d, %d", leaf.Error, root.Error)
	}
	ticks := &cct.Node{Method: 1, Calls: 1, Self: 1600}
	s = &cct.Snapshot{Threads: []*cct.Thread{{Roots: []*cct.Node{ticks}}}}
	s.Correct(func(int32) cct.Clock { return cct.Clock{Tick: 100} })
	if ticks.Self != 1600 || ticks.Error != 400 { // 16 ticks, 4 of them uncertain
		t.Errorf("self %d, error %d", ticks.Self, ticks.Error)
	}
}

// TestCorrectCounted takes the cost of what counted methods call off the timed
// method that their time was given to.
func TestCorrectCounted(t *testing.T) {
	timed := &cct.Node{Method: 2, Calls: 10, Self: 600}
	inner := &cct.Node{Method: 9, Calls: 100, Self: 400, Children: []*cct.Node{timed, {Method: 9, Calls: 1000, Self: 5000}}}
	outer := &cct.Node{Method: 9, Calls: 10, Self: 100, Children: []*cct.Node{inner}}
	root := &cct.Node{Method: 1, Calls: 1, Self: 2500, Children: []*cct.Node{outer}}
	s := &cct.Snapshot{Threads: []*cct.Thread{{Roots: []*cct.Node{root}}}}
	counted := func(m int32) bool { return m == 9 }
	s.GiveToCallers(counted)
	got := s.Correct(func(m int32) cct.Clock {
		if counted(m) {
			return cct.Clock{Cost: calibrate.Cost{Outer: 5, Spread: 1}, Counted: true}
		}
		return cct.Clock{Cost: calibrate.Cost{Inner: 20, Outer: 30, Spread: 2}, Tick: 100}
	})
	// root: 8000 - 20 - 1110*5 - 10*30; timed: 600 - 10*20.
	if root.Self != 2130 || timed.Self != 400 || inner.Self != 0 || outer.Self != 0 {
		t.Errorf("self times %d, %d, %d, %d", root.Self, timed.Self, inner.Self, outer.Self)
	}
	if root.Total != 2530 || root.Raw != 8000 || inner.Raw != 0 {
		t.Errorf("total %d, raw %d, %d", root.Total, root.Raw, inner.Raw)
	}
	if want := (cct.Correction{Subtracted: 5870 + 200}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	// 1110 counted calls, the timed one's callers' half, and its own; 80 of its ticks.
	if root.Error != 1110+10+1+894 || inner.Error != 0 || outer.Error != 0 {
		t.Errorf("errors %d, %d, %d", root.Error, inner.Error, outer.Error)
	}
}

// TestUncertaintyOfSums: over contexts, what the probes' cost is off by adds up,
// and only what is from ticks evens out.
func TestUncertaintyOfSums(t *testing.T) {
	const contexts = 100
	s := &cct.Snapshot{}
	for i := range contexts { // each below another caller, half of them in another thread
		leaf := &cct.Node{Method: 1, Calls: 1000, Self: 10_000}
		s.Threads = append(s.Threads, &cct.Thread{ID: int64(i % 2), Roots: []*cct.Node{
			{Method: int32(2 + i/2), Children: []*cct.Node{leaf}},
		}})
	}
	s.Correct(func(m int32) cct.Clock {
		if m != 1 {
			return cct.Clock{}
		}
		return cct.Clock{Cost: calibrate.Cost{Spread: 2}, Tick: 100}
	})
	one := cct.Uncertainty{Error: 1000 + 1000, Spread: 1000}
	if got := s.Threads[0].Roots[0].Children[0].Uncertainty; got != one {
		t.Fatalf("of one %+v, want %+v", got, one)
	}
	all := cct.Uncertainty{Error: contexts*1000 + 10*1000, Spread: contexts * 1000}
	var leaves []*cct.Node
	for _, n := range cct.Merge(s.Roots()) {
		leaves = append(leaves, n.Children...)
	}
	for name, roots := range map[string][]*cct.Node{"as read": s.Roots(), "merged": leaves, "in one": cct.Merge(leaves)} {
		for _, f := range cct.FlatOf(roots) {
			got := f.Uncertainty
			if got.Error -= all.Error; f.Method == 1 && (got.Spread != all.Spread || max(got.Error, -got.Error) > contexts/2) { // roundings
				t.Errorf("%s: %+v, want %+v", name, f.Uncertainty, all)
			}
		}
	}
}

// TestCorrectFolded takes off what calls of methods above cost by those methods'
// modes, not by that of the caller.
func TestCorrectFolded(t *testing.T) {
	tick := (&cct.Node{Method: 2, Calls: 10, Self: 10_000}).With(cct.Details{Back: &cct.Back{Method: 1, Calls: 100, Next: &cct.Back{Method: 2, Calls: 9}}})
	precise := &cct.Node{Method: 1, Calls: 101, Self: 10_000, Children: []*cct.Node{tick}}
	s := &cct.Snapshot{Threads: []*cct.Thread{{Roots: []*cct.Node{precise}}}}
	s.Correct(func(m int32) cct.Clock {
		if m == 1 {
			return cct.Clock{Cost: calibrate.Cost{Inner: 20, Outer: 30, Spread: 4}}
		}
		return cct.Clock{Cost: calibrate.Cost{Inner: 1, Outer: 2, Spread: 2}}
	})
	if tick.Self != 10_000-10*1-100*30-9*2 || tick.Error != 10*1+100*2+9*1 {
		t.Errorf("self %d ± %d", tick.Self, tick.Error)
	}
	if precise.Self != 10_000-101*20-10*2 || precise.Error != 101*2+10*1 {
		t.Errorf("self %d ± %d", precise.Self, precise.Error)
	}
}
