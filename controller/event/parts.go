package event

import (
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// mostTasks bounds the hand-overs whose execution has not been seen, and the
// executions whose hand-over has not: streams are read one after the other.
const mostTasks = 1 << 16

// A part is a root invocation, or the execution of a task, with a tree of its
// own. What it handed over hangs on it, so that a slowest root invocation has
// all that was done for it.
type part struct {
	tree  *cct.Node // once it has ended
	up    *part     // that handed it over, nil for a root call or while that isn't known
	over  *part     // some part above, up or nearer to the root call
	at    []int32   // where: methods, from the first of up's tree
	began int64     // ns on the target's nanoTime
	ended int64     // 0 while it is under way
	since int64     // when it was handed over
	subs  []*part   // what it handed over, in the order in which it was seen to end

	thread int64
	number int64  // of its task
	outer  *part  // what its thread was doing when it began to execute it
	track  *track // what its thread did; nil without paths, and where there is no room

	early           int64 // room that it takes while its hand-over is not known
	dropped         bool  // of a root call: it is not among the slowest
	nodes           int   // of a root call and all that hangs on it
	marks           int   // the same of tracks, in contexts that take as much room
	trackless       int64 // executions below it whose tracks found no room
	cut, cutContext int64 // calls and contexts that found no room
}

// A task is a hand-over whose execution has not ended yet.
type task struct {
	by     *part // nil where nobody wants it
	at     []int32
	since  int64
	shown  int64 // for the timeline: the same on its clock
	thread int64 // and where, as of [Hop]
	depth  uint16
	method int32
}

// A frame is an execution that is under way.
type frame struct {
	part   *part  // nil where nobody wants it
	number int64  // of its task
	mark   int    // of its first node among those touched
	began  int64  // ns, for the timeline: when that did
	depth  uint16 // of its outermost invocation
}

// current is the part that the invocation on top belongs to.
func (s *stream) current() *part {
	if n := len(s.frames); n > 0 {
		return s.frames[n-1].part
	}
	return s.root
}

// submit takes note of a task that the invocation on top hands over.
func (s *stream) submit(number int64) {
	by := s.current()
	line := s.b.Timeline
	if by == nil && line == nil || s.top == 0 {
		return
	}
	if len(s.b.tasks) >= mostTasks { // old ones are executed no more, or by a schedule
		for old := range s.b.tasks {
			if old <= number-mostTasks || len(s.b.tasks) >= mostTasks {
				delete(s.b.tasks, old)
			}
		}
	}
	t := task{by: by, since: s.time, thread: s.thread, depth: depthOf(len(s.begins) - 1), method: s.nodes[s.top].method}
	early := false
	if line != nil {
		t.shown = s.moment()
		_, early = line.hops.early[number]
		line.hops.submitted(number, t)
	}
	if by != nil {
		for k := s.top; s.nodes[k].method >= 0; k = s.nodes[k].parent {
			t.at = append(t.at, s.nodes[k].method)
		}
		slices.Reverse(t.at)
		if p := s.b.early[number]; p != nil {
			delete(s.b.early, number)
			s.b.earlyNodes -= p.early
			s.b.belong(p, t)
			early = true
		}
	}
	if !early || number&1 != 0 { // what is executed again and again has more to come
		s.b.tasks[number] = t
	}
}

// begin pushes the execution of the task that was named last.
func (s *stream) begin() {
	f := frame{mark: len(s.touched), number: s.number, began: s.time, depth: depthOf(len(s.begins))}
	if s.b.Slowest != nil {
		f.part = &part{began: s.time, thread: s.thread, number: s.number, track: s.track}
		if s.top != 0 {
			f.part.outer = s.current()
		}
	}
	s.frames = append(s.frames, f)
}

// ended pops the execution that is under way and files what it did.
func (s *stream) ended(whole bool) {
	n := len(s.frames) - 1
	if n < 0 {
		s.b.bad++
		return
	}
	f := s.frames[n]
	s.frames = s.frames[:n]
	t, known := s.b.tasks[f.number]
	if s.b.Timeline != nil {
		if one, ok := s.hop(f, s.shown); ok {
			s.b.Timeline.hops.executed(f.number, one, t, known)
		}
	}
	if known && f.number&1 == 0 && (whole || f.part == nil) {
		delete(s.b.tasks, f.number)
	}
	if p := f.part; p != nil && whole && f.mark+1 < len(s.touched) {
		s.copyTo(f, len(s.touched))
		p.ended = s.time
		switch {
		case known && t.by != nil:
			s.b.belong(p, t)
		case known:
			p.drop()
		default:
			s.b.keepEarly(f.number, p)
		}
	}
	s.fileFrom(f.mark)
}

// copyTo copies what an execution did to its part: what was touched up to a place.
func (s *stream) copyTo(f frame, to int) {
	p := f.part
	p.tree, p.cutContext, p.cut = s.copied(f.mark+1, to, s.b.Slowest.nodes())
	if k := s.touched[f.mark]; s.nodes[k].method <= firstTask {
		p.tree.Self += s.nodes[k].now.self
	}
}

// An execution is one that is under way.
type execution struct {
	s  *stream
	f  frame
	t  task
	to int // up to where it touched something
}

// soFar is its part with what it did so far.
func (e *execution) soFar() *part {
	e.s.copyTo(e.f, e.to)
	e.f.part.at, e.f.part.since = e.t.at, e.t.since
	return e.f.part
}

// underWay are the executions that are, by what handed them over.
func (b *Builder) underWay() map[*part][]execution {
	open := map[*part][]execution{}
	for _, s := range b.streams {
		if s == nil {
			continue
		}
		for i, f := range s.frames {
			to := len(s.touched)
			if i+1 < len(s.frames) {
				to = s.frames[i+1].mark
			}
			if t, known := b.tasks[f.number]; known && t.by != nil && f.part != nil && f.mark+1 < to {
				open[t.by] = append(open[t.by], execution{s, f, t, to})
			}
		}
	}
	return open
}

// belong hangs an execution on what handed it over, if there is room.
func (b *Builder) belong(p *part, t task) {
	root := t.by.root()
	if root == p { // a damaged stream: it would have handed itself over
		b.bad++
		return
	}
	p.up, p.over, p.at, p.since = t.by, root, t.at, t.since
	sum := cct.Sum([]*cct.Node{p.tree})
	switch {
	case root.dropped:
		p.tree = nil
		p.drop()
	case root.nodes+p.nodes+int(sum.Nodes) > b.Slowest.nodes():
		root.cutContext += sum.Nodes
		root.cut += sum.Calls
		root.trackless++
		p.tree = nil
		p.drop()
	default:
		root.nodes += p.nodes + int(sum.Nodes) // with what hangs on it already
		t.by.subs = append(t.by.subs, p)
		p.pay(root, b.Slowest.nodes())
	}
}

// root is the root invocation for which the part is executed, or the nearest to
// it that is known.
func (p *part) root() *part {
	for p.over != nil {
		if p.over.over != nil {
			p.over = p.over.over
		}
		p = p.over
	}
	return p
}

// keepEarly keeps an execution until its hand-over is seen.
func (b *Builder) keepEarly(number int64, p *part) {
	p.early = cct.Sum([]*cct.Node{p.tree}).Nodes
	if p.track != nil && p.outer == nil {
		p.early += int64(p.track.weight())
	}
	if old := b.early[number]; old != nil { // a schedule's
		b.earlyNodes -= old.early
	}
	if len(b.early) >= mostTasks || b.earlyNodes+p.early > mostKept {
		clear(b.early) // their hand-overs were dropped, or nobody wanted them
		b.earlyNodes = 0
	}
	b.early[number] = p
	b.earlyNodes += p.early
}

// assembled is the tree of a root invocation with all that was executed for it,
// each execution where it was handed over: as in the tree of a recording, at the
// first of the same method in a chain of hand-overs. open are those under way, by
// what handed them over.
func (p *part) assembled(open map[*part][]execution) (tree *cct.Node, cutContexts, cutCalls int64) {
	type link struct {
		method int32
		node   *cct.Node
		next   *link
	}
	type item struct {
		part  *part
		tree  *cct.Node
		chain *link
	}
	tree = copied(p.tree)
	todo := []item{{p, tree, nil}}
	for len(todo) > 0 {
		it := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		cutContexts, cutCalls = cutContexts+it.part.cutContext, cutCalls+it.part.cut
		subs := slices.Clip(it.part.subs)
		for _, e := range open[it.part] {
			subs = append(subs, e.soFar())
		}
		for _, sub := range subs {
			node := at(it.tree, sub.at)
			chain := it.chain
			for ; chain != nil && chain.method != node.Method; chain = chain.next {
			}
			if chain != nil {
				node = chain.node
				chain = it.chain
			} else {
				chain = &link{node.Method, node, it.chain}
			}
			one := copied(sub.tree)
			wait := max(sub.began-sub.since, 0)
			one.Details().Async = &cct.Handover{Waited: wait, Longest: wait}
			node.Children = append(node.Children, one)
			todo = append(todo, item{sub, one, chain})
		}
	}
	return cct.Merge([]*cct.Node{tree})[0], cutContexts, cutCalls
}

// at finds the node of a path, or the last one of it that there is.
func at(n *cct.Node, path []int32) *cct.Node {
	for _, m := range path[min(1, len(path)):] {
		k := slices.IndexFunc(n.Children, func(c *cct.Node) bool { return c.Method == m && c.Async() == nil })
		if k < 0 {
			break
		}
		n = n.Children[k]
	}
	return n
}

// copied is the tree with nodes of its own.
func copied(n *cct.Node) *cct.Node { return cct.Merge([]*cct.Node{n})[0] }
