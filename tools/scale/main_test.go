package main

import (
	"testing"

	"github.com/rivulet-profiler/rivulet/tools/internal/bench"
)

func TestContexts(t *testing.T) {
	// root, step, 2 methods, a step below each, 4 methods; in 3 threads
	if n := (size{threads: 3, fan: 2, depth: 2}).contexts(); n != 30 {
		t.Errorf("%d contexts, want 30", n)
	}
	for _, s := range sizes[1:] {
		if n := s.contexts(); s.name != "threads" && n < 10_000_000 || s.name != "nodes" && s.threads < 2000 {
			t.Errorf("%s makes %d contexts in %d threads", s.name, n, s.threads)
		}
	}
	s := size{threads: 3, fan: 2, depth: 2}
	report := func(calls, overflow, below int64) *bench.Report {
		n := &bench.Node{}
		n.Below.Nodes = below
		return &bench.Report{Calls: calls, Overflow: overflow, Tree: []*bench.Node{n}}
	}
	for _, good := range []*bench.Report{report(30, 0, 29), report(28, 2, 27), report(30, 2, 27)} {
		if err := s.check(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []*bench.Report{report(29, 0, 29), report(30, 0, 28), report(29, 2, 27)} {
		if s.check(bad) == nil {
			t.Errorf("%d calls, %d without room: no error", bad.Calls, bad.Overflow)
		}
	}
	tree := []*bench.Node{{}, {}}
	tree[1].Below.Nodes = 5
	if n := contexts(tree); n != 7 {
		t.Errorf("%d nodes, want 7", n)
	}
}
