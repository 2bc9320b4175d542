// Package cct is the calling context tree: every path from a root method to
// a method called beneath it, with exact counts and times.
//
// [Read] takes a tree out of the data file that the target's probes write
// (package wire describes the layout); everything else here is arithmetic on
// such snapshots. A snapshot is a copy: the target may go on, and nothing
// that it does later changes what was read. A snapshot may be read by many
// goroutines as long as none of them changes it.
//
// Guarantees: once the target's gate is closed, calls, thrown and self times
// are exactly what the probes wrote. While it records, each word is one that
// the target did write, but words of different nodes may be from different
// moments. Nothing here recurses over a tree, since recursion in the target
// makes trees of twenty thousand levels and more.
//
// Not seen: time spent in calls that were still running at the moment of
// reading, unless the caller passes the target's clock to [Read].
//
// The calling context tree is that of Ammons, Ball and Larus (PLDI '97), kept
// per thread as in Dmitriev, "Design of JFluid", section 5.
package cct

import (
	"iter"
	"strconv"

	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// A Method is what a method id stands for. Whoever instruments hands out the
// ids and knows their methods.
type Method struct {
	Name   string // "pkg.Outer$Inner.name(descriptor)return"
	Loader string // "boot", "platform", "app", or the loader's class and name
	Hidden int    // methods that a filter hides and its code can call: their time is in its own
	Source string // file that its class was compiled from, without its folder; "" if unknown
	Line   int    // of Source where its code begins; 0 if unknown
}

// A MethodKey tells methods of all recordings apart.
type MethodKey struct{ Name, Loader string }

// Key is the same for the method in every recording, whatever else is known of it.
func (m Method) Key() MethodKey { return MethodKey{m.Name, m.Loader} }

// Place is where its code begins, "Invoice.java:57"; "" if unknown.
func (m Method) Place() string {
	if m.Source == "" || m.Line == 0 {
		return m.Source
	}
	return m.Source + ":" + strconv.Itoa(m.Line)
}

// A Lookup finds the method of an id.
type Lookup func(id int32) (Method, bool)

// Unplaced is the method of a node that stands for no method: what lies below
// it are calls that found no room for call paths of their own, one node for each
// method and thread record.
const Unplaced int32 = wire.MethodUnplaced

// A Node is one calling context: a method, called along one path.
type Node struct {
	Method     int32
	Levels     int32          // of direct recursion that FoldRecursion put into this node; 0 for none
	Calls      int64          // invocations begun
	Thrown     int64          // of those, ended by an exception
	Self       int64          // ns of its own
	Raw        int64          // Self as measured, before Correct; 0 if there was none
	Total      int64          // ns of its own and of everything below
	Counts     *metric.Values // of the recording's further metrics; nil where it has none
	Children   []*Node
	Rare       *Details // what few nodes have; nil for most. The methods of these names read it, Details changes it
	Incomplete bool     // a wait for its callees timed out: callees may be missing
	Folded     bool     // recursion was folded into the node while recording
	Uncertainty
}

// Details are what few nodes have. They lie apart, so that a usual node is small.
type Details struct {
	Allocs []Alloc      // what it has allocated itself, each type once
	Heap   []HeapSample // what of it samples of the heap have met; nil where nobody looked
	Loads  *Loads       // the classes that it has caused to be loaded itself; nil for none
	Waits  *Waits       // its own waits for locks; nil for none, or where nobody looked
	Back   *Back        // as read; merging, which comes after Correct, leaves it out
	Async  *Handover    // the calls are executions of tasks that the parent handed over; nil for any other call
	Sample *Sample      // where the thread's time on a core was sampled and anything was found here
	Parts  []Part       // of each process, where the tree is put together of several
	Below  *Callee      // stands for this node: its callees are methods without probes that samples have met; nil where nobody looked
}

var noDetails Details

// Details are those of a node, to be changed; they are made if there are none.
func (n *Node) Details() *Details {
	if n.Rare == nil {
		n.Rare = &Details{}
	}
	return n.Rare
}

// With gives a node details, and returns it.
func (n *Node) With(d Details) *Node {
	n.Rare = &d
	return n
}

// seen are the details of a node, not to be changed.
func (n *Node) seen() *Details {
	if n.Rare == nil {
		return &noDetails
	}
	return n.Rare
}

// Allocs is what the node has allocated itself, see [Details].
func (n *Node) Allocs() []Alloc { return n.seen().Allocs }

// Heap is what of it samples of the heap have met, see [Details].
func (n *Node) Heap() []HeapSample { return n.seen().Heap }

// Loads are the classes that it has caused to be loaded itself, see [Details].
func (n *Node) Loads() *Loads { return n.seen().Loads }

// Waits are its own waits for locks, see [Details].
func (n *Node) Waits() *Waits { return n.seen().Waits }

// Back are its calls of methods on the path above, see [Details].
func (n *Node) Back() *Back { return n.seen().Back }

// Async says that its calls are executions of tasks, see [Details].
func (n *Node) Async() *Handover { return n.seen().Async }

// Sample is what samples of the thread's time found, see [Details].
func (n *Node) Sample() *Sample { return n.seen().Sample }

// Below are its callees without probes, see [Details].
func (n *Node) Below() *Callee { return n.seen().Below }

// A Back is a node's calls of a method on the path above, whose node counts them:
// recursion folded while recording.
type Back struct {
	Method int32
	Calls  int64
	Next   *Back // of another method; nil if there is none
}

// A Thread is a record of the data file: the tree of one thread, or of
// several that had the record one after another.
type Thread struct {
	ID          int64
	Name        string
	Virtual     bool // had by virtual threads in turn; ID and Name are the last one's
	Shared      bool // had by more than one platform thread; ID and Name are the last one's
	Open        bool // inside a root call when read
	Roots       []*Node
	RootEntries int64 // root calls entered from outside
	RootReturns int64 // of those, ended (exceptions included)
	Suspended   int64 // ns that the profiler made it wait; in nobody's self time
}

// A Snapshot is everything that the data file held at one moment.
type Snapshot struct {
	Metrics    *metric.Table // that nodes have beside calls, thrown and time; nil for none
	Threads    []*Thread
	Executors  []*Thread // that only executed tasks, which lie where they were handed over: who they are, without trees
	Overflow   int64     // calls for which there was no room in the tree
	Uncounted  int64     // of those, calls that not even the reserve had room for: they are in no count
	Lost       int64     // root calls for which there was no record
	Refused    int64     // root calls not recorded since the budget was used up
	Incomplete int64     // waits for a reveal that timed out
	Unfollowed int64     // tasks that were handed over and could not be followed, for want of room
	Detached   int64     // contexts of executions whose hand-over was not read: none at the end
	Unthrown   int64     // calls ended by an exception that are in no node's Thrown, for want of room
	Bad        int64     // links that led nowhere: the target's memory is damaged
	Taken      *Taken    // when samples were taken; nil where the tree is none of samples, or this is not kept
}

// Roots returns the roots of all threads, unmerged.
func (s *Snapshot) Roots() []*Node {
	var roots []*Node
	for _, t := range s.Threads {
		roots = append(roots, t.Roots...)
	}
	return roots
}

// Sums are figures added up over whole trees.
type Sums struct {
	Nodes, Calls, Thrown, Self, Raw int64
	Samples                         int64          // see [Sample]
	Depth                           int            // levels of the deepest path
	Counts                          *metric.Values // nil where nodes have none
}

// Sum adds up everything in the trees below roots.
func Sum(roots []*Node) Sums {
	var s Sums
	for n, depth := range All(roots) {
		s.Nodes++
		s.Calls += n.Calls
		s.Thrown += n.Thrown
		s.Self += n.Self
		s.Raw += n.Raw
		if n.Sample() != nil {
			s.Samples += n.Sample().Count
		}
		s.Depth = max(s.Depth, depth+1)
		s.Counts = addCounts(s.Counts, n.Counts)
	}
	return s
}

// All yields every node below roots with its depth, parents before their
// children and children in order. The roots have depth 0.
func All(roots []*Node) iter.Seq2[*Node, int] {
	type item struct {
		node  *Node
		depth int
	}
	return func(yield func(*Node, int) bool) {
		var stack []item
		push := func(nodes []*Node, depth int) {
			for i := len(nodes) - 1; i >= 0; i-- {
				stack = append(stack, item{nodes[i], depth})
			}
		}
		push(roots, 0)
		for len(stack) > 0 {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if !yield(top.node, top.depth) {
				return
			}
			push(top.node.Children, top.depth+1)
		}
	}
}

// Walk calls enter on every node before its children and leave after them.
// Where enter returns false, the node's children are left out; leave is
// called all the same.
func Walk(roots []*Node, enter func(n *Node, depth int) bool, leave func(n *Node, depth int)) {
	type frame struct {
		node *Node
		rest []*Node // children still to visit
	}
	var stack []frame
	for _, root := range roots {
		next := root
		for {
			if next != nil {
				rest := next.Children
				if !enter(next, len(stack)) {
					rest = nil
				}
				stack = append(stack, frame{next, rest})
			}
			top := &stack[len(stack)-1]
			if len(top.rest) > 0 {
				next, top.rest = top.rest[0], top.rest[1:]
				continue
			}
			next = nil
			node := top.node
			stack = stack[:len(stack)-1]
			leave(node, len(stack))
			if len(stack) == 0 {
				break
			}
		}
	}
}

// computeTotals sets Total of every node below roots.
func computeTotals(roots []*Node) {
	Walk(roots,
		func(n *Node, _ int) bool {
			n.Total = n.Self
			n.ownParts()
			if n.Counts != nil {
				n.Counts.Total = n.Counts.Own
			}
			return true
		},
		func(n *Node, _ int) {
			for _, c := range n.Children {
				n.Total += c.Total
				n.below(c)
			}
		})
}

// Totals sets Total of every node below roots from the self times: for trees
// that were made by others than this package.
func Totals(roots []*Node) { computeTotals(roots) }

// A slab is where nodes are cut from: a million small allocations would take
// longer than all the rest.
type slab struct {
	nodes []Node
	size  int
}

func (s *slab) cut() *Node {
	if len(s.nodes) == 0 {
		s.size = min(max(2*s.size, 16), 1<<13)
		s.nodes = make([]Node, s.size)
	}
	n := &s.nodes[0]
	s.nodes = s.nodes[1:]
	return n
}
