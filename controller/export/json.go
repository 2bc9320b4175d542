package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/history"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// Schema is the number of the JSON schema. A schema only gains fields.
const Schema = 1

// JSONOptions choose what JSON writes.
type JSONOptions struct {
	// Depth, where positive, is how many levels of the tree are written. What
	// lies below is summed up in the field "below" of the lowest ones.
	Depth int
	// Timeline has the field "timeline" written, where there is one.
	Timeline bool
}

// head is everything before "flat" and "tree", in the order in which it is written.
type head struct {
	Schema           int              `json:"schema"`
	Target           jsonTarget       `json:"target"`
	Scheme           string           `json:"scheme"`
	Clock            string           `json:"clock"`
	Recursion        string           `json:"recursion"`
	Roots            []string         `json:"roots"`
	Seconds          float64          `json:"seconds"`
	Ended            string           `json:"ended"`
	Calls            int64            `json:"calls"`
	RootInvocations  int64            `json:"root_invocations"`
	OpenInvocations  int64            `json:"open_invocations"`
	Admitted         jsonAdmitted     `json:"admitted"`
	Exact            bool             `json:"exact"`
	Incomplete       int64            `json:"incomplete"`
	Overflow         int64            `json:"overflow"`
	Uncounted        int64            `json:"uncounted"`
	Lost             int64            `json:"lost"`
	Refused          int64            `json:"refused"`
	Damaged          int64            `json:"damaged,omitempty"`
	Unfollowed       int64            `json:"unfollowed,omitempty"`
	Governor         *Governor        `json:"governor"`
	Gaps             []Gap            `json:"gaps"`
	Late             []Late           `json:"late"`
	Filter           *Filter          `json:"filter,omitempty"`
	Prepared         bool             `json:"prepared"`
	Methods          jsonMethods      `json:"methods"`
	Redefinition     jsonRedefinition `json:"redefinition"`
	Processing       float64          `json:"processing_ms,omitempty"`
	Warmed           float64          `json:"warmed_ms,omitempty"`
	Room             *Room            `json:"room,omitempty"`
	Time             jsonTime         `json:"time"`
	Calibration      *Calibration     `json:"calibration"`
	CPU              *CPU             `json:"cpu"`
	Estimates        *Sampling        `json:"estimates,omitempty"` // how samples were taken beside the recording
	Unthrown         int64            `json:"thrown_without_room,omitempty"`
	Metrics          []metric.Metric  `json:"metrics,omitempty"`
	Density          *Density         `json:"allocation_density,omitempty"`
	UncountedMethods []Skipped        `json:"uncounted_methods,omitempty"`
	Events           *jsonEvents      `json:"events,omitempty"`
	Marks            *jsonMarks       `json:"marks,omitempty"`
	Pauses           *Pauses          `json:"pauses,omitempty"`
	History          *history.History `json:"history,omitempty"` // how it went over time
	Agents           []Agent          `json:"agents,omitempty"`
	Brief            []string         `json:"brief,omitempty"` // what is slow, in sentences
	Notes            []string         `json:"notes"`
	Processes        []Process        `json:"processes,omitempty"`
	Outliers         []Outlier        `json:"outliers,omitempty"`
	Threads          []jsonThread     `json:"threads"`

	Kind     string    `json:"kind,omitempty"`     // "" of a recording
	Sampling *Sampling `json:"sampling,omitempty"` // nil of a recording
}

// A jsonThread has as many entries of "tree" as Trees says, in order.
type jsonThread struct {
	Name      string `json:"thread"`
	ID        int64  `json:"thread_id"`
	Virtual   bool   `json:"virtual,omitempty"`
	Shared    bool   `json:"shared,omitempty"`
	Entries   int64  `json:"root_invocations"`
	Open      int64  `json:"open_invocations"`
	Inside    bool   `json:"inside,omitempty"`
	Suspended int64  `json:"suspended_ns"`
	Trees     int    `json:"trees"`
}

type jsonTarget struct {
	PID  int    `json:"pid"`
	Java string `json:"java"`
	VM   string `json:"vm"`
	Main string `json:"main"`
}

type jsonMethods struct {
	Instrumented int       `json:"instrumented"`
	Reach        int       `json:"within_reach,omitempty"`
	Probes       string    `json:"probes,omitempty"`
	Natives      int       `json:"natives,omitempty"`
	Called       int       `json:"called"`
	Skipped      []Skipped `json:"skipped"`
}

type jsonRedefinition struct {
	Batches      int      `json:"batches"`
	Classes      int      `json:"classes"`
	MS           float64  `json:"ms"`
	LongestPause *float64 `json:"longest_pause_ms"`
	Pauses       *float64 `json:"total_pause_ms,omitempty"`
	LongestWait  *float64 `json:"longest_wait_ms,omitempty"`
	Analysis     *float64 `json:"analysis_ms,omitempty"`
}

// The pointers are nil where the target was not calibrated.
type jsonTime struct {
	Measured   int64  `json:"measured_ns"`
	Suspended  int64  `json:"suspended_ns"`
	Subtracted *int64 `json:"subtracted_ns"`
	Clamped    *int64 `json:"clamped_ns"`
	Charged    *int64 `json:"charged_ns"`
}

// probes is the form of the probes as reports have it.
func (r *Report) probes() string {
	if r.Called {
		return "called"
	}
	return "inlined"
}

// JSON writes the report in schema 1, as docs/formats-report.md describes it:
// one object and a newline, with a line for each method and each tree. A report of
// samples has the field "kind" with the value "sample", and other figures.
func (r *Report) JSON(w io.Writer, o JSONOptions) error {
	if r.Sampling != nil {
		return r.sampleJSON(w, o)
	}
	f := r.figures()
	h := head{
		Schema:           Schema,
		Target:           jsonTarget(r.Target),
		Scheme:           r.Scheme,
		Clock:            r.Clock,
		Recursion:        map[bool]string{false: "expanded", true: "folded"}[r.Fold],
		Roots:            some(r.Roots),
		Seconds:          r.Time.Seconds(),
		Ended:            r.Ended,
		Calls:            f.sums.Calls,
		RootInvocations:  f.invocations,
		OpenInvocations:  f.open,
		Admitted:         jsonAdmitted{f.invocations, max(r.Seen, f.invocations)},
		Exact:            r.Exact(),
		Incomplete:       f.snapshot.Incomplete,
		Overflow:         f.snapshot.Overflow,
		Uncounted:        f.snapshot.Uncounted,
		Brief:            r.brief(f, nil).Lines,
		Lost:             f.snapshot.Lost,
		Refused:          f.snapshot.Refused,
		Damaged:          f.snapshot.Bad,
		Unfollowed:       f.snapshot.Unfollowed,
		Unthrown:         f.snapshot.Unthrown,
		Metrics:          f.snapshot.Metrics.All(),
		Density:          density(f.snapshot.Metrics, f.sums.Counts),
		UncountedMethods: r.UncountedMethods,
		Governor:         r.Governor,
		Gaps:             some(r.Gaps),
		Late:             r.Late,
		Filter:           r.Filter,
		Prepared:         r.Prepared,
		Methods:          jsonMethods{r.Instrumented, r.Reach, r.probes(), r.Natives, f.called(), some(r.Skipped)},
		Redefinition:     r.Redefinition.json(),
		Processing:       milliseconds(r.Processing),
		Warmed:           milliseconds(r.Warmed),
		Room:             r.Room,
		CPU:              r.CPU,
		Estimates:        r.Estimates,
		Time:             jsonTime{Measured: f.sums.Self, Suspended: f.suspended},
		Events:           r.Events.json(f.sums.Self),
		Marks:            r.Marks.json(),
		Pauses:           r.Pauses,
		History:          r.History,
		Agents:           r.Agents,
		Notes:            some(r.Notes),
		Processes:        r.Processes,
		Outliers:         r.Outliers(),
		Threads:          []jsonThread{},
	}
	for _, t := range f.threads {
		h.Threads = append(h.Threads, jsonThread{t.Name, t.ID, t.Virtual, t.Shared, t.RootEntries, t.RootEntries - t.RootReturns, t.Open, t.Suspended, len(t.Roots)})
	}
	if r.Calibration != nil {
		h.Calibration = r.Calibration
		h.Events = r.Events.json(f.sums.Raw)
		h.Time = jsonTime{f.sums.Raw, f.suspended, &r.Correction.Subtracted, &r.Correction.Clamped, &f.sums.Self}
	}
	begin, err := marshal(h, " ")
	if err != nil {
		return fmt.Errorf("json report: %w", err)
	}
	out := jsonWriter{sink: sink{w: w}, depth: o.Depth, metrics: f.snapshot.Metrics, names: map[int32][]byte{}, types: map[string][]byte{}, loaders: r.ambiguous(f.flat), report: r}
	out.bytes(bytes.TrimSuffix(begin, []byte("\n}")))
	for i, m := range h.Metrics {
		out.text(",\n ")
		out.bytes(quote(m.Name))
		out.text(": ")
		out.number(own(f.sums.Counts, i))
	}
	out.lists(f, out.flat, out.tree)
	out.slowest(r.Slowest)
	if o.Timeline {
		out.timeline(r.Timeline)
	}
	out.text("\n}\n")
	if err := out.flush(); err != nil {
		return fmt.Errorf("json report: %w", err)
	}
	return nil
}

// called counts the methods that were called: waiting at a first call that
// never went on makes a node without calls.
func (f figures) called() int {
	n := 0
	for _, e := range f.flat {
		if e.Calls > 0 {
			n++
		}
	}
	return n
}

// A jsonWriter writes the long parts without recursion and without a copy of
// them; encoding/json would need both.
type jsonWriter struct {
	sink
	depth   int
	metrics *metric.Table
	names   map[int32][]byte // methods, quoted
	types   map[string][]byte
	loaders map[int32]bool // methods whose names alone don't say which they are
	report  *Report
}

// ambiguous are the methods that share their names with others.
func (r *Report) ambiguous(flat []cct.Flat) map[int32]bool {
	first := map[string]int32{}
	out := map[int32]bool{}
	for _, e := range flat {
		name := r.Method(e.Method).Name
		if other, ok := first[name]; ok {
			out[other], out[e.Method] = true, true
		}
		first[name] = e.Method
	}
	return out
}

// lists writes the methods and the trees of a report, each by a function.
func (w *jsonWriter) lists(f figures, flat func(cct.Flat), tree func(*cct.Thread, *cct.Node)) {
	w.text(",\n \"flat\": [")
	for i, e := range f.flat {
		w.line(i)
		flat(e)
	}
	w.text("\n ],\n \"tree\": [")
	lines := 0
	for _, t := range f.threads {
		for _, root := range t.Roots {
			w.line(lines)
			tree(t, root)
			lines++
		}
	}
	w.text("\n ]")
}

// line begins the i-th element of a list.
func (w *jsonWriter) line(i int) {
	if i > 0 {
		w.text(",")
	}
	w.text("\n  ")
}

func (w *jsonWriter) flat(e cct.Flat) {
	w.text(`{"method":`)
	w.bytes(w.name(e.Method))
	w.text(`,"loader":`)
	w.bytes(quote(w.report.Method(e.Method).Loader))
	w.field("calls", e.Calls)
	w.field("thrown", e.Thrown)
	w.field("self_ns", e.Self)
	w.field("total_ns", e.Total)
	w.counts(e.Counts, w.report.Counted[e.Method], e.Self)
	w.allocs(e.Allocs)
	w.uncorrected(e.Raw, e.Uncertainty)
	w.cpu(e.Self, e.Sample)
	w.flag("incomplete", e.Incomplete)
	w.flag("counted", w.report.Counted[e.Method])
	w.hidden(e.Method)
	w.source(e.Method)
	w.processes(e.Method)
	w.text("}")
}

func (w *jsonWriter) tree(t *cct.Thread, root *cct.Node) {
	sibling := false // whether the next node has one before it
	cct.Walk([]*cct.Node{root}, func(n *cct.Node, depth int) bool {
		if sibling {
			w.text(",")
		}
		sibling = false
		w.text(`{"method":`)
		w.bytes(w.name(n.Method))
		if w.loaders[n.Method] {
			w.text(`,"loader":`)
			w.bytes(quote(w.report.Method(n.Method).Loader))
		}
		if depth == 0 {
			w.text(`,"thread":`)
			w.bytes(quote(t.Name))
			w.field("thread_id", t.ID)
			w.flag("virtual", t.Virtual)
			w.flag("shared", t.Shared)
		}
		w.field("calls", n.Calls)
		w.field("thrown", n.Thrown)
		w.field("self_ns", n.Self)
		w.field("total_ns", n.Total)
		w.counts(n.Counts, w.report.Counted[n.Method], n.Self)
		w.allocs(n.Allocs)
		w.uncorrected(n.Raw, n.Uncertainty)
		if n.Sample != nil {
			w.cpu(n.Self, *n.Sample)
		}
		w.estimates(n)
		w.flag("incomplete", n.Incomplete)
		w.flag("folded", n.Folded)
		w.flag("counted", w.report.Counted[n.Method])
		if n.Async != nil {
			w.flag("async", true)
			w.field("waited_ns", n.Async.Waited)
			w.field("longest_wait_ns", n.Async.Longest)
		}
		w.hidden(n.Method)
		cut := w.depth > 0 && depth+1 >= w.depth && len(n.Children) > 0
		if cut {
			s := cct.Sum(n.Children)
			w.text(`,"below":{"nodes":`)
			w.number(s.Nodes)
			w.field("calls", s.Calls)
			w.field("thrown", s.Thrown)
			w.field("self_ns", s.Self)
			for i, m := range w.metrics.All() {
				w.field(m.Self, own(s.Counts, i))
			}
			w.text("}")
		}
		w.text(`,"children":[`)
		return !cut
	}, func(*cct.Node, int) {
		w.text("]}")
		sibling = true
	})
}

func (w *jsonWriter) field(name string, v int64) {
	w.text(`,"`)
	w.text(name)
	w.text(`":`)
	w.number(v)
}

// uncorrected writes what a corrected time was and how far it may be off.
func (w *jsonWriter) uncorrected(raw int64, u cct.Uncertainty) {
	if w.report.Calibration == nil {
		return
	}
	w.field("measured_ns", raw)
	w.field("error_ns", u.Error)
	if u.Spread != 0 {
		w.field("spread_ns", u.Spread)
	}
}

// cpu writes how much of a self time was on a core, where that was sampled.
func (w *jsonWriter) cpu(self int64, s cct.Sample) {
	if ns, ok := s.Of(self); ok {
		w.field("cpu_ns", ns)
		w.field("cpu_samples", s.Count)
		w.field("cpu_ran_ns", s.Ran)
		w.field("cpu_wall_ns", s.Wall)
	}
}

// hidden writes how many hidden methods a method can call, if any.
func (w *jsonWriter) hidden(method int32) {
	if n := w.report.Method(method).Hidden; n > 0 {
		w.field("hidden", int64(n))
	}
}

// source writes where a method's code begins, as far as that is known.
func (w *jsonWriter) source(method int32) {
	m := w.report.Method(method)
	if m.Source == "" {
		return
	}
	w.text(`,"source":`)
	w.bytes(quote(m.Source))
	if m.Line > 0 {
		w.field("line", int64(m.Line))
	}
}

func (w *jsonWriter) flag(name string, set bool) {
	if set {
		w.text(`,"`)
		w.text(name)
		w.text(`":true`)
	}
}

func (w *jsonWriter) name(method int32) []byte {
	q, ok := w.names[method]
	if !ok {
		q = quote(w.report.Method(method).Name)
		w.names[method] = q
	}
	return q
}

// writeJSON writes a document of one value; what names it in an error.
func writeJSON(w io.Writer, what string, v any) error {
	b, err := marshal(v, " ")
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("json of %s: %w", what, err)
	}
	return nil
}

// marshal is json.Marshal that leaves "<init>" as it is, and the terminal alone.
func marshal(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return CleanJSON(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), err
}

// CleanJSON escapes what JSON may hold as it is and a terminal would obey, such
// as U+009B. Its meaning stays the same.
func CleanJSON(text []byte) []byte {
	bad := func(r rune) bool { return r != '\n' && unfit(r) }
	if !bytes.ContainsFunc(text, bad) {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		switch {
		case !bad(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// quote writes a JSON string; damaged UTF-8 becomes U+FFFD.
func quote(s string) []byte {
	q, err := marshal(s, "")
	if err != nil { // a string can't fail
		return []byte(`""`)
	}
	return q
}

// some makes an absent list an empty one, since null would say that nobody
// looked.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
