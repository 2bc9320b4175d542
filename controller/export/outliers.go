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

func (r *Report) outliersOf(method int32) (out []Outlier) {
	type figure struct {
		p     *Process
		value float64
		big   bool // the method has a part in the process's time
	}
	name := r.Method(method).Name
	far := func(what string, all []figure) {
		if len(all) < leastOthers {
			return
		}
		ordered := slices.Clone(all)
		slices.SortFunc(ordered, func(a, b figure) int { return cmp.Compare(a.value, b.value) })
		usual := ordered[(len(ordered)-1)/2].value
		least := usual
		if what == SelfShare {
			least = max(usual, leastOdd/oddShare)
		}
		for _, f := range all {
			if f.big && f.value > 0 && f.value >= oddShare*least {
				out = append(out, Outlier{f.p.Host, f.p.PID, name, what, f.value, usual})
			}
		}
	}
	var shares, times []figure
	for i := range r.Processes {
		p := &r.Processes[i]
		if p.Self <= 0 {
			continue
		}
		c := p.Of(method)
		share := float64(c.Self) / float64(p.Self)
		shares = append(shares, figure{p, share, share >= leastOdd})
		if r.Sampling == nil && c.Calls >= leastCalls && c.Total > 0 {
			times = append(times, figure{p, float64(c.Total) / float64(c.Calls), float64(c.Total) >= leastOdd*float64(p.Self)})
		}
	}
	far(SelfShare, shares)
	far(CallTime, times)
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
