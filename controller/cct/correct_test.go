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
