// Package beside puts samples into the tree of an exact recording that was made at the same time:
// which share of a context's time a thread was on a core, waited, or was blocked, in which lines,
// and what the methods without probes, such as the JDK's, did below it. All of that is an estimate,
// while calls and times stay those of the recording.
//
// A sample is placed by its frames, not by the thread's cursor: samples are read some
// time after they were taken, when the cursor has moved on. From the outermost frame that is a
// root of the tree on, each frame of a recorded method leads to the context of that method;
// frames of methods without probes in between are left out, as the recording does.
package beside

import (
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// A Late leaves out samples of invocations of a root that began before the recording did,
// which has nothing of them: those whose root's frame is where the thread's first
// sample had it. It is not safe for concurrent use.
type Late struct {
	roots   map[key]bool
	threads map[int]*activation
	known   map[*stack.Method]bool
	Left    int64 // samples
}

type key struct{ class, name string }

// An activation is a root's frame, as a thread's first sample met it.
type activation struct {
	over bool // it has ended
	slot uint64
	ret  uint64
	// Of its caller, which has gone on if they differ.
	words uint64
	bci   int
}

// NewLate is for roots as people write them, "pkg.Class.method" with or without a descriptor.
func NewLate(roots []string) *Late {
	l := &Late{roots: map[key]bool{}, threads: map[int]*activation{}, known: map[*stack.Method]bool{}}
	for _, r := range roots {
		name, _, _ := strings.Cut(r, "(")
		if dot := strings.LastIndexByte(name, '.'); dot > 0 {
			l.roots[key{strings.ReplaceAll(name[:dot], ".", "/"), name[dot+1:]}] = true
		}
	}
	return l
}

// Filter are the samples to be kept, in the same array. Those of a thread are to come in the order of time.
func (l *Late) Filter(batch []stack.Stack) []stack.Stack {
	keep := batch[:0]
	for i := range batch {
		if l.began(&batch[i]) {
			l.Left++
			continue
		}
		keep = append(keep, batch[i])
	}
	return keep
}

// began tells whether a sample is of an invocation that began before the recording.
func (l *Late) began(s *stack.Stack) bool {
	a := l.threads[s.TID]
	if a != nil && a.over {
		return false
	}
	at := l.outermost(s.Frames)
	if a == nil {
		a = &activation{over: at < 0}
		l.threads[s.TID] = a
		if at < 0 {
			return false
		}
		a.is(s.Frames, at)
		return true
	}
	var now activation
	if at >= 0 {
		now.is(s.Frames, at)
	}
	if at < 0 || now != *a {
		a.over = true
		return false
	}
	return true
}

func (a *activation) is(frames []stack.Frame, at int) {
	a.slot, a.ret = frames[at].Slot, frames[at].Return
	if at+1 < len(frames) {
		a.words, a.bci = frames[at+1].Words, frames[at+1].BCI
	}
}

// outermost is where the outermost root is among frames; -1 if there is none.
func (l *Late) outermost(frames []stack.Frame) int {
	for i := len(frames) - 1; i >= 0; i-- {
		m := frames[i].Method
		if m == nil {
			continue
		}
		is, known := l.known[m]
		if !known {
			is = l.roots[key{m.Class, m.Name}]
			l.known[m] = is
		}
		if is {
			return i
		}
	}
	return -1
}

// Join puts the samples of a report into the tree of a recording, and says how many of them
// lie inside. The report of samples stays as it is.
func Join(r, samples *export.Report) (inside int64) {
	if r.Tree == nil || samples.Tree == nil || samples.Sampling == nil {
		return 0
	}
	j := &joiner{exact: r, sampled: samples, names: map[int32]string{}, children: map[*cct.Node]map[string]*cct.Node{}}
	roots := map[string][]place{}
	for _, t := range r.Tree.Threads {
		for _, n := range t.Roots {
			roots[j.name(n)] = append(roots[j.name(n)], place{t, n})
		}
	}
	for _, t := range samples.Tree.Threads {
		j.thread(t, roots)
	}
	s := *samples.Sampling
	r.Estimates = &s
	measure(r)
	r.CPU = &export.CPU{Samples: j.inside, Share: s.Share}
	return j.inside
}

// A place is a root of a thread's tree.
type place struct {
	thread *cct.Thread
	node   *cct.Node
}

type joiner struct {
	exact, sampled *export.Report
	names          map[int32]string // of the recording's methods
	children       map[*cct.Node]map[string]*cct.Node
	inside         int64
}

// name is what samples call a recorded node's method.
func (j *joiner) name(n *cct.Node) string {
	name, ok := j.names[n.Method]
	if !ok {
		name = j.exact.Method(n.Method).Name
		front, desc, _ := strings.Cut(name, "(")
		if dot := strings.LastIndexByte(front, '.'); dot > 0 {
			name = pcct.ClassName(front[:dot]) + front[dot:] + "(" + desc
		}
		j.names[n.Method] = name
	}
	return name
}

// child is a recorded node's callee of that name; nil if it has none.
func (j *joiner) child(n *cct.Node, name string) *cct.Node {
	of := j.children[n]
	if of == nil {
		of = make(map[string]*cct.Node, len(n.Children))
		for _, c := range n.Children {
			of[j.name(c)] = c
		}
		j.children[n] = of
	}
	return of[name]
}

// An item is a node of samples with where its caller's samples go.
type item struct {
	node  *cct.Node
	at    *cct.Node   // recorded; nil outside
	below *cct.Callee // the callee of at's, or what stands for at itself
	depth int         // of below
	probe bool        // within the profiler's own code, whose time is its caller's
}

// mostDepth bounds how deep callees go.
const mostDepth = 128

// probes begins the names of classes that are the profiler's own.
const probes = "java.lang.Rivulet$"

func (j *joiner) thread(t *cct.Thread, roots map[string][]place) {
	totals := cct.SampleTotals(t.Roots)
	var todo []item
	for _, n := range t.Roots {
		todo = append(todo, item{node: n})
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		name := j.sampled.Method(i.node.Method).Name
		next := item{at: i.at, below: i.below, depth: i.depth, probe: i.probe}
		switch {
		case i.at == nil:
			if next.at = pick(roots[name], t.Name); next.at != nil {
				next.below, next.depth, next.probe = enter(next.at), 0, false
			}
		case j.child(i.at, name) != nil:
			next.at = j.child(i.at, name)
			next.below, next.depth, next.probe = enter(next.at), 0, false
		case i.probe || i.depth >= mostDepth:
		case strings.HasPrefix(name, probes), strings.HasPrefix(name, "("): // no method: a monitor, which the states tell of
			next.probe = true
		default:
			if sum := j.without(i.node, i.at, totals); sum.Count > 0 {
				next.below, next.depth = i.below.Add(name, sum.Count, sum.Ran, sum.Wall), i.depth+1
			}
		}
		if s := i.node.Sample(); s != nil && s.Count > 0 && next.at != nil {
			j.inside += s.Count
			next.at.Details().Sample = joined(next.at.Sample(), s, next.depth == 0)
		}
		for _, c := range i.node.Children {
			next.node = c
			todo = append(todo, next)
		}
	}
}

// without sums up a node's samples and those below it, except for what lies in a context of a recorded method.
func (j *joiner) without(n, at *cct.Node, totals map[*cct.Node]cct.Sample) cct.Sample {
	sum := totals[n]
	todo := []*cct.Node{n}
	for len(todo) > 0 {
		k := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, c := range k.Children {
			if j.child(at, j.sampled.Method(c.Method).Name) != nil {
				t := totals[c]
				sum.Count, sum.Ran, sum.Wall = sum.Count-t.Count, sum.Ran-t.Ran, sum.Wall-t.Wall
				continue
			}
			todo = append(todo, c)
		}
	}
	return sum
}

// joined adds a sample to a recorded node's. Its lines count where the node's own method
// was innermost.
func joined(to, s *cct.Sample, own bool) *cct.Sample {
	k := cct.Sample{Ran: s.Ran, Wall: s.Wall, Count: s.Count, States: s.States}
	if own {
		k.Lines = s.Lines
	}
	if to != nil {
		k = to.Plus(k)
	}
	return &k
}

// enter is what stands for a recorded node among callees.
func enter(n *cct.Node) *cct.Callee {
	if n.Below() == nil {
		n.Details().Below = &cct.Callee{}
	}
	return n.Below()
}

// commLength is what the kernel keeps of a thread's name.
const commLength = 15

// pick is the root of the thread of that name, else of one whose name begins so where the kernel
// has cut it, else of that with the most calls.
func pick(of []place, thread string) *cct.Node {
	var cut, most *cct.Node
	for _, p := range of {
		if p.thread.Name == thread {
			return p.node
		}
		if len(thread) == commLength && strings.HasPrefix(p.thread.Name, thread) && cut == nil {
			cut = p.node
		}
		if most == nil || p.node.Calls > most.Calls {
			most = p.node
		}
	}
	if cut != nil {
		return cut
	}
	return most
}
