package cct_test

import (
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// bigImage has one path of 20,000 levels, the rest is broad.
func bigImage(nodes uint32) *image {
	const levels = 20000
	m := newImage(int(nodes) + 16)
	rec := m.thread(&cct.Thread{ID: 1, Name: "main", RootEntries: 1, Roots: []*cct.Node{{Method: 0, Calls: 1}}})
	parent := uint32(offNode(2))
	spine := []uint32{parent}
	for i := range levels {
		parent = m.node(rec, parent, &cct.Node{Method: int32(i%1000 + 1), Calls: 1, Self: 1})
		spine = append(spine, parent)
	}
	for i := 0; m.nextNode < nodes; i++ {
		m.node(rec, spine[i%len(spine)], &cct.Node{Method: int32(2000 + i/len(spine)), Calls: 1, Self: 1})
	}
	return m
}

func TestBig(t *testing.T) {
	const nodes = 1 << 17 // the benchmarks have a million
	m := bigImage(nodes)
	begin := time.Now()
	s, err := cct.Read(m.mem, 0)
	if err != nil {
		t.Fatal(err)
	}
	roots := s.Roots()
	sums := cct.Sum(roots)
	if sums.Nodes != nodes-2 || sums.Depth != 20002 || s.Bad != 0 {
		t.Errorf("%+v, %d bad", sums, s.Bad)
	}
	merged := cct.Merge(append(roots[:1:1], roots...))
	if got := cct.Sum(merged); got.Nodes != sums.Nodes || got.Calls != 2*sums.Calls || got.Self != 2*sums.Self {
		t.Errorf("merged twice: %+v of %+v", got, sums)
	}
	cct.Sort(merged)
	var calls int64
	for _, f := range cct.FlatOf(merged) {
		calls += f.Calls
	}
	if calls != 2*sums.Calls {
		t.Errorf("flat has %d calls, tree has %d", calls, 2*sums.Calls)
	}
	if folded := cct.Sum(cct.FoldRecursion(roots)); folded.Calls != sums.Calls {
		t.Errorf("folded has %d calls, tree has %d", folded.Calls, sums.Calls)
	}
	cct.HotPath(merged)
	if d := time.Since(begin); d > 5*time.Minute { // it takes two seconds; what is quadratic takes hours
		t.Errorf("took %v", d)
	}
}

func BenchmarkRead(b *testing.B) {
	m := bigImage(1 << 20)
	for b.Loop() {
		if _, err := cct.Read(m.mem, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMerge(b *testing.B) {
	s, _ := cct.Read(bigImage(1<<20).mem, 0)
	for b.Loop() {
		cct.Merge(s.Roots())
	}
}

func BenchmarkFlat(b *testing.B) {
	s, _ := cct.Read(bigImage(1<<20).mem, 0)
	for b.Loop() {
		cct.FlatOf(s.Roots())
	}
}
