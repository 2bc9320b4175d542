package calibrate

import "math"

// MeasureTimer finds what timing a method costs, in ns a call, from batches of
// calls of an empty method and from the times that were recorded for it, of
// which quantile gives the one that a share of them, 0 to 1, did not exceed.
// What the batches say of callee and caller is not used.
//
// Inner is contained in every recorded time: the median of those of the empty
// method, which holds on a machine without a free core too, where whole
// batches are all disturbed but few calls are. Spread is half of the distance
// between the quartiles. Outer is what the caller pays on top, by the cheapest
// batches. ok is false if no batch says anything.
func MeasureTimer(batches []Batch, quantile func(share float64) int64) (c Cost, ok bool) {
	bare, timed := math.Inf(1), math.Inf(1)
	for _, b := range batches {
		if n := float64(b.Calls); n > 0 && b.Probed > 0 {
			bare, timed = min(bare, float64(b.Bare)/n), min(timed, float64(b.Probed)/n)
			ok = true
		}
	}
	if !ok {
		return Cost{}, false
	}
	c.Inner = float64(quantile(0.5))
	c.Spread = float64(quantile(0.75)-quantile(0.25)) / 2
	c.Outer = max(0, timed-bare-c.Inner)
	return c, true
}
