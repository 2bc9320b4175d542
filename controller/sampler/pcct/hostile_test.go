package pcct

import (
	"math/rand/v2"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// TestManyThreads: records of threads that are gone are put together.
func TestManyThreads(t *testing.T) {
	tree := New(Options{Present: none})
	const n = 3*mostThreads + 5
	for i := range int64(n) {
		s := of(i, "main a")
		s.TID = int(i)
		tree.Add(s)
	}
	s := tree.Snapshot()
	if len(s.Threads) > mostThreads+1 {
		t.Errorf("%d records", len(s.Threads))
	}
	if sum := cct.Sum(s.Roots()); sum.Self != 10*n || sum.Calls != 2*n {
		t.Errorf("sums %+v", sum)
	}
	if int(cct.Sum(s.Roots()).Nodes) != tree.Nodes() {
		t.Errorf("%d nodes, the tree counts %d", cct.Sum(s.Roots()).Nodes, tree.Nodes())
	}
}

// TestNonsense feeds stacks that no thread has: nothing panics, sums stay.
func TestNonsense(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	tree := New(Options{Nodes: LeastNodes, Depth: 40, Lines: true})
	const n = 5000
	for i := range int64(n) {
		s := &stack.Stack{Time: rnd.Int64N(100), Weight: 1, TID: rnd.IntN(5), State: stack.State(rnd.IntN(12)), Complete: rnd.IntN(3) > 0, Broken: "x"}
		for range rnd.IntN(80) {
			f := stack.Frame{Kind: stack.Kind(rnd.IntN(9)), BCI: rnd.IntN(3) - 1, Line: rnd.IntN(4) - 1, Slot: uint64(rnd.IntN(4)), Return: uint64(rnd.IntN(2)), Words: uint64(rnd.IntN(2))}
			if rnd.IntN(9) > 0 {
				f.Method = method(string(rune('a' + rnd.IntN(8))))
			}
			s.Frames = append(s.Frames, f)
		}
		if i%97 == 0 {
			tree.Moved(rnd.Int64N(100), rnd.Int64N(100))
		}
		tree.Add(s)
	}
	if sum := cct.Sum(tree.Snapshot().Roots()); sum.Self != n {
		t.Errorf("%d ns, want %d", sum.Self, n)
	}
}
