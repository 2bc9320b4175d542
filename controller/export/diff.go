package export

import (
	"cmp"
	"fmt"
	"io"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// A Diff is what differs between two recordings. Of each pair the first is
// before, the second after.
type Diff struct {
	Names       [2]string
	Each        bool     // figures of after are scaled to as many root calls as before
	Invocations [2]int64 // of roots, as recorded
	Total       [2]int64 // ns of all trees

	Unlike  []Unlike // what makes the recordings unlike
	Verdict string   // what they show, in a sentence
	Differ  int      // methods whose own time differs beyond noise
	Within  int      // methods whose difference is noise

	// Of reports that are made of samples; else 0. Each scales to as many seconds then.
	Samples [2]int64
	Seconds [2]float64

	Tree    []DiffLine
	Small   int        // contexts beside those of Tree that hardly differ
	Methods []DiffLine // those whose own time differs most, of those beyond noise, the largest first
	More    int        // methods beyond noise that are not listed

	Metrics []DiffMetric // that both recordings have beside calls and time
}

// A DiffLine is a context or a method before and after; times in ns.
type DiffLine struct {
	Method             cct.Method
	Depth              int // of a context
	Calls, Self, Total [2]int64
	SelfBound          int64 // by how much the self times of an unchanged program may differ, ns
	TotalBound         int64
	Closed             bool // it calls others, which are left out
	Async              bool // the calls are executions of tasks that the caller handed over
}

// Text writes the difference for people. Of the options, Color and Width count.
func (d *Diff) Text(w io.Writer, o TextOptions) error {
	t := textWriter{sink: sink{w: w}, o: o}
	for i, when := range []string{"before", "after "} {
		what := Plural(d.Invocations[i], "root call", "root calls")
		if d.sampled() {
			what = Plural(d.Samples[i], "sample", "samples")
			if d.Seconds[i] > 0 { // collapsed stacks don't say
				what += " in " + Duration(int64(1e9*d.Seconds[i]))
			}
		}
		t.printf("%s  %s: %s, %s\n", when, Clean(cmp.Or(d.Names[i], "?")), what, Duration(d.Total[i]))
	}
	calls := "calls"
	if d.sampled() {
		calls = "entries"
		if d.Each && d.Seconds[0] > 0 && d.Seconds[1] > 0 {
			t.text("figures of after are scaled to as many seconds as before\n")
		}
	} else if d.Each && d.Invocations[0] != d.Invocations[1] {
		t.text("figures of after are scaled to as many root calls as before\n")
	}
	for _, u := range d.Unlike {
		mark := "note"
		if u.Grave {
			mark = "not comparable"
		}
		t.printf("%s: %s\n", mark, u.Text)
	}
	if d.Verdict != "" {
		t.printf("%s\n", d.Verdict)
	}
	var all []cct.Method
	for _, list := range [][]DiffLine{d.Tree, d.Methods} {
		for _, l := range list {
			all = append(all, l.Method)
		}
	}
	labels := labelsOf(all)
	t.section("Calling context tree, by total time")
	tree := table{head: []string{"change", "noise", "before", "after", calls, "after", "method"}}
	for _, l := range d.Tree {
		label := labels[l.Method]
		if l.Async {
			label = asyncMark + label + " (asynchronous)"
		}
		if l.Closed {
			label += " …"
		}
		tree.add(fmt.Sprintf("%*s%s", 2*min(l.Depth, mostIndent), "", label), dim(l.Total, l.TotalBound),
			change(l.Total), d.bound(l.TotalBound), Duration(l.Total[0]), Duration(l.Total[1]), Count(l.Calls[0]), Count(l.Calls[1]))
	}
	tree.write(&t.sink, o.Color, o.Width)
	if d.Small > 0 {
		t.printf("and %s that hardly differ\n", Plural(int64(d.Small), "call path", "call paths"))
	}
	t.section("Methods whose self time differs beyond noise")
	if len(d.Methods) == 0 {
		t.text("none\n")
		d.metricSections(&t)
		if err := t.flush(); err != nil {
			return fmt.Errorf("difference: %w", err)
		}
		return nil
	}
	flat := table{head: []string{"change", "noise", "before", "after", calls, "after", "method"}}
	for _, l := range d.Methods {
		flat.add(labels[l.Method], "", change(l.Self), d.bound(l.SelfBound), Duration(l.Self[0]), Duration(l.Self[1]), Count(l.Calls[0]), Count(l.Calls[1]))
	}
	flat.write(&t.sink, o.Color, o.Width)
	if d.More > 0 {
		t.printf("and %s\n", Plural(int64(d.More), "method", "methods"))
	}
	d.metricSections(&t)
	if err := t.flush(); err != nil {
		return fmt.Errorf("difference: %w", err)
	}
	return nil
}

func (d *Diff) sampled() bool { return d.Seconds != [2]float64{} || d.Samples != [2]int64{} }

// bound writes how far an unchanged program's times go apart; nothing where nothing compares.
func (d *Diff) bound(ns int64) string {
	if Grave(d.Unlike) {
		return ""
	}
	return "± " + Duration(ns)
}

// dim is the style of what differs by no more than noise.
func dim(of [2]int64, bound int64) string {
	if max(of[1]-of[0], of[0]-of[1]) <= bound {
		return "\x1b[2m"
	}
	return ""
}

// change writes a difference with its sign.
func change(of [2]int64) string {
	switch d := of[1] - of[0]; {
	case d > 0:
		return "+" + Duration(d)
	default:
		return Duration(d)
	}
}

type jsonDiff struct {
	Schema  int            `json:"schema"`
	Kind    string         `json:"kind"`
	Before  jsonDiffSide   `json:"before"`
	After   jsonDiffSide   `json:"after"`
	Scaled  bool           `json:"scaled"`
	Unlike  []Unlike       `json:"unlike"`
	Verdict string         `json:"verdict"`
	Differ  int            `json:"methods_beyond_noise"`
	Within  int            `json:"methods_within_noise"`
	Tree    []jsonDiffLine `json:"tree"`
	Small   int            `json:"hardly_differ"`
	Methods []jsonDiffLine `json:"methods"`
	More    int            `json:"more_methods"`

	Metrics []jsonDiffMetric `json:"metrics,omitempty"`
}

type jsonDiffSide struct {
	File        string `json:"file"`
	Invocations int64  `json:"root_invocations"`
	Total       int64  `json:"total_ns"`

	Samples int64   `json:"samples,omitempty"`
	Seconds float64 `json:"seconds,omitempty"` // with samples
}

type jsonDiffLine struct {
	Depth  *int     `json:"depth,omitempty"` // of contexts only
	Method string   `json:"method"`
	Loader string   `json:"loader,omitempty"`
	Calls  [2]int64 `json:"calls"`
	Self   [2]int64 `json:"self_ns"`
	Total  [2]int64 `json:"total_ns"`
	// Absent where nothing compares.
	SelfBound  *int64 `json:"self_noise_ns,omitempty"`
	TotalBound *int64 `json:"total_noise_ns,omitempty"`

	Closed bool `json:"closed,omitempty"`
	Async  bool `json:"async,omitempty"`
}

// JSON writes the difference in schema 1, as docs/formats-report.md describes it.
func (d *Diff) JSON(w io.Writer) error {
	j := jsonDiff{
		Schema: Schema, Kind: "difference", Scaled: d.Each, Unlike: some(d.Unlike), Verdict: d.Verdict, Differ: d.Differ, Within: d.Within, Small: d.Small, More: d.More,
		Before: d.side(0), After: d.side(1),
		Tree: []jsonDiffLine{}, Methods: []jsonDiffLine{},
	}
	for _, l := range d.Tree {
		line := l.json(d)
		line.Depth = &l.Depth
		j.Tree = append(j.Tree, line)
	}
	for _, l := range d.Methods {
		j.Methods = append(j.Methods, l.json(d))
	}
	for i := range d.Metrics {
		j.Metrics = append(j.Metrics, d.Metrics[i].json())
	}
	return writeJSON(w, "the difference", j)
}

func (d *Diff) side(i int) jsonDiffSide {
	return jsonDiffSide{d.Names[i], d.Invocations[i], d.Total[i], d.Samples[i], d.Seconds[i]}
}

func (l *DiffLine) json(d *Diff) jsonDiffLine {
	j := jsonDiffLine{Method: l.Method.Name, Loader: l.Method.Loader, Calls: l.Calls, Self: l.Self, Total: l.Total, Closed: l.Closed, Async: l.Async}
	if !Grave(d.Unlike) {
		j.SelfBound = &l.SelfBound
		if l.TotalBound > 0 {
			j.TotalBound = &l.TotalBound
		}
	}
	return j
}
