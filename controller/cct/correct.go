package cct

import (
	"math"

	"github.com/rivulet-profiler/rivulet/calibrate"
)

// A Clock says what a method's times were measured with.
type Clock struct {
	// Cost is what its probes cost.
	Cost calibrate.Cost
	// Tick is the tick clock's period in ns, 0 for the precise clock. A self
	// time of n ticks has an error of about the square root of n ticks, as a
	// sampler's would.
	Tick float64
}

// A Correction is what correcting took off.
type Correction struct {
	Subtracted int64 // ns of the probes' own cost
	Clamped    int64 // ns of it that could not be taken off: the time was less
}

// Correct takes the probes' own cost off every self time, in place, and
// computes the totals anew (papers/002, section 5.3). It keeps what was
// measured in Raw and says in Error how uncertain the result is. Call it once,
// before merging: the sums of corrected nodes are not the correction of sums.
func (s *Snapshot) Correct(clock func(method int32) Clock) Correction {
	var sum Correction
	Walk(s.Roots(), func(n *Node, _ int) bool {
		own := clock(n.Method)
		var children, spread float64
		for _, c := range n.Children {
			if c.Async != nil {
				continue // its probes took no time of n's
			}
			k := clock(c.Method)
			children += float64(c.Calls) * k.Cost.Outer
			spread += float64(c.Calls) * k.Cost.Spread / 2
		}
		// Folded recursion: the callees are nodes above, with methods of their own cost.
		children += float64(n.Back) * own.Cost.Outer
		spread += float64(n.Calls+n.Back) * own.Cost.Spread / 2
		if n.Method == Unplaced {
			children = 0 // their callers are elsewhere
		}
		var taken, clamped int64
		n.Raw = n.Self
		n.Self, taken, clamped = calibrate.Correct(n.Raw, n.Calls, own.Cost, children)
		sum.Subtracted += taken
		sum.Clamped += clamped
		n.Error = int64(math.Round(spread + math.Sqrt(float64(n.Raw)*own.Tick)))
		return true
	}, func(*Node, int) {})
	for _, t := range s.Threads {
		computeTotals(t.Roots)
	}
	return sum
}

// addError puts independent uncertainties together.
func addError(a, b int64) int64 {
	return int64(math.Round(math.Hypot(float64(a), float64(b))))
}
