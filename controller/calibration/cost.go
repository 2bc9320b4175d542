package calibration

import (
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/calibrate"
)

// mostFound is how many findings of a mode are kept; of more, every second one is forgotten.
const mostFound = 400

// A Cost is what was found for a mode, once or several times. It does not change.
type Cost struct {
	calibrate.Cost
	Batches int // of all runs
	found   []finding
}

// A finding is what one run found, and when.
type finding struct {
	calibrate.Cost
	at time.Time
}

// with is the cost after another run. What was found on a machine that
// can't have been quiet counts only if there is nothing else.
func (c *Cost) with(m calibrate.Cost, batches int, at time.Time) *Cost {
	next := &Cost{Batches: batches}
	if c != nil {
		next.Batches += c.Batches
		next.found = slices.Clone(c.found)
	}
	next.found = append(next.found, finding{m, at})
	if len(next.found) > mostFound { // from all over the recording
		for i := range mostFound / 2 {
			next.found[i] = next.found[2*i]
		}
		next.found = append(next.found[:mostFound/2], finding{m, at})
	}
	quiet := slices.DeleteFunc(slices.Clone(next.found), func(f finding) bool { return busy(f.Cost) })
	if len(quiet) == 0 {
		quiet = next.found
	}
	next.Cost = calibrate.Combine(weighed(quiet))
	return next
}

// weighed has each stand for the time that is nearer to it than to another: the
// first runs follow each other soon, while little is compiled yet. The
// first and the last stand for as much outside of them as between them, and none
// for a pause.
func weighed(found []finding) []calibrate.Found {
	out := make([]calibrate.Found, len(found))
	for i, f := range found {
		before, after := max(i-1, 0), min(i+1, len(found)-1)
		span := found[after].at.Sub(found[before].at).Seconds()
		if after-before < 2 {
			span *= 2
		}
		out[i] = calibrate.Found{Cost: f.Cost, Weight: min(max(span, 1e-3), 2*againLongest.Seconds())}
	}
	return out
}

// busy tells whether batches differed so much that the machine can't have been
// quiet.
func busy(k calibrate.Cost) bool { return k.Spread > k.Total()/2 }

// Doubtful tells whether it was never measured on a quiet machine; so does nil.
func (c *Cost) Doubtful() bool {
	return c == nil || !slices.ContainsFunc(c.found, func(f finding) bool { return !busy(f.Cost) })
}

// Runs is how often it was measured.
func (c *Cost) Runs() int { return len(c.found) }
