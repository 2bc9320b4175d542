package live

import (
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/history"
)

// While a recording goes on and somebody looks, its tree is kept as it was at some moments.
// The tree of a range of time is the difference of two of them: its counts are exact, be it
// that a call counts where it began. Nothing has to be recorded for it.

// Bounds of what is kept of one recording. Where there is more, every second moment goes.
const (
	mostMoments     = 120
	mostMomentNodes = 1 << 20 // of all moments, 56 bytes each
)

// mostRanges bounds the ranges whose trees a frame keeps.
const mostRanges = 8

// A span is a range of time, ns from the beginning of the recording; the zero span is all of it.
type span struct{ from, to int64 }

// A moment is a tree as it was at one time. It does not change.
type moment struct {
	at     int64         // ns from the beginning of the recording
	warmed time.Duration // what was forgotten before that
	nodes  []momentNode  // each before its callees
}

type momentNode struct {
	method, depth             int32
	async                     bool
	calls, thrown, self, wait int64
	off                       cct.Uncertainty
}

// momentOf is nil for a report that does not say when it was read, or whose tree is too large.
func momentOf(f *Frame) *moment {
	h := f.Report.History
	if h == nil || h.At <= 0 || f.sums.Nodes > mostMomentNodes/2 {
		return nil
	}
	m := &moment{at: h.At, warmed: f.Report.Warmed, nodes: make([]momentNode, 0, f.sums.Nodes)}
	for n, depth := range cct.All(f.merged) {
		k := momentNode{method: n.Method, depth: int32(depth), calls: n.Calls, thrown: n.Thrown, self: n.Self, off: n.Uncertainty}
		if a := n.Async(); a != nil {
			k.async, k.wait = true, a.Waited
		}
		m.nodes = append(m.nodes, k)
	}
	return m
}

// later is a list of moments with one more. One that is before the last begins anew: what was
// recorded before was forgotten.
func later(list []*moment, m *moment) []*moment {
	if n := len(list); m == nil {
		return list
	} else if n > 0 && (m.at <= list[n-1].at || m.warmed != list[n-1].warmed) {
		list = nil
	}
	list = append(slices.Clip(list), m)
	nodes := 0
	for _, k := range list {
		nodes += len(k.nodes)
	}
	for len(list) > 2 && (len(list) > mostMoments || nodes > mostMomentNodes) {
		var kept []*moment
		nodes = 0
		for i, k := range list {
			if i%2 == (len(list)-1)%2 { // the last one stays
				kept = append(kept, k)
				nodes += len(k.nodes)
			}
		}
		list = kept
	}
	return list
}

// snapped is the range nearest around one whose tree is known: from a moment to a moment, or
// to the frame's own. The zero span is all.
func (f *Frame) snapped(from, to int64) span {
	if t := f.Report.Tree.Taken; t != nil {
		from, to = t.Snap(from, to)
		return span{from, to}
	}
	h := f.Report.History
	if h == nil || to <= from || len(f.moments) == 0 {
		return span{}
	}
	out := span{0, h.At}
	for _, m := range f.moments {
		if m.at <= from {
			out.from = m.at
		}
		if m.at >= to && m.at < out.to {
			out.to = m.at
		}
	}
	if out.from >= out.to || out == (span{0, h.At}) {
		return span{}
	}
	return out
}

// at is the tree at a moment; nil where there is none, as at the beginning.
func (f *Frame) at(ns int64) []momentNode {
	for _, m := range f.moments {
		if m.at == ns {
			return m.nodes
		}
	}
	if h := f.Report.History; h != nil && h.At == ns {
		return momentOf(f).nodes
	}
	return nil
}

// within is the tree of a range that [Frame.snapped] gave.
func (f *Frame) within(s span) []*cct.Node {
	if t := f.Report.Tree.Taken; t != nil {
		return t.Within(s.from, s.to)
	}
	type edge struct {
		above, method int32
		async         bool
	}
	before := f.at(s.from)
	places := make(map[edge]int32, len(before))
	var way []int32 // places of the callers
	for i, n := range before {
		way = append(way[:n.depth], int32(i))
		above := int32(-1)
		if n.depth > 0 {
			above = way[n.depth-1]
		}
		places[edge{above, n.method, n.async}] = int32(i)
	}
	type open struct {
		node  *cct.Node
		place int32 // in the tree before, -1 if it is not there
	}
	var roots []*cct.Node
	var stack []open
	for _, n := range f.at(s.to) {
		stack = stack[:n.depth]
		above := int32(-1)
		if n.depth > 0 {
			above = stack[n.depth-1].place
		}
		node := &cct.Node{Method: n.method, Calls: n.calls, Thrown: n.thrown, Self: n.self, Uncertainty: n.off}
		place, known := int32(-1), false
		if n.depth == 0 || above >= 0 {
			if place, known = places[edge{above, n.method, n.async}]; !known {
				place = -1
			}
		}
		wait := n.wait
		if known {
			b := &before[place]
			node.Calls, node.Thrown, node.Self = max(n.calls-b.calls, 0), max(n.thrown-b.thrown, 0), max(n.self-b.self, 0)
			node.Uncertainty = n.off.Minus(b.off)
			wait = max(n.wait-b.wait, 0)
		}
		if n.async {
			node.Details().Async = &cct.Handover{Waited: wait}
		}
		if n.depth == 0 {
			roots = append(roots, node)
		} else {
			up := stack[n.depth-1].node
			up.Children = append(up.Children, node)
		}
		stack = append(stack, open{node, place})
	}
	cct.Totals(roots)
	return pruned(roots)
}

// pruned leaves out what neither was called nor took time.
func pruned(roots []*cct.Node) []*cct.Node {
	used := map[*cct.Node]bool{}
	cct.Walk(roots, func(*cct.Node, int) bool { return true }, func(n *cct.Node, _ int) {
		n.Children = slices.DeleteFunc(n.Children, func(c *cct.Node) bool { return !used[c] })
		used[n] = n.Calls > 0 || n.Self > 0 || len(n.Children) > 0
	})
	return slices.DeleteFunc(roots, func(n *cct.Node) bool { return !used[n] })
}

// A HistoryView is how a recording went over time, and of which ranges the tree is known.
type HistoryView struct {
	At    int64          `json:"at"`    // ns from the beginning of the recording, up to when it goes
	Steps []HistoryStep  `json:"steps"` // in the order of time
	Times *history.Times `json:"times,omitempty"`
	Why   string         `json:"why,omitempty"`  // why times of root calls are not known from some moment on
	Known []int64        `json:"known"`          // moments between which the tree is known; empty where none is
	Shown [2]int64       `json:"shown"`          // the range whose tree the other sections have; 0, 0 is all
	Heat  *HeatView      `json:"heat,omitempty"` // of samples, instead of steps
}

// A HeatView is how many samples there were in each piece of the time.
type HeatView struct {
	Piece   int64   `json:"piece"`   // ns
	Samples []int64 `json:"samples"` // of each piece
	Known   bool    `json:"known"`   // the tree of any range of pieces is known
}

// mostPieces bounds the pieces of time of a heat map.
const mostPieces = 4096

// A HistoryStep is [from, took, calls, root calls, root calls whose time is known, their mean,
// their p99, processor time, GC pauses, these, classes redefined, steps of these]. Times are in
// ns; -1 is unknown.
type HistoryStep [12]int64

func (f *Frame) history(shown span) *HistoryView {
	if s := f.Report.Sampling; s != nil {
		return f.heat(s, shown)
	}
	h := f.Report.History
	if h == nil {
		return &HistoryView{Steps: []HistoryStep{}, Known: []int64{}}
	}
	v := &HistoryView{At: h.At, Steps: make([]HistoryStep, 0, len(h.Steps)), Times: h.Times, Why: h.Why, Known: []int64{}, Shown: [2]int64{shown.from, shown.to}}
	for _, s := range h.Steps {
		v.Steps = append(v.Steps, HistoryStep{s.From, s.Took, s.Calls, s.RootCalls, s.Ended, s.Mean, s.P99, s.CPU, s.GC, s.GCs, s.Classes, s.Batches})
	}
	for _, m := range f.moments {
		if m.at < h.At {
			v.Known = append(v.Known, m.at)
		}
	}
	return v
}

// heat is the history of samples.
func (f *Frame) heat(s *export.Sampling, shown span) *HistoryView {
	v := &HistoryView{Steps: []HistoryStep{}, Known: []int64{}, Shown: [2]int64{shown.from, shown.to}}
	if t := f.Report.Tree.Taken; t != nil {
		v.Heat = &HeatView{Known: true}
		v.Heat.Samples, v.Heat.Piece = t.Counts(mostPieces)
	} else if o := s.OverTime; o != nil {
		v.Heat = &HeatView{Samples: o.Samples, Piece: int64(o.Piece * 1e6)}
	}
	if v.Heat == nil || len(v.Heat.Samples) == 0 {
		v.Heat = nil
		return v
	}
	v.At = v.Heat.Piece * int64(len(v.Heat.Samples))
	return v
}
