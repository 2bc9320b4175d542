package beside

import (
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// A HeapEvent is an allocation that the JVM's own sampling has met: the heap gave room
// for the object, so the compiler has not removed it.
type HeapEvent struct {
	Thread   string
	TID      int
	Type     string        // in internal form, "java/util/ArrayList" or "[I"
	Bytes    int64         // that the thread has allocated since its last event
	Frames   []stack.Frame // innermost first
	Complete bool          // the outermost frame is there
	Inside   bool          // it came while the recording was on
}

// A Heap puts allocations that were sampled into the tree of a recording made at the
// same time. It is not safe for concurrent use.
//
// A thread's first event says what the thread has allocated since it began, so it gets the mean
// of the others, or what it says where that is less.
type Heap struct {
	j       *joiner
	roots   map[string][]place
	threads map[int]bool // that have had an event
	ends    map[string][]*cct.Node
	parents map[*cct.Node]*cct.Node
	names   map[*stack.Method]string
	firsts  []first
	bytes   int64 // of all events but the first ones of threads
	events  int64 // these
	out     export.HeapSampling
}

// A first is a thread's first event, and where it lies; node is nil outside.
type first struct {
	node *cct.Node
	cct.HeapSample
}

// NewHeap is for a recording's report.
func NewHeap(r *export.Report) *Heap {
	h := &Heap{
		j:     &joiner{exact: r, names: map[int32]string{}, children: map[*cct.Node]map[string]*cct.Node{}},
		roots: map[string][]place{}, threads: map[int]bool{}, names: map[*stack.Method]string{},
	}
	for _, t := range r.Tree.Threads {
		for _, n := range t.Roots {
			h.roots[h.j.name(n)] = append(h.roots[h.j.name(n)], place{t, n})
		}
	}
	return h
}

// Add takes an event, those before the recording included, in the order in which each
// thread had them.
func (h *Heap) Add(e HeapEvent) {
	begun := h.threads[e.TID]
	h.threads[e.TID] = true
	if begun {
		h.bytes, h.events = h.bytes+e.Bytes, h.events+1
	}
	if !e.Inside {
		return
	}
	node, via := h.place(e)
	s := cct.HeapSample{Type: cct.SourceType(pcct.ClassName(e.Type)), Via: via, Samples: 1, Bytes: e.Bytes}
	if !begun {
		h.firsts = append(h.firsts, first{node, s})
		return
	}
	h.put(node, s)
}

func (h *Heap) put(node *cct.Node, s cct.HeapSample) {
	if node == nil {
		return
	}
	h.out.Samples, h.out.Bytes = h.out.Samples+1, h.out.Bytes+s.Bytes
	node.Details().Heap = cct.AddHeap(node.Heap(), s)
}

// Join ends it: the report has what was added. Its metrics are to have [metric.HeapBytes] and [metric.HeapBelow].
func (h *Heap) Join() export.HeapSampling {
	for _, f := range h.firsts {
		if h.events > 0 {
			f.Bytes = min(f.Bytes, h.bytes/h.events)
		}
		h.put(f.node, f.HeapSample)
	}
	h.firsts = nil
	r := h.j.exact
	own, below := r.Tree.Metrics.Index(metric.HeapBytes.Name), r.Tree.Metrics.Index(metric.HeapBelow.Name)
	for n := range cct.All(r.Tree.Roots()) {
		for _, s := range n.Heap() {
			at := own
			if s.Via != "" {
				at = below
			}
			if at >= 0 && n.Counts != nil {
				n.Counts.Own[at] += s.Bytes
			}
		}
	}
	for _, t := range r.Tree.Threads {
		cct.Totals(t.Roots)
	}
	out := h.out
	r.Heap = &out
	return out
}

// place finds the context of an event, nil where it lies outside, and the method without
// probes that the context's method has called, "" where its own code allocates.
func (h *Heap) place(e HeapEvent) (node *cct.Node, via string) {
	first := -1
	for i := len(e.Frames) - 1; i >= 0; i-- {
		if of := h.roots[h.name(&e.Frames[i])]; len(of) > 0 {
			node, first = pick(of, e.Thread), i
			break
		}
	}
	if node == nil && !e.Complete {
		node, first = h.end(e.Frames)
		if node == nil {
			h.out.Unplaced++
			return nil, ""
		}
	}
	if node == nil {
		h.out.Outside++
		return nil, ""
	}
	at := first
	for i := first - 1; i >= 0; i-- {
		name := h.name(&e.Frames[i])
		if c := h.j.child(node, name); c != nil {
			node, at = c, i
		} else if node.Folded && name == h.j.name(node) {
			at = i
		}
	}
	if at == 0 || AtCall(e.Frames[at-1].Method) {
		return node, ""
	}
	return node, h.name(&e.Frames[at-1])
}

// end is the only context whose path ends as the frames do that are there, and where the last of
// its frames is; nil if there are several.
func (h *Heap) end(frames []stack.Frame) (found *cct.Node, at int) {
	if h.ends == nil {
		h.index()
	}
	at = -1
	var names []string // of methods that have contexts, innermost first
	for i := range frames {
		name := h.name(&frames[i])
		if len(h.ends[name]) == 0 {
			continue
		}
		if at < 0 {
			at = i
		}
		names = append(names, name)
	}
	if at < 0 {
		return nil, -1
	}
	for _, n := range h.ends[names[0]] {
		if !h.endsWith(n, names) {
			continue
		}
		if found != nil {
			return nil, -1
		}
		found = n
	}
	return found, at
}

// endsWith tells whether a context's path ends with these methods, innermost first.
func (h *Heap) endsWith(n *cct.Node, names []string) bool {
	for _, name := range names {
		if n == nil || h.j.name(n) != name {
			return false
		}
		n = h.parents[n]
	}
	return true
}

// index keeps every context by its method's name, and its caller.
func (h *Heap) index() {
	h.ends, h.parents = map[string][]*cct.Node{}, map[*cct.Node]*cct.Node{}
	for n := range cct.All(h.j.exact.Tree.Roots()) {
		h.ends[h.j.name(n)] = append(h.ends[h.j.name(n)], n)
		for _, c := range n.Children {
			h.parents[c] = n
		}
	}
}

// name is a frame's method as the recording's methods are named here.
func (h *Heap) name(f *stack.Frame) string {
	if f.Method == nil {
		return ""
	}
	name, ok := h.names[f.Method]
	if !ok {
		name = strings.ReplaceAll(pcct.ClassName(f.Method.Class), "/", ".") + "." + f.Method.Name + f.Method.Desc
		h.names[f.Method] = name
	}
	return name
}
