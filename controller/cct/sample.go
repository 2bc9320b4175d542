package cct

// A Sample is what looks at running threads have found at one node: for how
// long the thread was on a core, of how long, in ns, and how many looks it were.
type Sample struct {
	Ran, Wall, Count int64
}

// Plus adds two samples up.
func (s Sample) Plus(o Sample) Sample {
	return Sample{s.Ran + o.Ran, s.Wall + o.Wall, s.Count + o.Count}
}

// Of estimates how much of a time was spent on a core; false without samples.
func (s Sample) Of(ns int64) (cpu int64, ok bool) {
	if s.Wall <= 0 {
		return 0, false
	}
	return int64(float64(ns) * min(1, float64(s.Ran)/float64(s.Wall))), true
}

// SampleTotals adds up the samples of every node and of all below it. Nodes
// without any are not in the map.
func SampleTotals(roots []*Node) map[*Node]Sample {
	out := map[*Node]Sample{}
	Walk(roots, func(*Node, int) bool { return true }, func(n *Node, _ int) {
		var s Sample
		if n.Sample != nil {
			s = *n.Sample
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
