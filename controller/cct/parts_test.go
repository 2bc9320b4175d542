package cct

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestParts puts random trees of several processes together, folded or not, one after another or at once: each context's
// parts add up to its figures, and a process's totals are those of its own tree's.
func TestParts(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		var all []*Node
		own := map[int32]Sums{}
		for p := range int32(1 + rnd.IntN(5)) {
			roots := []*Node{randomTree(rnd, 0), randomTree(rnd, 0)}
			computeTotals(roots)
			own[p] = Sum(roots)
			Divide(roots, p)
			if all = append(all, roots...); rnd.IntN(3) == 0 {
				all = Merge(all)
			}
		}
		rnd.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		merged := Merge(all)
		if seed%2 == 1 {
			merged = FoldRecursion(all)
		}
		sums := map[int32]Part{}
		for n := range All(merged) {
			var sum Part
			for i, p := range n.Parts() {
				if i > 0 && n.Parts()[i-1].Process >= p.Process {
					t.Fatalf("seed %d: %v", seed, n.Parts())
				}
				sum.Calls, sum.Self, sum.Total = sum.Calls+p.Calls, sum.Self+p.Self, sum.Total+p.Total
				s := sums[p.Process]
				sums[p.Process] = Part{p.Process, s.Calls + p.Calls, s.Self + p.Self, 0}
			}
			if sum.Calls != n.Calls || sum.Self != n.Self || sum.Total != n.Total {
				t.Fatalf("seed %d: parts %v of a context with %d calls, %d and %d ns", seed, n.Parts(), n.Calls, n.Self, n.Total)
			}
		}
		for p, want := range own {
			if got := sums[p]; got.Calls != want.Calls || got.Self != want.Self {
				t.Fatalf("seed %d: process %d has %v, not %v", seed, p, got, want)
			}
		}
		joined := Join(Frameworks, merged, slices.Concat(childrenOf(merged)...))
		total := int64(0)
		for _, p := range joined.Parts() {
			total += p.Total
		}
		if total != joined.Total {
			t.Fatalf("seed %d: joined %d, %d in its parts", seed, joined.Total, total)
		}
		for _, n := range all { // what was put together stays as it is
			for _, p := range n.Parts() {
				if len(n.Parts()) == 1 && p.Total != n.Total {
					t.Fatalf("seed %d: a tree that was put together with others has changed", seed)
				}
			}
		}
	}
}

func childrenOf(nodes []*Node) (out [][]*Node) {
	for _, n := range nodes {
		out = append(out, n.Children)
	}
	return out
}

func randomTree(rnd *rand.Rand, depth int) *Node {
	n := &Node{Method: int32(rnd.IntN(3)), Calls: int64(rnd.IntN(9)), Self: int64(rnd.IntN(1000))}
	for range rnd.IntN(4) {
		if depth < 5 {
			n.Children = append(n.Children, randomTree(rnd, depth+1))
		}
	}
	return n
}
