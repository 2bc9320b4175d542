package pcct

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// TestTaken: the trees of ranges of time add up to the whole tree, context by context, also
// after contexts were dropped, threads put together, and steps made longer.
func TestTaken(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	tree := New(Options{Nodes: LeastNodes})
	const samples = 20_000
	for i := range samples {
		s := of(int64(1+i)*int64(time.Millisecond)-int64(rnd.IntN(3)), fmt.Sprintf("main m%c n%c o%c", 'a'+rune(rnd.IntN(20)), 'a'+rune(rnd.IntN(26)), 'a'+rune(rnd.IntN(26))))
		s.TID = 1 + rnd.IntN(3)
		if i%1000 == 999 {
			s.TID = 100 + i
		}
		tree.Add(s)
	}
	if tree.Stats().Purges == 0 {
		t.Fatal("nothing was dropped")
	}
	check := func(what string) {
		t.Helper()
		snap := tree.Snapshot()
		k := snap.Taken
		want := selves(cct.Merge(snap.Roots()))
		middle := k.Until / 3 / k.Step * k.Step
		both := append(k.Within(0, middle), k.Within(middle, k.Until+k.Step)...)
		got := selves(cct.Merge(both))
		if len(got) != len(want) || len(want) < 20 {
			t.Errorf("%s: %d contexts in ranges, %d in the tree", what, len(got), len(want))
		}
		for path, n := range want {
			if got[path] != n {
				t.Errorf("%s: %s has %d in ranges, %d in the tree", what, path, got[path], n)
			}
		}
		counts, _ := k.Counts(1000)
		sum := int64(0)
		for _, n := range counts {
			sum += n
		}
		if sum != samples {
			t.Errorf("%s: %d samples over time", what, sum)
		}
	}
	check("dropped")
	tree.retire()
	check("threads put together")
	for range 8 {
		tree.log.halve()
	}
	check("longer steps")
	if n := tree.log.step; n != int64(2560*time.Millisecond) {
		t.Error("a step is", time.Duration(n))
	}
}

// selves are the samples of each context that has any, by its path.
func selves(roots []*cct.Node) map[string]int64 {
	out := map[string]int64{}
	var way []string
	for n, depth := range cct.All(roots) {
		way = append(way[:depth], fmt.Sprint(n.Method))
		if n.Sample() != nil && n.Sample().Count > 0 {
			out[fmt.Sprint(way)] = n.Sample().Count
		}
	}
	return out
}

// TestLogBounded: a log has a bounded number of entries, however many contexts and however
// much time there are.
func TestLogBounded(t *testing.T) {
	var l log
	nodes := make([]node, mostLogged/2)
	s := of(0, "main")
	for round := range 5 {
		for i := range nodes {
			s.Time += int64(20*time.Millisecond) << (4 * round)
			l.add(&nodes[i], s)
		}
	}
	if len(l.list) > mostLogged || len(l.list) < mostLogged/4 {
		t.Errorf("%d entries", len(l.list))
	}
	if l.until/l.step >= 1<<31 {
		t.Error("steps have no number")
	}
}
