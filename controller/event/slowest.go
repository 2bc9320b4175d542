package event

import (
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// MostSlowest bounds how many invocations are kept.
const MostSlowest = 1000

// mostKept bounds the contexts of all invocations kept, some 150 bytes each.
const mostKept = 1 << 20

// An Invocation is one root invocation with a tree of its own.
type Invocation struct {
	Record    int
	Thread    int64
	Start     int64     // ns on the target's nanoTime
	Took      int64     // ns, without what the profiler made it wait
	Suspended int64     // ns of that
	Thrown    bool      // it ended by an exception
	Span      Span      // that it was part of, where OpenTelemetry is in use
	Tree      *cct.Node // times as measured
	Cut       int64     // contexts that are not in the tree, for want of room; their time is their callers'
	CutCalls  int64     // calls of these
	Path      *Path     // nil without [Builder.Paths]

	part *part // with what it handed over; Tree, Cut and CutCalls have that once they are asked for
}

// A Slowest keeps the slowest root invocations that have ended, in memory that
// does not grow with the recording. Its owner, a [Builder], guards it.
type Slowest struct {
	most int
	over int64
	kept []*Invocation // the fastest last
	all  int64         // that took longer than over
}

// NewSlowest keeps the n slowest of those that took longer than over ns; n is
// at least 1 and at the most [MostSlowest].
func NewSlowest(n int, over int64) *Slowest {
	return &Slowest{most: min(max(n, 1), MostSlowest), over: over}
}

func (k *Slowest) nodes() int { return mostKept / k.most }

func (k *Slowest) wants(took int64) bool {
	if took <= k.over && k.over > 0 {
		return false
	}
	k.all++
	return len(k.kept) < k.most || took > k.kept[len(k.kept)-1].Took
}

func (k *Slowest) add(i *Invocation) {
	if len(k.kept) == k.most {
		k.kept[k.most-1].part.drop()
		k.kept = k.kept[:k.most-1]
	}
	at, _ := slices.BinarySearchFunc(k.kept, i.Took, func(o *Invocation, took int64) int {
		if o.Took >= took { // those that came first stay first
			return -1
		}
		return 1
	})
	k.kept = slices.Insert(k.kept, at, i)
}

// SlowestSoFar returns the invocations kept, the slowest first, and how many there
// were that took longer than the threshold. What is still executed for them is there
// as far as it got.
func (b *Builder) SlowestSoFar() (kept []*Invocation, of int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Slowest == nil {
		return nil, 0
	}
	open := b.underWay()
	for _, i := range b.Slowest.kept {
		one := *i
		one.Tree, one.Cut, one.CutCalls = i.part.assembled(open)
		one.Path = b.path(i.part)
		kept = append(kept, &one)
	}
	for _, of := range open {
		for _, e := range of {
			e.f.part.tree = nil // until it has ended
		}
	}
	return kept, b.Slowest.all
}

// invocation copies what the root invocation did, with at most so many nodes.
func (s *stream) invocation(took int64, thrown bool, most int) *Invocation {
	i := &Invocation{Record: s.record, Thread: s.thread, Start: s.began, Took: took, Suspended: max(s.left, 0), Thrown: thrown, Span: s.span}
	i.part = s.root
	i.part.tree, i.part.cutContext, i.part.cut = s.copied(0, len(s.touched), most)
	i.part.nodes += min(len(s.touched), most)
	i.part.ended = s.time
	i.part.pay(i.part, most)
	return i
}

// copied copies what was touched between two places, the first of which is above
// all others, with at most so many nodes; what has no room counts as its
// callers'. It returns how many contexts that are, and their calls.
func (s *stream) copied(from, to, most int) (tree *cct.Node, cut, calls int64) {
	touched := s.touched[from:to]
	copies := make([]cct.Node, min(len(touched), most))
	for at, k := range touched { // a parent comes before its callees
		n := &s.nodes[k]
		if at < most {
			copies[at] = cct.Node{Method: n.method, Calls: n.now.calls, Thrown: n.now.thrown, Self: n.now.self}
			if at > 0 {
				up := &copies[int(s.nodes[n.parent].mark)-from]
				up.Children = append(up.Children, &copies[at])
			}
			continue
		}
		cut++
		calls += n.now.calls
		up := n.parent
		for int(s.nodes[up].mark)-from >= most {
			up = s.nodes[up].parent
		}
		copies[int(s.nodes[up].mark)-from].Self += n.now.self
	}
	cct.Totals([]*cct.Node{&copies[0]})
	return &copies[0], cut, calls
}
