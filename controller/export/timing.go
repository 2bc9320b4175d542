package export

import (
	"fmt"
	"io"
	"iter"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Timing is a finished timing of methods: entry and exit alone, nothing of
// what they call.
type Timing struct {
	Target Target
	Time   time.Duration // from arming to the end
	Ended  string        // why it ended, as in [Report]
	Notes  []string      // whole sentences that the reader should know

	Timer   *Timer  // nil where it was not measured; then times are as they were measured
	Methods []Timed // by id, so in the order of the roots
	Refused int64   // invocations left out because enough were under way or had returned

	Skipped      []Skipped
	Redefinition Redefinition
}

// A Timer is what timing an invocation costs in this target, in ns.
type Timer struct {
	Inner   float64 `json:"inner_ns"`  // contained in every measured time, and taken off
	Call    float64 `json:"call_ns"`   // what an invocation takes longer, Inner included
	Spread  float64 `json:"spread_ns"` // how far Inner may be off
	Batches int     `json:"batches"`   // measured; the cheapest counts
}

// A Timed is one method's row. [Timed.Fill] sets what it computes; times are ns,
// corrected where the report has a Timer.
type Timed struct {
	Method   string // "pkg.C.m(I)V"
	Loader   string
	Count    int64 // invocations ended
	Thrown   int64 // of those, by an exception
	Measured int64 // the sum of their times, uncorrected

	total, least, most int64
	histogram          *hdrhistogram.Histogram // nil where nothing was recorded
}

// quantiles are the shares, in percent, for which both forms give a time.
var quantiles = [...]float64{50, 90, 99, 99.9}

// Fill takes a method's measured times: the shortest and the longest, and how
// many there were of which length, in ns. inner is taken off each, down to 0.
func (t *Timed) Fill(least, most int64, inner float64, each iter.Seq2[int64, int64]) {
	if t.Count == 0 {
		return
	}
	off := int64(math.Round(inner))
	t.least, t.most = max(least-off, 0), max(most-off, 0)
	t.total = max(t.Measured-int64(math.Round(inner*float64(t.Count))), 0)
	t.histogram = hdrhistogram.New(1, max(t.most, 2), 3)
	for ns, n := range each {
		// It holds all up to the longest, so there is no error.
		_ = t.histogram.RecordValues(min(max(ns-off, t.least), t.most), n)
	}
}

// quantile is a time that a share of the invocations, in percent, did not
// exceed.
func (t *Timed) quantile(percent float64) int64 {
	return min(max(t.histogram.ValueAtPercentile(percent), t.least), t.most)
}

func (t *Timed) mean() float64 { return float64(t.total) / float64(t.Count) }

// Bare sums up all methods, as the roots of a [Comparison].
func (r *Timing) Bare() *BareRoot {
	var b BareRoot
	for i := range r.Methods {
		b.Invocations += r.Methods[i].Count
		b.Total += time.Duration(r.Methods[i].total)
	}
	return &b
}

type jsonTiming struct {
	Schema       int              `json:"schema"`
	Kind         string           `json:"kind"`
	Target       jsonTarget       `json:"target"`
	Seconds      float64          `json:"seconds"`
	Ended        string           `json:"ended"`
	Refused      int64            `json:"refused"`
	Timer        *Timer           `json:"timer"`
	Methods      []jsonTimed      `json:"methods"`
	Skipped      []Skipped        `json:"skipped"`
	Redefinition jsonRedefinition `json:"redefinition"`
	Notes        []string         `json:"notes"`
}

// The pointers are nil for a method without invocations.
type jsonTimed struct {
	Method   string   `json:"method"`
	Loader   string   `json:"loader"`
	Count    int64    `json:"count"`
	Thrown   int64    `json:"thrown"`
	Total    int64    `json:"total_ns"`
	Measured int64    `json:"measured_ns"`
	Least    *int64   `json:"min_ns"`
	Mean     *float64 `json:"mean_ns"`
	P50      *int64   `json:"p50_ns"`
	P90      *int64   `json:"p90_ns"`
	P99      *int64   `json:"p99_ns"`
	P999     *int64   `json:"p999_ns"`
	Most     *int64   `json:"max_ns"`
	HDR      *string  `json:"hdr"`
}

// JSON writes the timing in schema 1, as docs/formats-report.md describes it.
func (r *Timing) JSON(w io.Writer) error {
	j := jsonTiming{
		Schema: Schema, Kind: "timing", Target: jsonTarget(r.Target), Seconds: r.Time.Seconds(), Ended: r.Ended,
		Refused: r.Refused, Timer: r.Timer, Methods: []jsonTimed{}, Skipped: some(r.Skipped), Notes: some(r.Notes),
		Redefinition: r.Redefinition.json(),
	}
	for i := range r.Methods {
		m, err := r.Methods[i].json()
		if err != nil {
			return fmt.Errorf("json timing: %w", err)
		}
		j.Methods = append(j.Methods, m)
	}
	return writeJSON(w, "the timing", j)
}

func (t *Timed) json() (jsonTimed, error) {
	j := jsonTimed{Method: t.Method, Loader: t.Loader, Count: t.Count, Thrown: t.Thrown, Total: t.total, Measured: t.Measured}
	if t.histogram == nil {
		return j, nil
	}
	mean := math.Round(t.mean()*10) / 10
	j.Least, j.Mean, j.Most = &t.least, &mean, &t.most
	for i, p := range []**int64{&j.P50, &j.P90, &j.P99, &j.P999} {
		ns := t.quantile(quantiles[i])
		*p = &ns
	}
	b, err := t.histogram.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return j, fmt.Errorf("histogram of %s: %w", t.Method, err)
	}
	text := string(b)
	j.HDR = &text
	return j, nil
}

// json is the form in which both kinds of reports have it.
func (r Redefinition) json() jsonRedefinition {
	return jsonRedefinition{
		Batches: r.Batches, Classes: r.Classes, MS: milliseconds(r.Time), LongestPause: known(r.LongestPause),
		Pauses: known(r.Pauses), LongestWait: known(r.LongestWait), Analysis: known(r.Analysis),
	}
}

// known is a time in milliseconds, nil if it was not measured.
func known(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	ms := milliseconds(*d)
	return &ms
}
