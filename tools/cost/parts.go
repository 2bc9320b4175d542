package main

import "math"

// An outcome is what one root and clock showed of a program, over all
// processes. A unit is an iteration, or a request.
type outcome struct {
	bare     float64            // ms of a core's time for a unit
	overhead float64            // recorded by bare, after the warm-up
	after    float64            // after detaching by bare
	inside   map[string]float64 // calls of each method in a unit
}

// calls are all calls in a unit.
func (o *outcome) calls() (sum float64) {
	for _, n := range o.inside {
		sum += n
	}
	return sum
}

// dormant are the calls in a unit that o's methods get outside of its root: of
// those that it shows called, what the whole run has more. Methods that have
// probes but were never called inside are missing.
func (o *outcome) dormant(whole *outcome) (sum float64) {
	for m, n := range o.inside {
		sum += max(0, whole.inside[m]-n)
	}
	return sum
}

// Parts are what an overhead consists of, each by the bare time:
// overhead = 1 + Inside + Dormant + Rest.
type parts struct{ inside, dormant, rest float64 }

// explain takes an overhead apart. calls and dormant are in a unit.
func explain(o *outcome, calls, dormant float64, c cost) parts {
	ns := o.bare * 1e6
	p := parts{inside: calls * c.inside / ns, dormant: dormant * max(0, c.dormant) / ns}
	p.rest = o.overhead - 1 - p.inside - p.dormant
	return p
}

// partial are the overheads that a partial root may have with the tick clock.
var partial = map[string]float64{"sunflow": 1.5, "h2": 1.3, "xalan": 1.2, "javac": 1.15, "batik": 1.15, "shop": 1.15}

// aim is the overhead that the tick clock has to stay below: of a whole run 1
// and 6 ns a call, of a partial root a figure a program.
func aim(program, root, clock string, o *outcome) float64 {
	switch {
	case clock != "tick":
		return math.NaN()
	case root == "whole":
		return 1 + o.calls()*6/(o.bare*1e6)
	}
	return partial[program]
}
