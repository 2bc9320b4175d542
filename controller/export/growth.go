package export

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// ErrNoMetric is wrapped by errors about reports that lack what is to be
// compared: record them again, with it.
var ErrNoMetric = errors.New("the report has no such figures")

// ErrUnlike is wrapped by errors about reports that can't be compared, such as those
// without a common root: record one of them again, as the other was.
var ErrUnlike = errors.New("the reports can't be compared")

// A Growth says by how much a metric of a program has grown from one recording
// to another, for each root invocation, and in which contexts.
type Growth struct {
	Metric      string
	Names       [2]string  // of the reports; of each pair the first is before
	Most        float64    // by which it may grow, as a share: 0.01 is 1 %
	Invocations [2]int64   // of roots, that have ended
	Each        [2]float64 // of a root call
	Unlike      []Unlike   // what makes the reports unlike
	Inexact     [2]bool    // counts of the report may lack something
	Contexts    []GrowthLine
	More        int // contexts that have grown beyond those
}

// A GrowthLine is a context that does more than before, by its own figure for
// each root invocation.
type GrowthLine struct {
	Path []cct.Method // from the root down to the context
	Each [2]float64
}

// Share is by how much it has grown: 0.02 is 2 % more than before.
func (g *Growth) Share() float64 {
	if g.Each[0] == 0 {
		return g.Each[1]
	}
	return g.Each[1]/g.Each[0] - 1
}

// Passed tells whether it has grown by no more than it may.
func (g *Growth) Passed() bool { return g.Share() <= g.Most }

// GrowthOf compares a metric of two reports: "calls", or the name of one that
// both have. top bounds the contexts. Contexts are matched by path, methods as
// [cct.Matcher] has it. The error wraps [ErrNoMetric] or [ErrUnlike].
func GrowthOf(before, after *Report, name string, most float64, top int) (*Growth, error) {
	g := &Growth{Metric: name, Most: most, Unlike: UnlikeOf(before, after)}
	for _, u := range g.Unlike {
		if u.Grave {
			return nil, fmt.Errorf("%w: %s", ErrUnlike, u.Text)
		}
	}
	var matcher cct.Matcher
	methods := map[int32]cct.Method{}
	var roots [2][]*cct.Node
	var own [2]func(*cct.Node) int64
	for i, r := range []*Report{before, after} {
		f := r.figures()
		if own[i] = ownOf(f.snapshot, name); own[i] == nil {
			return nil, fmt.Errorf("%w: %s has no %s; record it with --count %s", ErrNoMetric, [2]string{"the first", "the second"}[i], name, metric.AskedBy(name))
		}
		if g.Invocations[i] = f.invocations - f.open; g.Invocations[i] <= 0 {
			return nil, fmt.Errorf("%w: no root call has ended in %s", ErrNoMetric, [2]string{"the first", "the second"}[i])
		}
		g.Inexact[i] = !r.Exact() || f.open > 0
		ids := r.methodIDs()
		numbers := map[int32]int32{cct.Unplaced: cct.Unplaced}
		for k, n := range matcher.Add(r.methods(ids)) {
			numbers[ids[k]] = n
			methods[n] = r.Method(ids[k])
		}
		roots[i] = cct.Merge(f.snapshot.Roots())
		for n := range cct.All(roots[i]) {
			n.Method = numbers[n.Method]
			g.Each[i] += float64(own[i](n))
		}
		g.Each[i] /= float64(g.Invocations[i])
	}
	methods[cct.Unplaced] = cct.Method{Name: noRoom}
	each := func(i int, n *cct.Node) float64 {
		if n == nil {
			return 0
		}
		return float64(own[i](n)) / float64(g.Invocations[i])
	}
	// A step is a context with the one above it, as the place of a list.
	type step struct {
		method int32
		above  int
	}
	type pair struct {
		a, b *cct.Node
		at   int
	}
	type grown struct {
		at   int
		each [2]float64
	}
	var steps []step
	var all []grown
	todo := []pair{{&cct.Node{Children: roots[0]}, &cct.Node{Children: roots[1]}, -1}}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if p.at >= 0 {
			if e := [2]float64{each(0, p.a), each(1, p.b)}; e[1] > e[0] {
				all = append(all, grown{p.at, e})
			}
		}
		known := map[int64]*cct.Node{}
		if p.a != nil {
			for _, c := range p.a.Children {
				known[c.Key()] = c
			}
		}
		for _, c := range p.b.Children { // what only the first has does not grow
			steps = append(steps, step{c.Method, p.at})
			todo = append(todo, pair{known[c.Key()], c, len(steps) - 1})
		}
	}
	slices.SortStableFunc(all, func(x, y grown) int {
		return cmp.Or(cmp.Compare(y.each[1]-y.each[0], x.each[1]-x.each[0]), cmp.Compare(x.at, y.at))
	})
	g.More = max(len(all)-top, 0)
	for _, x := range all[:min(top, len(all))] {
		line := GrowthLine{Each: x.each}
		for at := x.at; at >= 0; at = steps[at].above {
			line.Path = append(line.Path, methods[steps[at].method])
		}
		slices.Reverse(line.Path)
		g.Contexts = append(g.Contexts, line)
	}
	return g, nil
}

// ownOf is what a context has of a metric; nil if a tree has no such one.
func ownOf(s *cct.Snapshot, name string) func(*cct.Node) int64 {
	if name == "calls" {
		return func(n *cct.Node) int64 { return n.Calls }
	}
	i := s.Metrics.Index(name)
	if i < 0 {
		return nil
	}
	return func(n *cct.Node) int64 { return own(n.Counts, i) }
}

// growthLevels is how much of a path is written: the context and those above it.
const growthLevels = 4

// Text writes the growth for people. Of the options, Color and Width count.
func (g *Growth) Text(w io.Writer, o TextOptions) error {
	t := textWriter{sink: sink{w: w}, o: o}
	verdict := "passed"
	if !g.Passed() {
		verdict = "failed"
	}
	t.printf("%s: %s a root call: %s before, %s after, %s; at most +%s\n", verdict, g.Metric,
		perRoot(g.Each[0]), perRoot(g.Each[1]), percentage(g.Share()), percentage(g.Most)[1:])
	for i, when := range []string{"before", "after"} {
		note := ""
		if g.Inexact[i] {
			note = "; not exact, see the report"
		}
		t.printf("%s: %s, %s%s\n", when, Clean(cmp.Or(g.Names[i], "?")), Plural(g.Invocations[i], "root call", "root calls"), note)
	}
	for _, u := range g.Unlike {
		if u.Kind != UnlikeCold && u.Kind != UnlikeClock { // counts don't depend on them
			t.printf("note: %s\n", u.Text)
		}
	}
	if len(g.Contexts) == 0 {
		t.text("No context has grown.\n")
	} else {
		var all []cct.Method
		for _, l := range g.Contexts {
			all = append(all, l.Path...)
		}
		labels := labelsOf(all)
		t.section("Call paths that have grown, for each root call")
		table := table{head: []string{"change", "before", "after", "call path"}}
		for _, l := range g.Contexts {
			table.add(pathLabel(l.Path, labels), "", "+"+perRoot(l.Each[1]-l.Each[0]), perRoot(l.Each[0]), perRoot(l.Each[1]))
		}
		table.write(&t.sink, o.Color, o.Width)
		if g.More > 0 {
			t.printf("and %s\n", Plural(int64(g.More), "call path", "call paths"))
		}
	}
	if err := t.flush(); err != nil {
		return fmt.Errorf("growth: %w", err)
	}
	return nil
}

// perRoot writes a figure of a root invocation.
func perRoot(v float64) string {
	if v < 100 && v != float64(int64(v)) {
		return digits(v)
	}
	return Count(int64(v + 0.5))
}

// percentage writes a share with its sign.
func percentage(share float64) string { return fmt.Sprintf("%+.3g %%", 100*share) }

type jsonGrowth struct {
	Schema   int              `json:"schema"`
	Kind     string           `json:"kind"`
	Metric   string           `json:"metric"`
	Passed   bool             `json:"passed"`
	Growth   float64          `json:"growth"`
	Most     float64          `json:"max_growth"`
	Before   jsonGrowthSide   `json:"before"`
	After    jsonGrowthSide   `json:"after"`
	Contexts []jsonGrowthLine `json:"contexts"`
	More     int              `json:"more_contexts"`
	Unlike   []Unlike         `json:"unlike"`
}

type jsonGrowthSide struct {
	File        string  `json:"file"`
	Invocations int64   `json:"root_invocations"`
	Each        float64 `json:"per_root_invocation"`
	Exact       bool    `json:"exact"`
}

type jsonGrowthLine struct {
	Path   []string `json:"path"`
	Before float64  `json:"before"`
	After  float64  `json:"after"`
}

// JSON writes the growth in schema 1, as docs/formats-report.md describes it.
func (g *Growth) JSON(w io.Writer) error {
	side := func(i int) jsonGrowthSide {
		return jsonGrowthSide{g.Names[i], g.Invocations[i], g.Each[i], !g.Inexact[i]}
	}
	j := jsonGrowth{Schema, "growth", g.Metric, g.Passed(), g.Share(), g.Most, side(0), side(1), []jsonGrowthLine{}, g.More, some(g.Unlike)}
	for _, l := range g.Contexts {
		line := jsonGrowthLine{Before: l.Each[0], After: l.Each[1]}
		for _, m := range l.Path {
			line.Path = append(line.Path, m.Name)
		}
		j.Contexts = append(j.Contexts, line)
	}
	return writeJSON(w, "the growth", j)
}

// pathLabel is the end of a path in one line.
func pathLabel(path []cct.Method, labels map[cct.Method]string) string {
	label := ""
	if len(path) > growthLevels {
		label, path = "… > ", path[len(path)-growthLevels:]
	}
	for i, m := range path {
		if i > 0 {
			label += " > "
		}
		label += labels[m]
	}
	return label
}
