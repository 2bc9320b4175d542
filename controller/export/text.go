package export

import (
	"fmt"
	"io"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/application"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// Defaults of TextOptions.
const (
	DefaultTop   = 20
	DefaultDepth = 12
)

// TextOptions choose what Text writes.
type TextOptions struct {
	Top   int    // methods in the table of hot methods; 0 for all
	Depth int    // levels of the tree; 0 for all
	Color bool   // with escape sequences; for terminals
	Width int    // columns that tables are cut to, and prose is wrapped to; 0: neither
	Part  Part   // what is written
	Sort  string // of hot methods: "self" (or ""), "total", "calls", "thrown", "error", "name"
	// Contexts, where positive, is how many nodes of the tree are written: those
	// with the most time. The rest is folded; Depth counts no more.
	Contexts int
	// Frameworks says how their levels are folded in trees; nil shows all of them.
	Frameworks *Frameworks
}

// Frameworks say how levels of frameworks are folded in the trees of a text report.
type Frameworks struct {
	App  []string // the application's packages, see [application.New]; nil leaves them to its list
	Hint string   // what shows the levels, as "--unfold shows them"
}

// A Part is some of a text report.
type Part int

// Parts of a text report.
const (
	All Part = iota
	Tree
	Methods
	Threads
)

// Sorts are the values that TextOptions.Sort has.
var Sorts = func() []string {
	sorts := []string{"self", "total", "calls", "thrown", "error", "name"}
	for _, m := range metric.Counted() {
		sorts = append(sorts, m.Name)
	}
	return sorts
}()

const (
	smallShare   = 0.01 // branches below this part of all time are folded
	mostChildren = 20   // children of one node that are shown
	mostRows     = 2000 // of the tree; the rest is folded where it is
	mostIndent   = 40   // levels that are indented; deeper ones say their depth
	mostThreads  = 10
	mostReasons  = 8
	mostRoots    = 10

	styleHot  = "\x1b[1m"
	styleFold = "\x1b[2m"
	styleHead = "\x1b[1m"
)

// Text writes the report for people: what is slow in sentences, the hot methods, the tree of
// all threads merged, and what the profiler did to the target.
func (r *Report) Text(w io.Writer, o TextOptions) error {
	f := r.figures()
	t := textWriter{sink: sink{w: w}, report: r, figures: f, o: o, labels: r.labels(f.flat)}
	if k := o.Frameworks; k != nil {
		rules, err := application.New(k.App, r.Target.Main)
		if err != nil {
			return fmt.Errorf("text report: %w", err)
		}
		t.rules = rules
	}
	wants := func(p Part) bool { return o.Part == All && f.sums.Nodes > 0 || o.Part == p }
	if o.Part == All {
		t.wrapped(t.summary)
		t.wrapped(t.inShort)
	}
	if wants(Methods) {
		t.hotMethods()
		t.allocations()
		t.survivors()
		t.contention()
		t.heap()
		t.classLoads()
	}
	if wants(Tree) {
		t.tree()
	}
	if o.Part == All && f.sums.Nodes > 0 {
		t.slowest()
	}
	if wants(Threads) && (len(f.threads) > 1 || o.Part == Threads) {
		t.threadTable()
	}
	if o.Part == All {
		t.processTables()
	}
	if o.Part == All {
		t.wrapped(t.footer)
	}
	if err := t.flush(); err != nil {
		return fmt.Errorf("text report: %w", err)
	}
	return nil
}

type textWriter struct {
	sink
	figures
	report *Report
	o      TextOptions
	labels map[int32]string
	rules  *application.Rules // nil shows all levels of frameworks
	view   *application.View  // of the tree that is written; nil where nothing is folded
}

func (t *textWriter) printf(format string, args ...any) { t.text(fmt.Sprintf(format, args...)) }

// wrapped writes prose, fitted to the terminal if there is one.
func (t *textWriter) wrapped(part func()) {
	if t.o.Width <= 0 {
		part()
		return
	}
	var text strings.Builder
	out := t.sink
	t.sink = sink{w: &text}
	part()
	_ = t.flush() // a Builder takes everything
	t.sink = out
	t.text(wrap(text.String(), t.o.Width))
}

func (t *textWriter) section(title string) {
	if t.o.Color {
		title = styleHead + title + styleEnd
	}
	if t.o.Part == All {
		t.text("\n")
	}
	t.printf("%s\n\n", title)
}

// labels are the methods' names, shortened.
func (r *Report) labels(flat []cct.Flat) map[int32]string {
	methods := make([]cct.Method, 0, len(flat))
	for _, e := range flat {
		methods = append(methods, r.Method(e.Method))
	}
	names := labelsOf(methods)
	labels := make(map[int32]string, len(flat))
	for i, e := range flat {
		labels[e.Method] = names[methods[i]]
	}
	return labels
}

// labelsOf shortens names: descriptors and loaders are shown only where names
// would be the same without them.
func labelsOf(methods []cct.Method) map[cct.Method]string {
	short := map[string]map[string]bool{} // name without descriptor -> full names
	full := map[string]map[string]bool{}  // full name -> loaders
	put := func(m map[string]map[string]bool, key, value string) {
		if m[key] == nil {
			m[key] = map[string]bool{}
		}
		m[key][value] = true
	}
	bare := func(name string) string { s, _, _ := strings.Cut(name, "("); return s }
	for _, m := range methods {
		put(short, bare(m.Name), m.Name)
		put(full, m.Name, m.Loader)
	}
	labels := make(map[cct.Method]string, len(methods))
	for _, m := range methods {
		label := bare(m.Name)
		if label == "" || len(short[label]) > 1 {
			label = m.Name
		}
		if len(full[m.Name]) > 1 {
			label += " [" + m.Loader + "]"
		}
		labels[m] = Clean(label)
	}
	return labels
}

// target writes what is profiled, and from where.
func (t *textWriter) target() {
	r := t.report
	main := r.Target.Main
	if main == "" {
		main = "JVM"
	}
	of := fmt.Sprintf("pid %d", r.Target.PID)
	if n := r.reporting(); n > 1 {
		of = Plural(n, "process", "processes")
	} else if r.Target.PID == 0 && r.Sampling != nil {
		of = "from a file of " + r.Sampling.Source
	}
	t.printf("%s (%s", Clean(main), of)
	if r.Target.Java != "" {
		t.printf(", Java %s", Clean(r.Target.Java))
	}
	t.text(")\n")
	for i, root := range r.Roots {
		if i == mostRoots && len(r.Roots) > mostRoots+1 {
			t.printf("     and %s\n", Plural(int64(len(r.Roots)-i), "more", "more"))
			break
		}
		if i == 0 {
			t.text("root ")
		} else {
			t.text("     ")
		}
		t.text(Clean(root) + "\n")
	}
}

func (t *textWriter) summary() {
	r := t.report
	if r.Sampling != nil {
		t.sampleSummary()
		return
	}
	t.target()
	t.printf("%s, duration %s", r.How(), Duration(int64(r.Time)))
	if r.Ended != "" {
		t.printf(" (%s)", Clean(r.Ended))
	}
	t.text("\n")
	if t.sums.Nodes == 0 && t.invocations == 0 {
		t.text("Nothing was recorded: no root call began while recording.\n")
		return
	}
	t.printf("%s, %s on %s, ",
		Plural(t.invocations, "root call", "root calls"),
		Plural(t.sums.Calls, "call", "calls"),
		Plural(t.sums.Nodes, "call path", "call paths"))
	if r.Calibration == nil {
		t.printf("total time (all threads) %s, with the profiler's overhead, which could not be measured\n", Duration(t.sums.Self))
	} else {
		t.printf("total time (all threads) %s: %s measured, %s overhead removed\n", Duration(t.sums.Self), Duration(t.sums.Raw), Duration(r.Correction.Subtracted))
	}
	for i, m := range t.report.metrics().All() {
		t.printf("%s %s\n", figure(m.Unit, own(t.sums.Counts, i)), m.Title)
	}
	t.exactness()
	t.admitted()
	t.governor()
	if t.open > 0 {
		t.printf("%s still running at the end, included up to there\n", Plural(t.open, "root call was", "root calls were"))
	}
}
