package beside

import (
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// columns are the estimates that each context has as figures: parts of its self time.
var columns = []metric.Metric{
	{
		Name: "core", Title: "~on core", Unit: metric.Nanoseconds, Merge: metric.Sum, Self: "estimated_core_ns", Total: "estimated_core_total_ns",
		Doc: "estimated by samples: the part of the self time in which the thread was on a core",
	},
	{
		Name: "blocked", Title: "~blocked", Unit: metric.Nanoseconds, Merge: metric.Sum, Self: "estimated_blocked_ns",
		Doc: "estimated by samples: the part of the self time in which the thread waited to enter a monitor",
	},
	{
		Name: "below", Title: "~below", Unit: metric.Nanoseconds, Merge: metric.Sum, Self: "estimated_below_ns",
		Doc: "estimated by samples: the part of the self time that methods without probes took, such as the JDK's",
	},
}

// measure gives the contexts of a recording their columns, as far as there is room.
func measure(r *export.Report) {
	table, first := widen(r, columns)
	for n := range cct.All(r.Tree.Roots()) {
		v, s := n.Counts, n.Sample()
		if s == nil || s.Count == 0 || s.Wall == 0 {
			continue
		}
		below, blocked := int64(0), int64(0)
		if n.Below() != nil {
			for _, c := range n.Below().Callees {
				below += c.Samples
			}
		}
		if len(s.States) > int(stack.Blocked) {
			blocked = s.States[stack.Blocked]
		}
		part := func(k, of int64) int64 { return int64(float64(n.Self) * float64(k) / float64(of)) }
		for i, k := range []int64{part(s.Ran, s.Wall), part(blocked, s.Count), part(below, s.Count)} {
			if at := first + i; at < len(table.Rows) {
				v.Own[at] = k
			}
		}
	}
	for _, t := range r.Tree.Threads {
		cct.Totals(t.Roots)
	}
}

// widen gives all contexts of a recording further metrics, as far as there is room; first is the
// place of the first one.
func widen(r *export.Report, more []metric.Metric) (table *metric.Table, first int) {
	rows := append([]metric.Metric{}, r.Tree.Metrics.All()...)
	first = len(rows)
	table = metric.NewTable(append(rows, more...)...)
	r.Tree.Metrics = table
	for n := range cct.All(r.Tree.Roots()) {
		v := &metric.Values{Table: table}
		if n.Counts != nil {
			*v = *n.Counts
			v.Table = table
		}
		n.Counts = v
	}
	return table, first
}
