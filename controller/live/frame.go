package live

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/application"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// A Frame is the state of a recording at one moment. The recording in it never changes;
// what is computed from it on demand is kept. It is safe for concurrent use.
type Frame struct {
	ID     int64 // rises with every frame of the server
	Report *export.Report

	numbering *Numbering
	threads   []*cct.Thread
	places    []int // numbers of the threads
	merged    []*cct.Node
	sums      cct.Sums
	local     map[int32]int32 // the report's method ids by the methods' numbers
	numbers   map[int32]int32 // the reverse

	invocations, open, suspended int64

	moments []*moment // as the recording was before, in the order of time

	mu        sync.Mutex
	trees     map[treeKey][]*cct.Node
	views     map[viewKey]*application.View
	flats     map[flatKey][]flat
	arounds   map[int32]*around
	children  map[childKey][]*cct.Node
	slow      []invocationSum // of the slowest invocations; nil until somebody asks
	uncertain []UncertainMethod
	inverses  map[treeKey]*inverse
	told      *BriefView // nil until somebody asks
	telling   bool       // it is being made
	ranges    []span     // whose trees are kept, the oldest first
}

// A treeKey chooses one of a frame's trees.
type treeKey struct {
	thread int  // number of the thread, 0 for all threads
	slow   int  // place among the slowest invocations plus one, whose tree it is; 0 for all
	fold   bool // direct recursion is put together
	within span // the range of time, see [Frame.snapped]
}

func newFrame(id int64, r *export.Report, numbering *Numbering) *Frame {
	if r.Tree == nil {
		r.Tree = &cct.Snapshot{}
	}
	f := &Frame{
		ID: id, Report: r, numbering: numbering, threads: r.Tree.ByThread(),
		local: map[int32]int32{}, numbers: map[int32]int32{},
		trees: map[treeKey][]*cct.Node{}, views: map[viewKey]*application.View{}, flats: map[flatKey][]flat{}, arounds: map[int32]*around{}, children: map[childKey][]*cct.Node{}, inverses: map[treeKey]*inverse{},
	}
	f.places = numbering.threadNumbers(r.Target.PID, f.threads)
	if f.merged = r.Tree.Roots(); !cct.Merged(f.merged) { // that of one thread alone is, mostly
		f.merged = cct.Merge(f.merged)
	}
	seen := make([]bool, 0, 256)
	know := func(method int32) {
		if method == -1 { // unknown, or the outside
			return
		}
		i := int(method - cct.Unplaced) // the least that a node's method can be
		for i >= len(seen) {
			seen = append(seen, make([]bool, len(seen)+1)...)
		}
		if !seen[i] {
			seen[i] = true
			k := numbering.addMethod(f.method(method))
			f.numbers[method], f.local[k] = k, method
		}
	}
	for n := range cct.All(f.merged) {
		f.sums.Nodes++
		f.sums.Calls += n.Calls
		f.sums.Thrown += n.Thrown
		f.sums.Self += n.Self
		f.sums.Raw += n.Raw
		know(n.Method)
	}
	if r.Slowest != nil { // while it is recorded they may be ahead of the tree
		for _, i := range r.Slowest.Invocations {
			for n := range cct.All(i.Thread.Roots) {
				know(n.Method)
			}
			if i.Path != nil {
				for _, s := range i.Path.Segments {
					know(s.Method)
				}
				for _, s := range i.Path.Shares {
					know(s.Method)
				}
			}
		}
	}
	for _, t := range f.threads {
		f.invocations += t.RootEntries
		f.open += t.RootEntries - t.RootReturns
		f.suspended += t.Suspended
	}
	return f
}

// method names a method even if nobody knows it.
func (f *Frame) method(id int32) cct.Method { return f.Report.Method(id) }

// edge is the last step of a node's path.
func (f *Frame) edge(n *cct.Node) int32 {
	if n.Method == cct.Frameworks {
		return foldEdge
	}
	if n.Async() != nil {
		return -f.numbers[n.Method]
	}
	return f.numbers[n.Method]
}

// tree is one of the frame's trees; nil if there is no such thread.
func (f *Frame) tree(k treeKey) []*cct.Node {
	if k == (treeKey{}) {
		return f.merged
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	t, ok := f.trees[k]
	if ok {
		return t
	}
	roots := f.merged
	if k.slow > 0 {
		if f.Report.Slowest == nil || k.slow > len(f.Report.Slowest.Invocations) {
			return nil
		}
		roots = f.Report.Slowest.Invocations[k.slow-1].Thread.Roots
	} else if k.thread > 0 {
		at := slices.Index(f.places, k.thread)
		if at < 0 {
			return nil
		}
		roots = f.threads[at].Roots
	} else if k.within != (span{}) {
		f.ranged(k.within)
		roots = f.within(k.within)
	}
	if k.fold {
		t = cct.FoldRecursion(roots)
	} else {
		t = cct.Merge(roots)
	}
	f.trees[k] = t
	return t
}

// ranged notes a range whose tree is made, and forgets what was kept of the one that was made
// first if there are many. f.mu is held.
func (f *Frame) ranged(s span) {
	if slices.Contains(f.ranges, s) {
		return
	}
	if f.ranges = append(f.ranges, s); len(f.ranges) <= mostRanges {
		return
	}
	old := f.ranges[0]
	f.ranges = slices.Delete(f.ranges, 0, 1)
	maps.DeleteFunc(f.trees, func(k treeKey, _ []*cct.Node) bool { return k.within == old })
	maps.DeleteFunc(f.views, func(k viewKey, _ *application.View) bool { return k.tree.within == old })
	maps.DeleteFunc(f.flats, func(k flatKey, _ []flat) bool { return k.tree.within == old })
	maps.DeleteFunc(f.inverses, func(k treeKey, _ *inverse) bool { return k.within == old })
	clear(f.children) // by nodes, which may be of these
}

// total is the time of a list of trees.
func total(roots []*cct.Node) int64 {
	var t int64
	for _, n := range roots {
		t += n.Total
	}
	return t
}

// called counts the methods with calls: waiting at a first call that never
// went on makes a node without any. Of samples it counts all that they met.
func (f *Frame) called() int {
	n := 0
	for _, e := range f.flat(flatKey{}) {
		if e.Calls > 0 || f.Report.Sampling != nil {
			n++
		}
	}
	return n
}

// seconds is the recording's length.
func (f *Frame) seconds() float64 { return f.Report.Time.Round(time.Millisecond).Seconds() }
