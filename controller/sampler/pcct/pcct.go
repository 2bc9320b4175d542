// Package pcct is a partial calling context tree (Whaley, "A Portable Sampling-Based
// Profiler for Java Virtual Machines", section 4): what samples of
// threads' stacks tell of a program's calling contexts.
//
// A [Tree] takes stacks one at a time. Each node is a calling context: a method,
// called along one path. A node has the samples that found it innermost, and the
// time that these stand for. The edge to it has the activations that were seen
// there: a frame that an earlier sample of the thread had seen already is not
// counted again. So time and activations are told apart: a method that runs
// long has many samples and few entries, one that is called often has about as
// many entries as samples.
//
// Entries are a lower bound of the calls: an activation that began and ended
// between two samples is not seen. How a new activation is told from an old one is
// described at [Tree.Add]; what the rule can't decide is counted apart.
//
// The tree is partial in three ways. It has only what samples have met; with
// [Options.Depth], or where a walk ended early, the outer frames of a stack are
// missing, and it is attached where the thread's previous sample tells; and when
// [Options.Nodes] is reached, rare contexts are put together ([Tree.Purge]).
//
// A Tree is not safe for concurrent use.
package pcct

import (
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// Defaults and bounds of [Options].
const (
	DefaultNodes = 1 << 18
	LeastNodes   = 1 << 13
	mostThreads  = 2048 // records of single threads; of those beyond, the ones with the fewest samples are put together
)

// Options say what a tree keeps.
type Options struct {
	// Depth is how many frames of a stack are looked at, from the innermost on; 0
	// for all. The paper's profiler bounds its walk so.
	Depth int
	// Nodes bounds the tree's nodes; 0 for [DefaultNodes]. A node takes some 200
	// bytes. Less than [LeastNodes] is taken as that.
	Nodes int
	// States has samples counted by what the thread did, for each node.
	States bool
	// Lines has the source lines of the innermost frames counted, for each node.
	Lines bool
	// Present are the threads that there were when sampling began. What is on the stack at
	// a thread's first sample may have begun before, so it is unsure; of a thread
	// that came later it is new. Nil: nobody knows, all are unsure.
	Present map[int]bool
	// Physical gives the self time of methods that are inlined into compiled
	// code to the compiled method. It is for JVMs that run without
	// -XX:+DebugNonSafepoints: there the debug information says wrongly which
	// inlined method an instruction is of.
	Physical bool
}

// Stats say what samples a tree was made of.
type Stats struct {
	Samples   int64            // all of them
	Time      int64            // ns that they stand for
	Ran       int64            // of Time, ns on a core
	Complete  int64            // samples whose stack reached the thread's first frame
	Heuristic int64            // samples with a frame that was found by a checked guess
	Frameless int64            // samples of threads that have no frames: the JVM's own
	Detached  int64            // samples whose outer frames are not known
	Purged    int64            // samples that are no longer in contexts of their own
	Purges    int64            // how often the tree was full
	Broken    map[string]int64 // samples that were not complete, by reason
	States    map[stack.State]int64
	First     int64 // CLOCK_MONOTONIC ns of the earliest sample; 0 if there is none
	Last      int64 // of the latest
}

// A Tree is a partial calling context tree that grows with each sample.
type Tree struct {
	o       Options
	names   names
	threads map[int]*thread
	others  *thread // what threads had that have no record of their own any more
	nodes   int
	stats   Stats
	methods []MethodSum
	stamp   []int64 // of each method, the number of the sample that met it last
	hot     ranking // nodes by samples
	busy    ranking // nodes by entries
	moves   []span  // when objects were moved, mostMoves at the most
	log     log     // when samples were taken
}

// A MethodSum is what samples say of a method over all its contexts. Recursion is
// counted once.
type MethodSum struct {
	Self, Total         int64 // samples
	SelfTime, TotalTime int64 // ns
	Entries, Unsure     int64
}

// New makes an empty tree.
func New(o Options) *Tree {
	if o.Nodes <= 0 {
		o.Nodes = DefaultNodes
	}
	o.Nodes, o.Depth = max(o.Nodes, LeastNodes), max(o.Depth, 0)
	return &Tree{
		o: o, threads: map[int]*thread{}, names: newNames(), hot: newRanking(bySamples), busy: newRanking(byEntries),
		stats: Stats{Broken: map[string]int64{}, States: map[stack.State]int64{}},
	}
}

// Stats are the figures so far. The maps are copies.
func (t *Tree) Stats() Stats {
	s := t.stats
	s.Broken, s.States = map[string]int64{}, map[stack.State]int64{}
	for k, n := range t.stats.Broken {
		s.Broken[k] = n
	}
	for k, n := range t.stats.States {
		s.States[k] = n
	}
	return s
}

// Nodes is how many contexts the tree has now.
func (t *Tree) Nodes() int { return t.nodes }

// A span is a piece of time, CLOCK_MONOTONIC ns.
type span struct{ from, until int64 }

const mostMoves = 64

// Moved says that at some time between two moments, CLOCK_MONOTONIC ns, the JVM moved
// objects, as a collection does. References in frames change with that, although no
// method has gone on: words of a sample before and of one after it are not compared.
// It has to be said before the later one is added.
func (t *Tree) Moved(from, until int64) {
	if len(t.moves) >= mostMoves {
		// The older half becomes one: a thread that was not sampled since must not be
		// compared with what it was.
		const half = mostMoves / 2
		t.moves[0].until = t.moves[half-1].until
		t.moves = append(t.moves[:1], t.moves[half:]...)
	}
	t.moves = append(t.moves, span{from, until})
}

// moved tells whether objects may have been moved between two samples.
func (t *Tree) moved(from, until int64) bool {
	for _, m := range t.moves {
		if m.from < until && from < m.until {
			return true
		}
	}
	return false
}

// A thread is the record of one thread, or of others put together.
type thread struct {
	id     int
	name   string
	java   bool
	shared bool
	root   node // stands for no method; the thread's trees are its children
	sum    ThreadSum
	last   []frame // outermost first; their nodes are nil after a purge
	next   []frame // room
	whole  bool    // last begins with the thread's first frame
	at     int64   // when last was, CLOCK_MONOTONIC ns

	line    int32        // of the last sample's innermost frame; 0 if not known
	kept    *stack.Frame // the innermost frame of the last sample, if its frames are kept ([stack.Stack.Kept])
	monitor string       // of that sample
	again   bool         // and of the one before: last is what comes of a sample like that after one like that
}

// A ThreadSum is what was sampled of a thread.
type ThreadSum struct {
	Name               string // at its last sample
	Samples, Time, Ran int64
}

// Threads are the sums of all threads that have records of their own, by their numbers.
func (t *Tree) Threads() map[int]ThreadSum {
	out := make(map[int]ThreadSum, len(t.threads))
	for id, th := range t.threads {
		out[id] = th.sum
	}
	return out
}

// A node is one calling context of a thread.
type node struct {
	method   int32
	hotAt    int32 // place in Tree.hot, and in Tree.busy; -1 if it has none
	busyAt   int32
	parent   *node
	children []*node
	index    map[int32]*node // of children by method; nil while they are few
	samples  int64           // that found it innermost
	time     int64           // ns that they stand for
	ran      int64           // of time, on a core
	entries  int64           // new activations seen
	unsure   int64           // activations that may have been new
	lines    map[int32]int64 // samples by line of the innermost frame; nil if not wanted
	states   []int64         // samples by state; nil if not wanted
	place    int32           // in the list of contexts of the last snapshot
	logged   int32           // place in Tree.log of its last entry, if that is its
	into     *node           // what has its samples, once it is dropped
}

const states = stack.InVM + 1 // how many states of threads there are

const fewChildren = 12

// child is the node's callee of a method, made if there is none.
func (t *Tree) child(n *node, method int32) *node {
	if n.index != nil {
		if c := n.index[method]; c != nil {
			return c
		}
	} else {
		for _, c := range n.children {
			if c.method == method {
				return c
			}
		}
	}
	c := &node{method: method, hotAt: -1, busyAt: -1, parent: n}
	t.nodes++
	n.adopt(c)
	return c
}

// adopt adds a callee that the node doesn't have.
func (n *node) adopt(c *node) {
	c.parent = n
	n.children = append(n.children, c)
	if n.index != nil {
		n.index[c.method] = c
		return
	}
	n.reindex()
}

// reindex makes the map of callees if there are many.
func (n *node) reindex() {
	n.index = nil
	if len(n.children) > fewChildren {
		n.index = make(map[int32]*node, 2*len(n.children))
		for _, c := range n.children {
			n.index[c.method] = c
		}
	}
}
