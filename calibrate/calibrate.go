// Package calibrate finds out what a probe costs and takes it off the times
// that a recording measured (Dmitriev, "Design of JFluid", section 5.3).
//
// A probe pair's cost falls into two parts: the inner time t_I, between the
// clock readings of entry and exit, is charged to the callee; the outer time
// t_O, before and after them, to the caller. An invocation's time is therefore
//
//	t_exact = t_meas - calls*t_I - callsToChildren*t_O
//
// Both are measured in the target, with really rewritten and compiled code, in
// batches, of which the cheapest counts: whatever disturbs a batch only makes
// it dearer. The spread between the cheapest batches is the uncertainty that
// the correction leaves.
//
// What it cannot do: a probe in a method that the compiler would have inlined
// changes more than its own time, so below some tens of nanoseconds a call the
// corrected time is an upper bound at best. The package is pure arithmetic.
package calibrate

import (
	"cmp"
	"math"
	"slices"
)

// A Batch is one measured run of a caller that calls an empty callee Calls
// times. Times are in ns.
type Batch struct {
	Calls  int64
	Bare   int64 // the loop without probes
	Probed int64 // the loop with probes, by the same stopwatch
	Callee int64 // of the probed loop, what the recorder charged to the callee
	Caller int64 // and to the caller
}

// A Cost is what one probe pair costs, in ns.
type Cost struct {
	Inner, Outer float64
	// Spread is how far the sum of both may be off: the difference between the
	// cheapest batch and the one at a quarter of the way to the dearest, or the
	// ninth: on a busy machine most are disturbed, and if nine agree they are not.
	Spread float64
}

// agreed is how many batches have to agree, at the most.
const agreed = 9

// Total is the cost of a call, entry and exit together.
func (c Cost) Total() float64 { return c.Inner + c.Outer }

// AtBest is the cost of probes that a sample shows at their cheapest: with nothing
// else to do the processor runs one call's probes beside the next one's, and all of
// their code and data are at hand. In a program such a probe may take twice that (on
// medium of the bench, docs/figures/cost.md), so the spread is the cost at least.
// Probes that read a clock don't overlap: theirs is as measured.
func (c Cost) AtBest() Cost {
	c.Spread = max(c.Spread, c.Total())
	return c
}

// Measure takes the cheapest batch for the sum, and the cheaper half of all
// batches for its division between callee and caller, which a coarse clock
// shows only in the long run. ok is false if no batch says anything.
func Measure(batches []Batch) (c Cost, ok bool) {
	var good []Batch
	for _, b := range batches {
		if b.Calls > 0 && b.Probed > 0 && b.Callee >= 0 && b.Caller >= 0 {
			good = append(good, b)
		}
	}
	if len(good) == 0 {
		return Cost{}, false
	}
	// Either loop may be disturbed in any batch, so each has its own cheapest.
	slices.SortFunc(good, func(a, b Batch) int { return cmp.Compare(a.probed(), b.probed()) })
	bare := math.Inf(1)
	for _, b := range good {
		bare = min(bare, float64(b.Bare)/float64(b.Calls))
	}
	var callee, caller float64
	for _, b := range good[:(len(good)+1)/2] {
		callee += float64(b.Callee)
		caller += max(0, float64(b.Caller)-bare*float64(b.Calls))
	}
	total := max(0, good[0].probed()-bare)
	c.Spread = good[min(len(good)/4, agreed-1)].probed() - good[0].probed()
	if callee+caller == 0 {
		c.Inner, c.Outer = total/2, total/2
		return c, true
	}
	c.Inner = total * callee / (callee + caller)
	c.Outer = total - c.Inner
	return c, true
}

// A Found is a cost, and for how much of a recording it stands: any unit of time.
type Found struct {
	Cost
	Weight float64
}

// Combine is the cost over a time in which it was found several times: of all
// that were found the middle one by weight, since a machine that others use, too,
// is fast and slow by turns, and calls were made at all these times. The spread is
// that of one, or what lies between the first and third quarter of all, whichever
// is more. Weights have to be above zero. Of no cost it is the zero Cost.
func Combine(found []Found) Cost {
	if len(found) == 0 {
		return Cost{}
	}
	s := slices.Clone(found)
	slices.SortFunc(s, func(a, b Found) int { return cmp.Compare(a.Total(), b.Total()) })
	var inner, total, weight float64
	for _, k := range s {
		inner += k.Weight * k.Inner
		total += k.Weight * k.Total()
		weight += k.Weight
	}
	c := s[beyond(s, weight/2)].Cost
	if t := c.Total(); total > 0 {
		c.Inner = t * inner / total
		c.Outer = t - c.Inner
	}
	c.Spread = max(c.Spread, s[beyond(s, 3*weight/4)].Total()-s[beyond(s, weight/4)].Total())
	return c
}

// beyond is the first at which the weights up to it come to more than that; at
// exactly that, as with one of two of the same weight, it counts, too.
func beyond(s []Found, weight float64) int {
	for i, k := range s {
		if weight -= k.Weight; weight <= 0 {
			return i
		}
	}
	return len(s) - 1
}

// probed is what a call took with probes.
func (b Batch) probed() float64 { return float64(b.Probed) / float64(b.Calls) }

// Correct takes the probes' cost off a self time: own is the cost of the
// method's own probes, children what its callees' probes have charged to it,
// in ns. The result is never below zero; clamped is what could not be taken.
func Correct(self, calls int64, own Cost, children float64) (exact, subtracted, clamped int64) {
	want := int64(math.Round(float64(calls)*own.Inner + children))
	if want <= 0 {
		return self, 0, 0
	}
	if want > self {
		return 0, self, want - self
	}
	return self - want, want, 0
}
