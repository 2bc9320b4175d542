package cct_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// TestHandover reads executions that belong elsewhere: below a root invocation,
// below another execution; and such that lead nowhere, or in a ring.
func TestHandover(t *testing.T) {
	m := newImage(64)
	m.put32(wire.HFollow, 1)
	leaf := func(method int32, children ...*cct.Node) *cct.Node {
		return &cct.Node{Method: method, Calls: int64(method), Self: 10 * int64(method), Children: children}
	}
	handover := func(n *cct.Node) *cct.Node {
		return &cct.Node{Method: wire.MethodHandover, Calls: 700, Thrown: 500, Self: 1, Children: []*cct.Node{n}}
	}
	// Nodes are numbered in the order in which they are written, parents first.
	m.thread(&cct.Thread{ID: 1, Name: "root", RootEntries: 1, Roots: []*cct.Node{leaf(1, leaf(2))}}) // nodes 2, 3
	pool := m.thread(&cct.Thread{ID: 2, Name: "pool", Roots: []*cct.Node{
		handover(leaf(3, leaf(4, handover(leaf(5))))), // 5: of 6, 7; below, 8: of 9
		handover(leaf(6)), // leads nowhere
		handover(leaf(7)), // to itself
	}})
	at := func(method int32) (handover, own uint32) {
		for i := uint32(1); i < m.nextNode; i++ {
			off := offNode(i)
			if word := *(*uint32)(ptr(m, off+wire.NMethod)); word == uint32(method) {
				return *(*uint32)(ptr(m, off+wire.NParent)), uint32(off)
			}
		}
		t.Fatalf("no node %d", method)
		return 0, 0
	}
	for method, from := range map[int32]int32{3: 2, 5: 1, 7: 7} {
		h, _ := at(method)
		_, own := at(from)
		m.put32(int(h)+wire.NFlags, own)
	}
	h, _ := at(6)
	m.put32(int(h)+wire.NFlags, uint32(offNode(63)))

	s, err := cct.Read(m.mem, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := "1 10|2 20|~3 31|4 40|~5 51"
	var got []string
	for n := range cct.All(s.Roots()) {
		mark := ""
		if n.Async() != nil {
			mark = "~"
			if n.Async().Waited != 700 || n.Async().Longest != 500 {
				t.Errorf("method %d waited %+v", n.Method, *n.Async())
			}
		}
		got = append(got, fmt.Sprintf("%s%d %d", mark, n.Method, n.Self))
	}
	if text := strings.Join(got, "|"); text != want || s.Detached != 2 || s.Bad != 0 || len(s.Threads) != 1 {
		t.Errorf("%s, %d detached, %d damaged, %d threads; want %s and 2 detached", text, s.Detached, s.Bad, len(s.Threads), want)
	}
	if total := s.Roots()[0].Total; total != 10+20+31+40+51 {
		t.Errorf("total %d", total)
	}

	s, err = cct.ReadWith(m.mem, cct.Options{InPlace: true})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Threads[1].Roots); len(s.Threads) != 2 || n != 3 {
		t.Errorf("in place: %d threads, %d roots of the second, want 2 and 3", len(s.Threads), n)
	}

	// What executions left over is theirs, though the thread has no root invocation.
	before := cct.Sum(s.Threads[1].Roots).Self
	m.put64(offRecord(pool)+wire.RCarry, 1000)
	s, err = cct.ReadWith(m.mem, cct.Options{InPlace: true})
	if err != nil {
		t.Fatal(err)
	}
	if after := cct.Sum(s.Threads[1].Roots).Self; after != before+1000 {
		t.Errorf("in place: %d with what was left over, %d without", after, before)
	}
}

// TestMergeHandovers keeps a call and an execution of the same method apart.
func TestMergeHandovers(t *testing.T) {
	run := func(calls int64, wait *cct.Handover) *cct.Node {
		return (&cct.Node{Method: 2, Calls: calls}).With(cct.Details{Async: wait})
	}
	roots := cct.Merge([]*cct.Node{
		{Method: 1, Children: []*cct.Node{run(1, nil), run(2, &cct.Handover{Waited: 5, Longest: 4})}},
		{Method: 1, Children: []*cct.Node{run(4, &cct.Handover{Waited: 10, Longest: 9}), run(8, nil)}},
	})
	got := ""
	for _, c := range roots[0].Children {
		got += fmt.Sprint(c.Calls, " ")
		if c.Async() != nil {
			got += fmt.Sprint(c.Async().Waited, c.Async().Longest, " ")
		}
	}
	if want := "9 6 15 9 "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestMerged: the tree of one thread needs no merging, but where several threads have executed tasks of one call.
func TestMerged(t *testing.T) {
	task := func() *cct.Node { return (&cct.Node{Method: 2, Calls: 3}).With(cct.Details{Async: &cct.Handover{}}) }
	for _, test := range []struct {
		roots []*cct.Node
		want  bool
	}{
		{nil, true},
		{[]*cct.Node{{Method: 1, Children: []*cct.Node{{Method: 1}, {Method: 2}, task()}}, {Method: 2}}, true},
		{[]*cct.Node{{Method: 1}, {Method: 1}}, false},
		{[]*cct.Node{{Method: 1, Children: []*cct.Node{{Method: 3, Children: []*cct.Node{task(), {Method: 2}, task()}}}}}, false},
	} {
		if got := cct.Merged(test.roots); got != test.want {
			t.Errorf("%+v: %v", test.roots, got)
		}
		if m := cct.Merge(test.roots); !cct.Merged(m) {
			t.Errorf("%+v is not merged", m)
		}
	}
}
