package cct

import (
	"cmp"
	"math"
	"slices"
)

// A Sample is what looks at running threads have found at one node: for how
// long the thread was on a core, of how long, in ns, and how many looks it were.
type Sample struct {
	Ran, Wall, Count int64

	// Of a tree that is made of samples alone. Unsure are invocations that may have
	// been new, beside Calls of the node; Lines are the source lines that were
	// found, in order, nil if nobody asked.
	Unsure int64
	Lines  []Line

	// States are the looks by what the thread did; nil if that was not kept. Their
	// numbers are those of whoever looked.
	States []int64
}

// A Line is how many looks have found a source line.
type Line struct {
	Line  int32
	Count int64
}

// SortLines puts lines in order.
func SortLines(lines []Line) {
	slices.SortFunc(lines, func(a, b Line) int { return cmp.Compare(a.Line, b.Line) })
}

// Plus adds two samples up.
func (s Sample) Plus(o Sample) Sample {
	return Sample{s.Ran + o.Ran, s.Wall + o.Wall, s.Count + o.Count, s.Unsure + o.Unsure, addLines(s.Lines, o.Lines), addStates(s.States, o.States)}
}

// addStates adds two lists up, which stay as they are.
func addStates(a, b []int64) []int64 {
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(b) == 0 {
		return a
	}
	out := slices.Clone(a)
	for i, n := range b {
		out[i] += n
	}
	return out
}

// addLines merges two lists, which stay as they are.
func addLines(a, b []Line) []Line {
	if len(a) == 0 || len(b) == 0 {
		return append(slices.Clip(a), b...)
	}
	var out []Line
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Line < b[0].Line:
			out, a = append(out, a[0]), a[1:]
		case a[0].Line > b[0].Line:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, Line{a[0].Line, a[0].Count + b[0].Count}), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// Of estimates how much of a time was spent on a core; false without samples.
func (s Sample) Of(ns int64) (cpu int64, ok bool) {
	if s.Wall <= 0 {
		return 0, false
	}
	return int64(float64(ns) * min(1, float64(s.Ran)/float64(s.Wall))), true
}

// Error is by how many ns the time that samples stand for may be off, with a
// probability of 95 %, where they are few among many: that of a Poisson distribution,
// 1.96 times the square root of their number. Errors of parts add up by their squares.
func (s Sample) Error() int64 {
	if s.Count <= 0 {
		return 0
	}
	return int64(math.Round(1.96 * float64(s.Wall) / math.Sqrt(float64(s.Count))))
}

// SampleTotals adds up the samples of every node and of all below it. Nodes
// without any are not in the map.
func SampleTotals(roots []*Node) map[*Node]Sample {
	out := map[*Node]Sample{}
	Walk(roots, func(*Node, int) bool { return true }, func(n *Node, _ int) {
		var s Sample
		if n.Sample() != nil {
			s = *n.Sample()
			s.Lines = nil // of the node alone
		}
		for _, c := range n.Children {
			s = s.Plus(out[c])
		}
		if s.Count > 0 {
			out[n] = s
		}
	})
	return out
}

// addSample puts two samples together, either of which may be nil.
func addSample(a, b *Sample) *Sample {
	switch {
	case b == nil:
		return a
	case a == nil:
		c := *b
		return &c
	}
	c := a.Plus(*b)
	return &c
}
