package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode/utf16"
	"unicode/utf8"

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
	Heap             *HeapSampling    `json:"heap_sampling,omitempty"`
	Unthrown         int64            `json:"thrown_without_room,omitempty"`
	Metrics          []metric.Metric  `json:"metrics,omitempty"`
	Density          *Density         `json:"allocation_density,omitempty"`
	UncountedMethods []Skipped        `json:"uncounted_methods,omitempty"`
	Events           *jsonEvents      `json:"events,omitempty"`
	Marks            *jsonMarks       `json:"marks,omitempty"`
	Pauses           *Pauses          `json:"pauses,omitempty"`
	Loads            *ClassLoads      `json:"classes_loaded,omitempty"`
	Contention       *Contention      `json:"contention,omitempty"`
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
	h := r.head(f)
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

// head is everything before the methods and trees.
func (r *Report) head(f figures) head {
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
		Heap:             r.Heap,
		Time:             jsonTime{Measured: f.sums.Self, Suspended: f.suspended},
		Events:           r.Events.json(f.sums.Self),
		Marks:            r.Marks.json(),
		Pauses:           r.Pauses,
		Loads:            r.Loads,
		Contention:       r.Contention,
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
	return h
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
