package export

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// An Outlier is a process in which a method takes far more than in the others.
type Outlier struct {
	Host   string  `json:"host,omitempty"`
	PID    int     `json:"pid"`
	Method string  `json:"method"`
	Figure string  `json:"figure"` // one of the figures of outliers
	Value  float64 `json:"value"`
	Median float64 `json:"median"` // of all processes that have the method
}

// Figures of outliers.
const (
	SelfShare = "self_share"  // of the process's self time
	CallTime  = "ns_per_call" // total time of an invocation
)

// When a process is named: from three times the median on, of methods that have a twentieth
// of the process's time at least, and if there are three processes.
const (
	oddShare     = 3
	leastOdd     = 0.05
	leastOthers  = 3
	leastCalls   = 20 // of both the process and, in the middle, the others
	mostOutliers = 100
)

// Outliers are the processes that are far off in a method, those of the hottest methods
// first. Times of single calls are compared in recordings only.
func (r *Report) Outliers() []Outlier {
	flat := slices.Clone(r.figures().flat)
	slices.SortStableFunc(flat, func(a, b cct.Flat) int { return cmp.Compare(b.Self, a.Self) })
	var out []Outlier
	for _, e := range flat {
		if len(out) >= mostOutliers {
			break
		}
		out = append(out, r.outliersOf(e.Method)...)
	}
	return out[:min(len(out), mostOutliers)]
}

// A processFigure is what a process has of a method or context.
type processFigure struct {
	p     *Process
	value float64
	big   bool // it has a part in the process's time
}

// farOff are those of a figure that are far off.
func farOff(what string, all []processFigure) (out []Outlier) {
	if len(all) < leastOthers {
		return nil
	}
	ordered := slices.Clone(all)
	slices.SortFunc(ordered, func(a, b processFigure) int { return cmp.Compare(a.value, b.value) })
	usual := ordered[(len(ordered)-1)/2].value
	least := usual
	if what == SelfShare {
		least = max(usual, leastOdd/oddShare)
	}
	for _, f := range all {
		if f.big && f.value > 0 && f.value >= oddShare*least {
			out = append(out, Outlier{Host: f.p.Host, PID: f.p.PID, Figure: what, Value: f.value, Median: usual})
		}
	}
	return out
}

func (r *Report) outliersOf(method int32) []Outlier {
	var shares, times []processFigure
	for i := range r.Processes {
		p := &r.Processes[i]
		if p.Self <= 0 {
			continue
		}
		c := p.Of(method)
		share := float64(c.Self) / float64(p.Self)
		shares = append(shares, processFigure{p, share, share >= leastOdd})
		if r.Sampling == nil && c.Calls >= leastCalls && c.Total > 0 {
			times = append(times, processFigure{p, float64(c.Total) / float64(c.Calls), float64(c.Total) >= leastOdd*float64(p.Self)})
		}
	}
	out := append(farOff(SelfShare, shares), farOff(CallTime, times)...)
	for i := range out {
		out[i].Method = r.Method(method).Name
	}
	return out
}

// text is a sentence about the outlier; label names the method.
func (o *Outlier) text(label string) string {
	p := Process{Host: o.Host, PID: o.PID}
	if o.Figure == CallTime {
		return fmt.Sprintf("%s takes %s a call of %s, the median process %s", Clean(p.Name()), Duration(int64(o.Value)), label, Duration(int64(o.Median)))
	}
	return fmt.Sprintf("%s spends %.1f %% of its time in %s itself, the median process %.1f %%", Clean(p.Name()), 100*o.Value, label, 100*o.Median)
}

// OddProcesses are sentences on the processes that are far off, up to a number of them.
func (r *Report) OddProcesses(most int) []string {
	out := []string{}
	for _, o := range r.Outliers() {
		if len(out) == most {
			break
		}
		out = append(out, o.text(Clean(o.Method)))
	}
	return out
}
