package collect

import (
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// Counts are the samples in each piece of the time since the first one, of which there are most at the
// most, and how long a piece is, in nanoseconds.
func (c *Collector) Counts(most int) (counts []int64, piece int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tree.Counts(most)
}

// A Past is what was sampled up to a moment, of which ranges of time can be looked at. It doesn't
// change with later samples.
type Past struct {
	tree   *cct.Snapshot
	lookup cct.Lookup
}

// Past is what was sampled so far.
func (c *Collector) Past() *Past {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &Past{c.tree.Snapshot(), c.tree.Lookup()}
}

// Within is what was sampled in a range of time, nanoseconds from the first sample on, and in fact in
// the range of whole steps around it. Of a range it isn't known how often methods were entered, nor which
// threads had the samples: Entries are -1, and there are no threads.
func (p *Past) Within(from, to int64) View {
	t := p.tree.Taken
	var roots []*cct.Node
	if f, u := t.Snap(from, to); u > f {
		from, to = f, u
		roots = cct.Merge(t.Within(from, to))
	} else {
		from, to = 0, t.Until
		roots = cct.Merge(t.Within(0, t.Until))
	}
	v := View{Took: time.Duration(to - from), From: from, To: to, Tree: roots, Lookup: p.lookup}
	sum := cct.Sum(roots)
	v.Time = sum.Self
	totals := map[int32]int64{}
	samplesBelow(roots, totals)
	for _, m := range cct.FlatOf(roots) {
		method, _ := p.lookup(m.Method)
		v.Samples += m.Sample.Count
		v.Ran += m.Sample.Ran
		v.Methods = append(v.Methods, Line{
			Method: method, Self: m.Sample.Count, Total: totals[m.Method], SelfTime: m.Self, TotalTime: m.Total, Entries: -1,
		})
	}
	return v
}

// samplesBelow adds up the samples of each method and of what it called, those of recursion once.
func samplesBelow(roots []*cct.Node, to map[int32]int64) {
	all := cct.SampleTotals(roots)
	open := map[int32]int{}
	cct.Walk(roots, func(n *cct.Node, _ int) bool {
		if open[n.Method] == 0 {
			to[n.Method] += all[n].Count
		}
		open[n.Method]++
		return true
	}, func(n *cct.Node, _ int) { open[n.Method]-- })
}
