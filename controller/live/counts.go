package live

import (
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// metrics are those that the frame's recording has beside calls, thrown and time;
// nil for none.
func (f *Frame) metrics() *metric.Table { return f.Report.Tree.Metrics }

// metricsOf are the metrics of a tree: those of a range are not known.
func (f *Frame) metricsOf(k treeKey) []metric.Metric {
	if k.within != (span{}) {
		return nil
	}
	return f.metrics().All()
}

// counts are a context's or method's own and total of each of the frame's metrics
// in turn.
func (f *Frame) counts(v *metric.Values) []int64 {
	rows := f.metrics().All()
	out := make([]int64, 0, 2*len(rows))
	for i := range rows {
		if v == nil {
			out = append(out, 0, 0)
			continue
		}
		out = append(out, v.Own[i], v.Total[i])
	}
	return out
}

// countKey is the key of sortKeys for what amounts.count is.
const countKey = "count"

// countKey turns a sort key that is a field of one of the frame's metrics
// (self_bytecodes) into that of sortKeys, and says what to sort by. Other keys
// stay as they are.
func (f *Frame) countKey(key string) (string, func(*metric.Values) int64) {
	for i, m := range f.metrics().All() {
		if key != "" && (key == m.Self || key == m.Total) {
			own := key == m.Self
			return countKey, func(v *metric.Values) int64 {
				switch {
				case v == nil:
					return 0
				case own:
					return v.Own[i]
				}
				return v.Total[i]
			}
		}
	}
	return key, func(*metric.Values) int64 { return 0 }
}

// addCounts puts a context's figures into a line's, its total where it is the
// outermost on its path.
func (e *flat) addCounts(v *metric.Values, outermost bool) {
	if v == nil {
		return
	}
	if e.Counts == nil {
		e.Counts = &metric.Values{Table: v.Table}
	}
	e.Counts.Add(v)
	if outermost {
		e.Counts.Over(v)
	}
}

// typesOf is a line for each type that a tree's contexts have allocated. It has
// their number and metrics, and no calls or times.
func (f *Frame) typesOf(k treeKey) []flat {
	var list []flat
	for _, t := range cct.TypesOf(f.tree(k)) {
		n := cct.Node{Counts: &metric.Values{Table: f.metrics()}}
		n.Allocated(t.Alloc)
		n.Counts.Total = n.Counts.Own
		list = append(list, flat{Key: export.Clean(t.Type.Name), Contexts: t.Contexts, Counts: n.Counts})
	}
	return list
}
