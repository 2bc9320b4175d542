package governor

import "time"

// An Action says what a step did.
type Action string

// Actions, in the order in which the cost is lowered.
const (
	Share     Action = "share"    // another share of the root calls is recorded
	Clock     Action = "clock"    // precise times became times by ticks
	Count     Action = "counted"  // short methods are no longer timed
	SwitchOff Action = "off"      // the hottest short methods are no longer counted
	TakeOut   Action = "out"      // probes were taken out
	Raise     Action = "raise"    // the cost may rise again
	PutBack   Action = "put back" // the same, and probes that were taken out are put back
	Helpless  Action = "helpless" // nothing is left that could be lowered
)

// A Step is a change of the setting.
type Step struct {
	At      time.Duration // since the recording began
	Action  Action
	Before  float64 // the slow-down when it was taken, 0.05 for 5 %
	After   float64 // what it is expected to become
	Every   int64   // of so many root calls one is recorded from then on
	Methods []int32 // that are recorded otherwise from then on, the most called first
}

// mostSteps bounds how many are kept; the oldest are dropped.
const mostSteps = 1000

func (g *Governor) note(s Step) {
	s.At, s.Before = g.now, g.last
	if s.Action == Helpless {
		s.After = g.last
	}
	if len(g.steps) == mostSteps {
		g.steps = g.steps[1:]
	}
	g.steps = append(g.steps, s)
}

// A State is how a governor stands.
type State struct {
	Budget    float64 // 0.05 for 5 %
	Now       float64 // the slow-down as estimated last
	OverShare float64 // share of the time in which the estimate was over the budget, 0 to 1
	Scale     float64 // what was weighed, divided by what the probes' cost alone would come to
	Setting   Setting
	Steps     []Step
}

// State is how things stand. What it holds must not be changed.
func (g *Governor) State() State {
	s := State{Budget: g.cfg.Budget, Now: g.last, Scale: g.scale(), Setting: g.set, Steps: g.steps[:len(g.steps):len(g.steps)]}
	if g.governed > 0 {
		s.OverShare = float64(g.overBudget) / float64(g.governed)
	}
	return s
}
