package cct

import (
	"math"

	"github.com/rivulet-profiler/rivulet/calibrate"
)

// A Clock says what a method's times were measured with.
type Clock struct {
	// Cost is what its probes cost.
	Cost calibrate.Cost
	// Tick is how far apart the tick clock's ticks are, in ns, 0 for the precise
	// clock: on average, each gap weighted by its length, as the variance of what
	// is charged goes by their squares. A self time of n such gaps has an error of
	// about the square root of n of them, as a sampler's would.
	Tick float64
	// Counted says that there were none: its time is in that of whoever called
	// it, see [Snapshot.GiveToCallers].
	Counted bool
}

// A Correction is what correcting took off.
type Correction struct {
	Subtracted int64 // ns of the probes' own cost
	Clamped    int64 // ns of it that could not be taken off: the time was less
}

// Correct takes the probes' own cost off every self time, in place, and
// computes the totals anew (Dmitriev, "Design of JFluid", section 5.3). What the probes of methods
// that count only took, and those below them, comes off where that time is,
// which [Snapshot.GiveToCallers] has to have moved. Correct keeps what was
// measured in Raw and says in Error how uncertain the result is. Call it once,
// before merging: the sums of corrected nodes are not the correction of sums.
func (s *Snapshot) Correct(clock func(method int32) Clock) Correction {
	type frame struct {
		node   *Node
		clock  Clock
		calls  float64 // what calls from here have to have taken off
		spread float64
	}
	var path []frame // nodes that have time, the nearest last
	var sum Correction
	Walk(s.Roots(), func(n *Node, depth int) bool {
		k := clock(n.Method)
		calls := float64(n.Calls)
		if depth > 0 && n.Async() == nil { // of a task they took no time of who handed it over
			from := &path[len(path)-1]
			from.calls += calls * k.Cost.Outer
			from.spread += calls * k.Cost.Spread / 2
		}
		if hasTime(n, depth, k.Counted) {
			path = append(path, frame{node: n, clock: k})
		}
		at := &path[len(path)-1]
		if at.node != n {
			at.calls += calls * k.Cost.Inner
		}
		at.spread += calls * k.Cost.Spread / 2
		for b := n.Back(); b != nil; b = b.Next {
			of := clock(b.Method).Cost
			at.calls += float64(b.Calls) * of.Outer
			at.spread += float64(b.Calls) * of.Spread / 2
		}
		return true
	}, func(n *Node, _ int) {
		n.Raw = n.Self
		at := path[len(path)-1]
		if at.node != n {
			return
		}
		path = path[:len(path)-1]
		if n.Method == Unplaced {
			at.calls = 0 // the callers are elsewhere
		}
		var taken, clamped int64
		n.Self, taken, clamped = calibrate.Correct(n.Raw, n.Calls, at.clock.Cost, at.calls)
		sum.Subtracted += taken
		sum.Clamped += clamped
		n.Spread = int64(math.Round(at.spread))
		n.Error = n.Spread + int64(math.Round(math.Sqrt(float64(n.Raw)*at.clock.Tick)))
	})
	for _, t := range s.Threads {
		computeTotals(t.Roots)
	}
	return sum
}

// An Uncertainty says by how many ns a self time may be off, after Correct.
type Uncertainty struct {
	Error int64
	// Spread is what the spread of the probes' cost leaves of Error. That cost is
	// the same wherever the probes are, and so is what it is off by. The rest is
	// from ticks.
	Spread int64
}

// Plus is the uncertainty of a sum of times: what the spread leaves adds up, while
// ticks meet each time independently.
func (u Uncertainty) Plus(o Uncertainty) Uncertainty {
	ticks := math.Hypot(float64(u.Error-u.Spread), float64(o.Error-o.Spread))
	spread := u.Spread + o.Spread
	return Uncertainty{Error: spread + int64(math.Round(ticks)), Spread: spread}
}

// Minus is the uncertainty of what a time has grown by since it was o: [Uncertainty.Plus]
// the other way round.
func (u Uncertainty) Minus(o Uncertainty) Uncertainty {
	ticks, before := float64(u.Error-u.Spread), float64(o.Error-o.Spread)
	spread := max(u.Spread-o.Spread, 0)
	return Uncertainty{Error: spread + int64(math.Round(math.Sqrt(max(ticks*ticks-before*before, 0)))), Spread: spread}
}
