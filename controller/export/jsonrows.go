package export

import (
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// A jsonWriter writes the long parts without recursion and without a copy of
// them; encoding/json would need both.
type jsonWriter struct {
	sink
	depth   int
	metrics *metric.Table
	names   map[int32][]byte // methods, quoted
	types   map[string][]byte
	loaders map[int32]bool // methods whose names alone don't say which they are
	report  *Report
}

// ambiguous are the methods that share their names with others.
func (r *Report) ambiguous(flat []cct.Flat) map[int32]bool {
	first := map[string]int32{}
	out := map[int32]bool{}
	for _, e := range flat {
		name := r.Method(e.Method).Name
		if other, ok := first[name]; ok {
			out[other], out[e.Method] = true, true
		}
		first[name] = e.Method
	}
	return out
}

// lists writes the methods and the trees of a report, each by a function.
func (w *jsonWriter) lists(f figures, flat func(cct.Flat), tree func(*cct.Thread, *cct.Node)) {
	w.text(",\n \"flat\": [")
	for i, e := range f.flat {
		w.line(i)
		flat(e)
	}
	w.text("\n ],\n \"tree\": [")
	lines := 0
	for _, t := range f.threads {
		for _, root := range t.Roots {
			w.line(lines)
			tree(t, root)
			lines++
		}
	}
	w.text("\n ]")
}

// line begins the i-th element of a list.
func (w *jsonWriter) line(i int) {
	if i > 0 {
		w.text(",")
	}
	w.text("\n  ")
}

func (w *jsonWriter) flat(e cct.Flat) {
	w.text(`{"method":`)
	w.bytes(w.name(e.Method))
	w.text(`,"loader":`)
	w.bytes(quote(w.report.Method(e.Method).Loader))
	w.field("calls", e.Calls)
	w.field("thrown", e.Thrown)
	w.field("self_ns", e.Self)
	w.field("total_ns", e.Total)
	w.counts(e.Counts, w.report.Counted[e.Method], e.Self)
	w.allocs(e.Allocs)
	w.heap(e.Heap)
	w.uncorrected(e.Raw, e.Uncertainty)
	w.cpu(e.Self, e.Sample)
	w.flag("incomplete", e.Incomplete)
	w.flag("counted", w.report.Counted[e.Method])
	w.hidden(e.Method)
	w.source(e.Method)
	w.processes(e.Method)
	w.text("}")
}

func (w *jsonWriter) tree(t *cct.Thread, root *cct.Node) {
	sibling := false // whether the next node has one before it
	cct.Walk([]*cct.Node{root}, func(n *cct.Node, depth int) bool {
		if sibling {
			w.text(",")
		}
		sibling = false
		w.text(`{"method":`)
		w.bytes(w.name(n.Method))
		if w.loaders[n.Method] {
			w.text(`,"loader":`)
			w.bytes(quote(w.report.Method(n.Method).Loader))
		}
		if depth == 0 {
			w.text(`,"thread":`)
			w.bytes(quote(t.Name))
			w.field("thread_id", t.ID)
			w.flag("virtual", t.Virtual)
			w.flag("shared", t.Shared)
		}
		w.field("calls", n.Calls)
		w.field("thrown", n.Thrown)
		w.field("self_ns", n.Self)
		w.field("total_ns", n.Total)
		w.counts(n.Counts, w.report.Counted[n.Method], n.Self)
		w.allocs(n.Allocs())
		w.heap(n.Heap())
		w.loads(n.Loads())
		w.waits(n.Waits())
		w.uncorrected(n.Raw, n.Uncertainty)
		if n.Sample() != nil {
			w.cpu(n.Self, *n.Sample())
		}
		w.estimates(n)
		w.flag("incomplete", n.Incomplete)
		w.flag("folded", n.Folded)
		w.flag("counted", w.report.Counted[n.Method])
		if n.Async() != nil {
			w.flag("async", true)
			w.field("waited_ns", n.Async().Waited)
			w.field("longest_wait_ns", n.Async().Longest)
		}
		w.hidden(n.Method)
		w.parts(n)
		cut := w.depth > 0 && depth+1 >= w.depth && len(n.Children) > 0
		if cut {
			s := cct.Sum(n.Children)
			w.text(`,"below":{"nodes":`)
			w.number(s.Nodes)
			w.field("calls", s.Calls)
			w.field("thrown", s.Thrown)
			w.field("self_ns", s.Self)
			for i, m := range w.metrics.All() {
				w.field(m.Self, own(s.Counts, i))
			}
			w.text("}")
		}
		w.text(`,"children":[`)
		return !cut
	}, func(*cct.Node, int) {
		w.text("]}")
		sibling = true
	})
}

func (w *jsonWriter) field(name string, v int64) {
	w.text(`,"`)
	w.text(name)
	w.text(`":`)
	w.number(v)
}

// uncorrected writes what a corrected time was and how far it may be off.
func (w *jsonWriter) uncorrected(raw int64, u cct.Uncertainty) {
	if w.report.Calibration == nil {
		return
	}
	w.field("measured_ns", raw)
	w.field("error_ns", u.Error)
	if u.Spread != 0 {
		w.field("spread_ns", u.Spread)
	}
}

// cpu writes how much of a self time was on a core, where that was sampled.
func (w *jsonWriter) cpu(self int64, s cct.Sample) {
	if ns, ok := s.Of(self); ok {
		w.field("cpu_ns", ns)
		w.field("cpu_samples", s.Count)
		w.field("cpu_ran_ns", s.Ran)
		w.field("cpu_wall_ns", s.Wall)
	}
}

// hidden writes how many hidden methods a method can call, if any.
func (w *jsonWriter) hidden(method int32) {
	if n := w.report.Method(method).Hidden; n > 0 {
		w.field("hidden", int64(n))
	}
}

// source writes where a method's code begins, as far as that is known.
func (w *jsonWriter) source(method int32) {
	m := w.report.Method(method)
	if m.Source == "" {
		return
	}
	w.text(`,"source":`)
	w.bytes(quote(m.Source))
	if m.Line > 0 {
		w.field("line", int64(m.Line))
	}
}

func (w *jsonWriter) flag(name string, set bool) {
	if set {
		w.text(`,"`)
		w.text(name)
		w.text(`":true`)
	}
}

func (w *jsonWriter) name(method int32) []byte {
	q, ok := w.names[method]
	if !ok {
		q = quote(w.report.Method(method).Name)
		w.names[method] = q
	}
	return q
}
