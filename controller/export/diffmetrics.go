package export

import (
	"cmp"
	"math"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// A DiffMetric is what differs between two recordings of a metric that both have beside calls
// and time. Counts have no noise of measurement: what differs is what the program did.
type DiffMetric struct {
	Metric   metric.Metric
	Total    [2]int64         // of all trees, the second scaled as the difference is
	Contexts []DiffMetricLine // whose own figure differs, the largest difference first
	More     int              // contexts that differ beyond these
}

// A DiffMetricLine is a context before and after.
type DiffMetricLine struct {
	Path        []cct.Method // from the root down to the context
	Self, Total [2]int64
}

// DiffMetrics compares the metrics that both reports have. With each, figures of after are
// scaled to as many ended root invocations as before. top bounds the contexts of each. Contexts are
// matched by path, methods as [cct.Matcher] has it. Neither report is changed.
func DiffMetrics(before, after *Report, each bool, top int) []DiffMetric {
	var rows []metric.Metric
	for _, m := range before.metrics().All() {
		if after.metrics().Index(m.Name) >= 0 {
			rows = append(rows, m)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	var matcher cct.Matcher
	methods := map[int32]cct.Method{cct.Unplaced: {Name: noRoom}}
	var roots [2][]*cct.Node
	var ended [2]int64
	for i, r := range []*Report{before, after} {
		ids := r.methodIDs()
		numbers := map[int32]int32{cct.Unplaced: cct.Unplaced}
		for k, n := range matcher.Add(r.methods(ids)) {
			numbers[ids[k]] = n
			methods[n] = r.Method(ids[k])
		}
		roots[i] = cct.Merge(r.Tree.Roots())
		for n := range cct.All(roots[i]) {
			n.Method = numbers[n.Method]
		}
		for _, t := range r.Tree.Threads {
			ended[i] += t.RootReturns
		}
	}
	scale := 1.0
	if each && ended[0] > 0 && ended[1] > 0 {
		scale = float64(ended[0]) / float64(ended[1])
	}
	steps := pairSteps(roots)
	var out []DiffMetric
	for _, m := range rows {
		out = append(out, diffMetric(m, roots, steps, methods, scale, top))
	}
	return out
}

// A diffStep is a context of one or both trees with the one above it, as the place of a list; -1
// above roots.
type diffStep struct {
	pair  [2]*cct.Node // nil in a tree that lacks it
	above int
}

// pairSteps puts the contexts of two trees together by path, callers before their callees.
func pairSteps(roots [2][]*cct.Node) []diffStep {
	steps := []diffStep{{[2]*cct.Node{{Children: roots[0]}, {Children: roots[1]}}, -1}}
	for at := 0; at < len(steps); at++ {
		known := map[int64]int{}
		for side, n := range steps[at].pair {
			if n == nil {
				continue
			}
			for _, c := range n.Children {
				k, ok := known[c.Key()]
				if !ok {
					k = len(steps)
					known[c.Key()] = k
					steps = append(steps, diffStep{above: at})
				}
				steps[k].pair[side] = c
			}
		}
	}
	return steps
}

func diffMetric(m metric.Metric, roots [2][]*cct.Node, steps []diffStep, methods map[int32]cct.Method, scale float64, top int) DiffMetric {
	d := DiffMetric{Metric: m}
	scaled := func(side int, v int64) int64 {
		if side == 1 {
			return int64(math.Round(float64(v) * scale))
		}
		return v
	}
	for side := range roots {
		var sum int64
		for _, n := range roots[side] {
			_, total := diffFigure(n, m.Name)
			sum += total
		}
		d.Total[side] = scaled(side, sum)
	}
	type change struct {
		at          int
		self, total [2]int64
	}
	var all []change
	for at, s := range steps[1:] {
		c := change{at: at + 1}
		for side, n := range s.pair {
			self, total := diffFigure(n, m.Name)
			c.self[side], c.total[side] = scaled(side, self), scaled(side, total)
		}
		if c.self[0] != c.self[1] {
			all = append(all, c)
		}
	}
	size := func(c change) int64 { return max(c.self[1]-c.self[0], c.self[0]-c.self[1]) }
	slices.SortStableFunc(all, func(x, y change) int { return cmp.Or(cmp.Compare(size(y), size(x)), cmp.Compare(x.at, y.at)) })
	d.More = max(len(all)-top, 0)
	for _, c := range all[:min(top, len(all))] {
		line := DiffMetricLine{Self: c.self, Total: c.total}
		for at := c.at; at > 0; at = steps[at].above {
			n := cmp.Or(steps[at].pair[0], steps[at].pair[1])
			line.Path = append(line.Path, methods[n.Method])
		}
		slices.Reverse(line.Path)
		d.Contexts = append(d.Contexts, line)
	}
	return d
}

// diffFigure is what a context has of a metric, on its own and with all that it calls; 0 of none.
func diffFigure(n *cct.Node, name string) (self, total int64) {
	if n == nil || n.Counts == nil {
		return 0, 0
	}
	i := n.Counts.Table.Index(name)
	if i < 0 {
		return 0, 0
	}
	return n.Counts.Own[i], n.Counts.Total[i]
}

// metricSections are the sections of a difference about its metrics.
func (d *Diff) metricSections(t *textWriter) {
	for _, m := range d.Metrics {
		change := m.Total[1] - m.Total[0]
		t.section("Contexts whose own " + m.Metric.Title + " differ")
		t.printf("in all %s before, %s after, %s\n", Count(m.Total[0]), Count(m.Total[1]), signed(change))
		if len(m.Contexts) == 0 {
			t.text("none\n")
			continue
		}
		var all []cct.Method
		for _, l := range m.Contexts {
			all = append(all, l.Path...)
		}
		labels := labelsOf(all)
		table := table{head: []string{"change", "before", "after", "call path"}}
		for _, l := range m.Contexts {
			table.add(pathLabel(l.Path, labels), "", signed(l.Self[1]-l.Self[0]), Count(l.Self[0]), Count(l.Self[1]))
		}
		table.write(&t.sink, t.o.Color, t.o.Width)
		if m.More > 0 {
			t.printf("and %s\n", Plural(int64(m.More), "call path", "call paths"))
		}
	}
}

func signed(n int64) string {
	if n > 0 {
		return "+" + Count(n)
	}
	return Count(n)
}

type jsonDiffMetric struct {
	Name     string               `json:"name"`
	Unit     metric.Unit          `json:"unit"`
	Total    [2]int64             `json:"total"`
	Contexts []jsonDiffMetricLine `json:"contexts"`
	More     int                  `json:"more_contexts"`
}

type jsonDiffMetricLine struct {
	Path  []string `json:"path"`
	Self  [2]int64 `json:"self"`
	Total [2]int64 `json:"total"`
}

func (m *DiffMetric) json() jsonDiffMetric {
	j := jsonDiffMetric{Name: m.Metric.Name, Unit: m.Metric.Unit, Total: m.Total, Contexts: []jsonDiffMetricLine{}, More: m.More}
	for _, l := range m.Contexts {
		path := []string{}
		for _, of := range l.Path {
			path = append(path, of.Name)
		}
		j.Contexts = append(j.Contexts, jsonDiffMetricLine{path, l.Self, l.Total})
	}
	return j
}
