package spec

import (
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// Validate says what makes no sense in a recording of whatever target. The error is an
// [*Error].
func (r *Recording) Validate() error {
	if len(r.Roots) == 0 {
		return wrong("root", "", "no root given: choose a method")
	}
	return r.ValidateOptions()
}

// ValidateOptions is [Recording.Validate] for a recording whose roots are chosen later.
// Errors are as there, an [*Error].
func (r *Recording) ValidateOptions() error {
	for _, o := range Options {
		if value := o.Get(r); len(o.Values) > 0 && o.kind == text && value != "" && !slices.Contains(o.Values, value) {
			return o.unknown(value)
		}
	}
	for _, name := range r.Count {
		if _, ok := metric.Asked(name); !ok {
			return wrong("count", name, "there is only %s", enumerate(metricNames()))
		}
	}
	if r.Follow && slices.Contains(r.Count, metric.CountHeap) {
		return wrong("count", metric.CountHeap, "samples of the heap can't tell who handed an async task over; leave out this, or following of tasks")
	}
	executes := ""
	for _, name := range r.Count {
		switch {
		case !metric.Executes(name) || name == executes:
		case executes != "":
			return wrong("count", name, "a recording counts instructions in one way, and there is %s, too; leave out one of both", executes)
		default:
			executes = name
		}
	}
	switch {
	case r.UntilCalls < 0:
		return wrongNumber("until-calls", r.UntilCalls, "give a number above zero, or 0 for no end")
	case r.Patience != 0 && (r.Patience < leastPatience || r.Patience > mostPatience):
		return wrong("patience", r.Patience.String(), "give a time from %v to %v, or %s", leastPatience, mostPatience, PatienceAuto)
	case r.Memory < 0:
		return wrongNumber("memory", r.Memory, "it is below zero; leave it out for the default")
	case r.Slowest < 0 || r.Slowest > event.MostSlowest:
		return wrongNumber("slowest", r.Slowest, "give a number from 1 to %d, or 0 for none", event.MostSlowest)
	case r.Over < 0, r.Over > 0 && r.Slowest == 0:
		return wrong("over", r.Over.String(), "it says which invocations the slowest ones are of; give a number of these, and a time above zero, such as 50ms")
	case r.Warmup < 0 || r.WarmupCalls < 0 || r.Warmup > 0 && r.WarmupCalls > 0:
		return wrong("warmup", "", warmupForm)
	}
	if !r.HasEvents() {
		return nil
	}
	if r.Fold {
		return wrong("recursion", "fold", "events are of single invocations, which folding does not tell apart; leave out one of both")
	}
	for _, m := range r.Modes {
		if err := m.ValidateWithEvents(); err != nil {
			return err
		}
	}
	return nil
}

// Counts tells whether a recording counts what a value of "--count" says, be it since another one
// needs it.
func (r *Recording) Counts(name string) bool {
	return slices.ContainsFunc(r.Count, func(asked string) bool {
		c, ok := metric.Asked(asked)
		return asked == name || ok && c.Needs == name
	})
}
