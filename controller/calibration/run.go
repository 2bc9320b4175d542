package calibration

import (
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/calibrate"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

const (
	// batchTime is how long a batch of calls should take: many ticks.
	batchTime  = 1500 * time.Microsecond
	firstCalls = 1000
	mostCalls  = 1 << 20
	// A run ends when the cheapest batch has stayed so for a while, at
	// the latest after longest; where no core is free and what was
	// found by then can't be believed, after Patience.
	shortest = 120 * time.Millisecond
	longest  = 700 * time.Millisecond
	steady   = 12 // batches
	// silent is how long a batch may take. The agent gives up after two
	// seconds without an answer, and then there is never another one.
	silent = 10 * time.Second

	againBatches = 8
	againMost    = 5 * againBatches // while they don't agree
)

// Patience is the longest that a run takes whose agent answers.
const Patience = 2500 * time.Millisecond

// A Run says what is measured.
type Run struct {
	Mode   byte   // of the probes, as package wire has them
	Beside bool   // a recording is on, whose gate is not the run's to shut
	Again  bool   // and this is not the first: the agent has the sample, and a few batches are enough
	Timer  bool   // the sample has a timer in place of probes, whose figures the caller reads; Mode is not used
	Done   func() // is called when it has ended, whatever was found
}

// A run is under way, or done.
type run struct {
	Run
	interpreted    bool   // the target compiles nothing
	number         uint32 // what comes of an earlier one is not for this one
	begin          time.Time
	batches        []calibrate.Batch
	callee, caller int64 // self times up to the last batch
	part           int64 // H_TAG when the batch under way began
	best           float64
	steady         int       // batches since the best
	heard          time.Time // when the agent was last told to go on

	// The agent's thread has other commands to obey, too: it leaves the sample
	// between two batches, and comes back when they are done.
	yield bool      // there is another command
	held  time.Time // since when it has left; zero while it is there
	next  uint32    // calls of the next batch, when it has left
}

// take judges a batch: the number of calls of the next, 0 when it is enough.
func (r *run) take(b calibrate.Batch) uint32 {
	r.batches = append(r.batches, b)
	each := float64(b.Probed) / float64(b.Calls)
	r.steady++
	if r.best == 0 || each < 0.97*r.best {
		r.best, r.steady = each, 0
	}
	passed := time.Since(r.begin)
	if r.Again && len(r.batches) > againBatches {
		if m, ok := r.found(); ok && !busy(m) || len(r.batches) > againMost {
			return 0
		}
	}
	if passed > longest || passed > shortest && r.steady >= steady {
		if _, ok := r.found(); ok || passed > Patience {
			return 0
		}
	}
	n := float64(b.Calls) * float64(batchTime) / float64(max(b.Probed, 1))
	return uint32(min(max(n, firstCalls), mostCalls))
}

// mostCost is the dearest that a compiled probe pair can be, in ns, with room
// for slow machines.
var mostCost = map[byte]float64{wire.ModeOff: 20, wire.ModeCounted: 40, wire.ModeLeaf: 40, wire.ModeTick: 40, wire.ModePrecise: 400, wire.ModeEventTick: 100, wire.ModeEventPrecise: 460}

// mostTimerCost is the same of a timer.
const mostTimerCost = 400

// slower is how many times dearer a probe may be in a JVM that compiles nothing.
const slower = 100

// found is what the batches so far say. On a machine without a free core none
// may run undisturbed, or the compiler may not get to the sample. What comes
// out then, or differs by more than itself from batch to batch, would take more
// off than it mends.
func (r *run) found() (calibrate.Cost, bool) {
	most, charged := float64(mostTimerCost), true
	if !r.Timer { // which charges nothing to any node
		most = mostCost[r.Mode]
		charged = r.Mode == wire.ModeOff || slices.ContainsFunc(r.batches, func(b calibrate.Batch) bool { return b.Callee+b.Caller > 0 })
	}
	if r.interpreted {
		most *= slower
	}
	m, ok := calibrate.Measure(r.batches)
	return m, ok && charged && m.Total() <= most && m.Spread <= m.Total()
}
