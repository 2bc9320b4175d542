package export

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// A Comparison holds what the schemes showed of one program, one after another:
// the columns of Dmitriev, "Design of JFluid", Tables 1 and 2, and some more. [Comparison.Advice]
// says which to use.
type Comparison struct {
	Target  Target   // of whole runs the first one's
	Command []string // of whole runs; nil of a target that ran all the time
	Clock   string
	Roots   []string // as resolved
	Notes   []string // whole sentences that the reader should know

	Whole *time.Duration // of the program without a profiler; nil except for whole runs
	Root  *BareRoot      // nil where it was not measured
	Runs  []SchemeRun    // in the order in which they were made
}

// A BareRoot is a root timed alone, with no probe beneath it ([Timing]).
type BareRoot struct {
	Invocations int64
	Total       time.Duration // corrected by the timer's own cost, where that is known
}

// Mean is an invocation's time in ns, 0 without any.
func (b *BareRoot) Mean() float64 { return mean(float64(b.Total), b.Invocations) }

func mean(total float64, n int64) float64 {
	if n == 0 {
		return 0
	}
	return total / float64(n)
}

// A SchemeRun is what one scheme showed. Times are of threads inside the
// subgraph, over all of them.
type SchemeRun struct {
	Scheme string
	Armed  time.Duration  // from the command until it recorded
	Time   time.Duration  // recorded
	Whole  *time.Duration // of the program; nil except for whole runs
	Ended  string

	Calls        int64
	Invocations  int64 // of roots, from outside
	Nested       bool  // roots called roots: a timing has more invocations than that
	Exact        bool  // no call is missing, and no scheme's trap timed out
	Instrumented int
	Called       int

	Redefinition Redefinition
	Processing   time.Duration
	Measured     time.Duration  // inside, probes included
	Suspended    time.Duration  // waiting for the profiler; not in Measured
	Subtracted   *time.Duration // what the probes took of Measured; nil where that could not be measured
	Charged      *time.Duration // Measured, corrected; nil where Subtracted is
}

// NewSchemeRun takes what is compared from a recording's report. Armed and Whole
// remain to be set.
func NewSchemeRun(r *Report) SchemeRun {
	f := r.figures()
	run := SchemeRun{
		Scheme: r.Scheme, Time: r.Time, Ended: r.Ended,
		Calls: f.sums.Calls, Invocations: f.invocations, Instrumented: r.Instrumented, Called: f.called(),
		Exact:        r.Exact(),
		Redefinition: r.Redefinition, Processing: r.Processing,
		Measured: time.Duration(f.sums.Self), Suspended: time.Duration(f.suspended),
	}
	if r.Calibration != nil {
		run.Measured = time.Duration(f.sums.Raw)
		subtracted, charged := time.Duration(r.Correction.Subtracted), time.Duration(f.sums.Self)
		run.Subtracted, run.Charged = &subtracted, &charged
	}
	run.Nested = nested(r, f.flat, f.invocations)
	return run
}

// nested tells whether roots were called more often than from outside.
func nested(r *Report, flat []cct.Flat, invocations int64) bool {
	var calls int64
	for _, e := range flat {
		if slices.Contains(r.Roots, r.Method(e.Method).Name) {
			calls += e.Calls
		}
	}
	return calls > invocations
}

// RootMean is what an invocation of a root took in ns, with probes and all
// waits; 0 without any. Invocations that had not ended count as if they had.
func (s *SchemeRun) RootMean() float64 {
	return mean(float64(s.Measured+s.Suspended), s.Invocations)
}

// Useless is how many methods got probes and were never called.
func (s *SchemeRun) Useless() int { return s.Instrumented - s.Called }

// Stopped is for how long the target's threads were stopped or made to wait:
// pauses of all, as far as they are known, and waits of threads inside.
func (s *SchemeRun) Stopped() time.Duration {
	d := s.Suspended
	if p := s.Redefinition.Pauses; p != nil {
		d += p.Truncate(time.Microsecond) // as they are written
	}
	return d
}

// Overhead is by how much a run took longer than the program did without a
// profiler, 0.5 being half as long again: of whole runs the program, else an
// invocation of the root. ok is false where one of both is not known.
func (c *Comparison) Overhead(s *SchemeRun) (share float64, ok bool) {
	switch {
	case c.Whole != nil && s.Whole != nil && milliseconds(*c.Whole) > 0:
		return milliseconds(*s.Whole)/milliseconds(*c.Whole) - 1, true // as they are written
	case c.Whole == nil && c.Root != nil && c.Root.Mean() > 0 && s.Invocations > 0 && !s.Nested:
		return s.RootMean()/c.Root.Mean() - 1, true
	}
	return 0, false
}

// comparisonKind is the field "kind" of a comparison.
const comparisonKind = "comparison"

type jsonComparison struct {
	Schema  int             `json:"schema"`
	Kind    string          `json:"kind"`
	Target  jsonTarget      `json:"target"`
	Command []string        `json:"command,omitempty"`
	Clock   string          `json:"clock"`
	Roots   []string        `json:"roots"`
	Whole   *float64        `json:"bare_ms,omitempty"`
	Root    *jsonBareRoot   `json:"bare_root"`
	Runs    []jsonSchemeRun `json:"schemes"`
	Advice  string          `json:"advice"`
	Notes   []string        `json:"notes"`
}

type jsonBareRoot struct {
	Invocations int64   `json:"invocations"`
	Total       int64   `json:"total_ns"`
	Mean        float64 `json:"mean_ns"`
}

// The pointers are nil where nothing was measured.
type jsonSchemeRun struct {
	Scheme       string           `json:"scheme"`
	Armed        float64          `json:"armed_ms"`
	Seconds      float64          `json:"seconds"`
	Whole        *float64         `json:"total_ms,omitempty"`
	Ended        string           `json:"ended"`
	Exact        bool             `json:"exact"`
	Calls        int64            `json:"calls"`
	Rate         float64          `json:"calls_per_second"`
	Invocations  int64            `json:"root_invocations"`
	Nested       bool             `json:"nested_roots,omitempty"`
	Methods      jsonCounts       `json:"methods"`
	Redefinition jsonRedefinition `json:"redefinition"`
	Processing   float64          `json:"processing_ms"`
	Measured     int64            `json:"measured_ns"`
	Suspended    int64            `json:"suspended_ns"`
	Subtracted   *int64           `json:"subtracted_ns"`
	Charged      *int64           `json:"charged_ns"`
	RootMean     *float64         `json:"root_mean_ns"`
	ChargedMean  *float64         `json:"root_charged_mean_ns"`
	Overhead     *float64         `json:"overhead"`
}

type jsonCounts struct {
	Instrumented int `json:"instrumented"`
	Called       int `json:"called"`
}

// JSON writes the comparison in schema 1, as docs/formats-report.md describes it.
func (c *Comparison) JSON(w io.Writer) error {
	j := jsonComparison{
		Schema: Schema, Kind: comparisonKind, Target: jsonTarget(c.Target), Command: c.Command, Clock: c.Clock, Roots: some(c.Roots),
		Whole: known(c.Whole), Runs: []jsonSchemeRun{}, Advice: c.Advice(), Notes: some(c.Notes),
	}
	if b := c.Root; b != nil {
		j.Root = &jsonBareRoot{b.Invocations, int64(b.Total), tenths(b.Mean())}
	}
	for i := range c.Runs {
		j.Runs = append(j.Runs, c.run(&c.Runs[i]))
	}
	return writeJSON(w, "the comparison", j)
}

func (c *Comparison) run(s *SchemeRun) jsonSchemeRun {
	j := jsonSchemeRun{
		Scheme: s.Scheme, Armed: milliseconds(s.Armed), Seconds: s.Time.Seconds(), Whole: known(s.Whole), Ended: s.Ended, Exact: s.Exact,
		Calls: s.Calls, Rate: tenths(s.rate()), Invocations: s.Invocations, Nested: s.Nested, Methods: jsonCounts{s.Instrumented, s.Called},
		Redefinition: s.Redefinition.json(), Processing: milliseconds(s.Processing),
		Measured: int64(s.Measured), Suspended: int64(s.Suspended), Subtracted: (*int64)(s.Subtracted), Charged: (*int64)(s.Charged),
	}
	if s.Invocations > 0 {
		v := tenths(s.RootMean())
		j.RootMean = &v
		if s.Charged != nil {
			v := tenths(mean(float64(*s.Charged), s.Invocations))
			j.ChargedMean = &v
		}
	}
	if share, ok := c.Overhead(s); ok {
		v := math.Round(share*1e4) / 1e4
		j.Overhead = &v
	}
	return j
}

// rate is calls a second.
func (s *SchemeRun) rate() float64 {
	if s.Time <= 0 {
		return 0
	}
	return float64(s.Calls) / s.Time.Seconds()
}

func tenths(v float64) float64 { return float64(int64(v*10+0.5)) / 10 }

// ReadComparison reads what [Comparison.JSON] wrote. It refuses other kinds and
// schemas by an error that wraps [ErrNotReport].
func ReadComparison(r io.Reader) (*Comparison, error) {
	var j jsonComparison
	if err := json.NewDecoder(r).Decode(&j); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotReport, err)
	}
	if j.Kind != comparisonKind || j.Schema != Schema {
		return nil, fmt.Errorf("%w: of kind %q and schema %d; this is for comparisons of schema %d", ErrNotReport, j.Kind, j.Schema, Schema)
	}
	c := &Comparison{Target: Target(j.Target), Command: j.Command, Clock: j.Clock, Roots: j.Roots, Notes: j.Notes, Whole: given(j.Whole)}
	if b := j.Root; b != nil {
		c.Root = &BareRoot{b.Invocations, time.Duration(b.Total)}
	}
	for _, s := range j.Runs {
		c.Runs = append(c.Runs, SchemeRun{
			Scheme: s.Scheme, Armed: fromMS(s.Armed), Time: time.Duration(s.Seconds*1e9 + 0.5), Whole: given(s.Whole), Ended: s.Ended,
			Calls: s.Calls, Invocations: s.Invocations, Nested: s.Nested, Exact: s.Exact,
			Instrumented: s.Methods.Instrumented, Called: s.Methods.Called, Redefinition: s.Redefinition.read(), Processing: fromMS(s.Processing),
			Measured: time.Duration(s.Measured), Suspended: time.Duration(s.Suspended),
			Subtracted: (*time.Duration)(s.Subtracted), Charged: (*time.Duration)(s.Charged),
		})
	}
	return c, nil
}
