package cct_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/calibrate"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// TestReadFolded reads ways back to folded ancestors and calls without room as
// what they stand for.
func TestReadFolded(t *testing.T) {
	m := newImage(64)
	m.thread(&cct.Thread{ID: 1, RootEntries: 1, RootReturns: 1, Roots: []*cct.Node{
		{Method: 1, Calls: 4, Self: 10, Children: []*cct.Node{
			{Method: 2, Calls: 3, Self: 20, Children: []*cct.Node{{Method: 1 | wire.MethodBack, Calls: 3}}},
		}},
		{Method: cct.Unplaced, Children: []*cct.Node{{Method: 3, Calls: 5, Self: 7}}},
	}})
	s, err := cct.Read(m.mem, 0)
	if err != nil || s.Bad != 0 {
		t.Fatalf("%v, bad %d", err, s.Bad)
	}
	want := []*cct.Node{
		{Method: 1, Calls: 4, Self: 10, Total: 30, Children: []*cct.Node{(&cct.Node{Method: 2, Calls: 3, Self: 20, Total: 20}).With(cct.Details{Back: &cct.Back{Method: 1, Calls: 3}})}},
		{Method: cct.Unplaced, Total: 7, Children: []*cct.Node{{Method: 3, Calls: 5, Self: 7, Total: 7}}},
	}
	if diff := cmp.Diff(want, s.Threads[0].Roots); diff != "" {
		t.Error("-want +got:\n", diff)
	}
	if got := len(cct.FlatOf(s.Roots())); got != 3 {
		t.Errorf("%d methods", got)
	}
	sum := s.Correct(func(int32) cct.Clock { return cct.Clock{Cost: calibrate.Cost{Inner: 1, Outer: 2}} })
	// 1: 4 own, 3 callees; 2: 3 own, 3 ways back; 3: 5 own, whose outer cost is in nobody's time here.
	if got, want := [3]int64{s.Threads[0].Roots[0].Self, s.Threads[0].Roots[0].Children[0].Self, s.Threads[0].Roots[1].Children[0].Self},
		[3]int64{10 - 4 - 6, 20 - 3 - 6, 7 - 5}; got != want {
		t.Errorf("corrected %v, want %v", got, want)
	}
	if sum.Clamped != 0 {
		t.Errorf("clamped %d", sum.Clamped)
	}
}

// TestGiveToCallers moves counted methods' time up, past other counted ones.
func TestGiveToCallers(t *testing.T) {
	s := &cct.Snapshot{Threads: []*cct.Thread{{Roots: []*cct.Node{
		{Method: 9, Self: 1, Children: []*cct.Node{ // a counted root keeps its time
			{Method: 1, Self: 10, Children: []*cct.Node{
				{Method: 9, Self: 2, Children: []*cct.Node{
					{Method: 9, Self: 3},
					{Method: 2, Self: 20, Children: []*cct.Node{{Method: 9, Self: 4}}},
				}},
				{Method: 2, Self: 30},
			}},
		}},
	}}}}
	s.GiveToCallers(func(m int32) bool { return m == 9 })
	want := []*cct.Node{{Method: 9, Self: 1, Total: 70, Children: []*cct.Node{
		{Method: 1, Self: 15, Total: 69, Children: []*cct.Node{
			{Method: 9, Total: 24, Children: []*cct.Node{
				{Method: 9},
				{Method: 2, Self: 24, Total: 24, Children: []*cct.Node{{Method: 9}}},
			}},
			{Method: 2, Self: 30, Total: 30},
		}},
	}}}
	if diff := cmp.Diff(want, s.Threads[0].Roots); diff != "" {
		t.Error("-want +got:\n", diff)
	}
}
