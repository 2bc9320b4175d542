// Package history keeps how a recording went over time, in room that does not grow with it:
// at most [Most] steps, of which two become one when there are more. It knows neither the
// target nor the session; whoever does adds readings of counters that only grow.
//
// A [Recorder] is not safe for concurrent use. A [History] does not change.
package history

import (
	"math"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// Most is the largest number of steps that are kept.
const Most = 240

// Unknown is a reading, or a figure of a step, that was not taken.
const Unknown = -1

// A Reading is what counters said at one moment. All only grow, except for [Unknown].
type Reading struct {
	At        int64   // ns from the beginning of the recording
	Calls     int64   // below the roots
	RootCalls int64   // begun
	Times     []int64 // root calls that have ended by their times, as [wire.TimesOf] places them; nil unknown
	TimesSum  int64   // ns of all these
	CPU       int64   // ns that the program's threads were on a core
	GC        int64   // ns of the collectors' pauses
	GCs       int64   // these
	Classes   int64   // that were redefined
	Batches   int64   // of those
}

// A Step is a piece of the time. Times are in ns; -1 is unknown.
type Step struct {
	From      int64 `json:"from"` // from the beginning of the recording
	Took      int64 `json:"took"`
	Calls     int64 `json:"calls"`
	RootCalls int64 `json:"root_calls"`
	Ended     int64 `json:"ended"` // root calls whose time is known
	Mean      int64 `json:"mean"`  // of these; -1 where there are none
	P99       int64 `json:"p99"`   // that 99 % of these did not exceed, within 6 %
	CPU       int64 `json:"cpu"`
	GC        int64 `json:"gc"`
	GCs       int64 `json:"gcs"`
	Classes   int64 `json:"classes"` // redefined
	Batches   int64 `json:"batches"`
}

// Times say how long root calls took. Times are in ns, without what the profiler made
// them wait; percentiles are within 6 %.
type Times struct {
	Count   int64      `json:"count"`
	Of      int64      `json:"of"` // root calls begun; more where some were not counted by their times
	Mean    int64      `json:"mean_ns"`
	P50     int64      `json:"p50_ns"`
	P90     int64      `json:"p90_ns"`
	P99     int64      `json:"p99_ns"`
	P999    int64      `json:"p999_ns"`
	Buckets [][3]int64 `json:"buckets"` // from, to below, root calls; those without any are left out; to 0 is no bound
}

// A History is how a recording went.
type History struct {
	At    int64  `json:"at"` // ns from the beginning of the recording, when the report was read
	Steps []Step `json:"steps"`
	Times *Times `json:"root_times,omitempty"` // nil where none is known
	Why   string `json:"why,omitempty"`        // why times of root calls are not known from some moment on
}

// A step is a Step with what is needed to put two together.
type step struct {
	Step
	times []int32 // nil unknown
	sum   int64
}

// A Recorder makes steps of readings.
type Recorder struct {
	steps []step
	last  Reading
	begun bool
	times [wire.Times]int64
	sum   int64
	ended int64
	roots int64
	calls int64 // as of the last reading that knew them
	due   int   // steps since
	fresh int   // readings since the last step
	each  int   // readings that a step is made of

	// Why is copied into the history.
	Why string
}

// Reset forgets everything.
func (r *Recorder) Reset() { *r = Recorder{} }

// Add takes a reading; the first one is where the first step begins.
func (r *Recorder) Add(now Reading) {
	if !r.begun {
		r.begun, r.last, r.calls, r.each = true, now, max(now.Calls, 0), 1
		return
	}
	if now.At <= r.last.At {
		return
	}
	if r.fresh++; r.fresh < r.each {
		return
	}
	r.fresh = 0
	s := step{Step: Step{
		From: r.last.At, Took: now.At - r.last.At, Calls: Unknown, RootCalls: now.RootCalls - r.last.RootCalls, Mean: Unknown, P99: Unknown,
		CPU: grown(r.last.CPU, now.CPU), GC: grown(r.last.GC, now.GC), GCs: grown(r.last.GCs, now.GCs),
		Classes: now.Classes - r.last.Classes, Batches: now.Batches - r.last.Batches,
	}}
	if now.Times != nil && len(r.last.Times) == len(now.Times) {
		s.times, s.sum = make([]int32, len(now.Times)), max(now.TimesSum-r.last.TimesSum, 0)
		for i, n := range now.Times {
			n = max(n-r.last.Times[i], 0)
			s.times[i] = int32(min(n, 1<<30))
			s.Ended += n
			r.times[i] += n
		}
		r.sum, r.ended = r.sum+s.sum, r.ended+s.Ended
	}
	s.measure()
	r.steps = append(r.steps, s)
	r.roots += s.RootCalls
	if r.due++; now.Calls >= 0 {
		r.spread(now.Calls - r.calls)
		r.calls, r.due = now.Calls, 0
	}
	r.last = now
	if len(r.steps) >= Most {
		r.halve()
	}
}

func grown(from, to int64) int64 {
	if from < 0 || to < 0 {
		return Unknown
	}
	return max(to-from, 0)
}

// spread gives calls to the steps since the last reading that knew them, by their length.
func (r *Recorder) spread(calls int64) {
	some := r.steps[len(r.steps)-r.due:]
	var whole, given int64
	for i := range some {
		whole += some[i].Took
	}
	calls = max(calls, 0)
	for i := range some {
		part := int64(float64(calls) * float64(some[i].Took) / float64(whole))
		if i == len(some)-1 {
			part = calls - given
		}
		some[i].Calls = part
		given += part
	}
}

// measure computes what a step's times say.
func (s *step) measure() {
	if s.Ended > 0 {
		s.Mean, s.P99 = s.sum/s.Ended, quantile(s.Ended, 0.99, func(i int) int64 { return int64(s.times[i]) })
	}
}

// halve puts every two steps together. Steps whose calls are not known yet stay apart.
func (r *Recorder) halve() {
	keep := len(r.steps) - r.due
	keep -= keep % 2
	out := r.steps[:0]
	for i := 0; i < keep; i += 2 {
		out = append(out, joined(r.steps[i], r.steps[i+1]))
	}
	r.steps = append(out, r.steps[keep:]...)
	r.each *= 2
}

func joined(a, b step) step {
	both := func(x, y int64) int64 {
		if x < 0 || y < 0 {
			return Unknown
		}
		return x + y
	}
	s := step{Step: Step{
		From: a.From, Took: a.Took + b.Took, Calls: both(a.Calls, b.Calls), RootCalls: a.RootCalls + b.RootCalls, Ended: a.Ended + b.Ended, Mean: Unknown, P99: Unknown,
		CPU: both(a.CPU, b.CPU), GC: both(a.GC, b.GC), GCs: both(a.GCs, b.GCs), Classes: a.Classes + b.Classes, Batches: a.Batches + b.Batches,
	}, sum: a.sum + b.sum}
	if a.times != nil || b.times != nil {
		s.times = make([]int32, wire.Times)
		for _, t := range [][]int32{a.times, b.times} {
			for i, n := range t {
				s.times[i] += n
			}
		}
	}
	s.measure()
	return s
}

// quantile is the middle of the place up to which a share of so many lies, at least.
func quantile(count int64, share float64, at func(i int) int64) int64 {
	rank, sum := int64(math.Ceil(share*float64(count)-1e-6)), int64(0)
	for i := range wire.Times {
		if sum += at(i); sum >= rank {
			low, above := wire.TimesRange(i)
			if above == 0 {
				return low
			}
			return (low + above) / 2
		}
	}
	return Unknown
}

// History is what was added so far, nil where that is no step.
func (r *Recorder) History() *History {
	if len(r.steps) == 0 {
		return nil
	}
	h := &History{Why: r.Why, Steps: make([]Step, len(r.steps))}
	for i := range r.steps {
		h.Steps[i] = r.steps[i].Step
	}
	if r.ended == 0 {
		return h
	}
	at := func(i int) int64 { return r.times[i] }
	h.Times = &Times{
		Count: r.ended, Of: r.roots, Mean: r.sum / r.ended,
		P50: quantile(r.ended, 0.5, at), P90: quantile(r.ended, 0.9, at), P99: quantile(r.ended, 0.99, at), P999: quantile(r.ended, 0.999, at), Buckets: [][3]int64{},
	}
	for i, n := range r.times {
		if n > 0 {
			low, above := wire.TimesRange(i)
			h.Times.Buckets = append(h.Times.Buckets, [3]int64{low, above, n})
		}
	}
	return h
}

// End is when the last step ends, in ns from the beginning; 0 without any.
func (h *History) End() int64 {
	if h == nil || len(h.Steps) == 0 {
		return 0
	}
	last := h.Steps[len(h.Steps)-1]
	return last.From + last.Took
}
