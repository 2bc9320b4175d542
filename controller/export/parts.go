package export

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// jsonParts is what processes have of a context. At are their places in "processes"; those that have nothing of it are left out.
type jsonParts struct {
	At    []int32 `json:"at"`
	Calls []int64 `json:"calls"` // of a report of samples they are "entries"
	Self  []int64 `json:"self_ns"`
	Total []int64 `json:"total_ns"`

	Entries []int64 `json:"entries"`
}

// parts writes what processes have of a context, if it is known.
func (w *jsonWriter) parts(n *cct.Node) {
	parts := n.Parts()
	if len(parts) == 0 {
		return
	}
	list := func(name string, of func(cct.Part) int64) {
		w.text(`"` + name + `":[`)
		for i, p := range parts {
			if i > 0 {
				w.text(",")
			}
			w.number(of(p))
		}
		w.text("]")
	}
	w.text(`,"processes":{`)
	list("at", func(p cct.Part) int64 { return int64(p.Process) })
	w.text(",")
	list(map[bool]string{true: "entries", false: "calls"}[w.report.Sampling != nil], func(p cct.Part) int64 { return p.Calls })
	w.text(",")
	list("self_ns", func(p cct.Part) int64 { return p.Self })
	w.text(",")
	list("total_ns", func(p cct.Part) int64 { return p.Total })
	w.text("}")
}

// read gives a node what was read. What makes no sense, and all that follows it, is left out.
func (j *jsonParts) read(n *cct.Node) {
	if j == nil {
		return
	}
	var parts []cct.Part
	for i, at := range j.At {
		if at < 0 || i > 0 && at <= j.At[i-1] {
			break
		}
		parts = append(parts, cct.Part{Process: at, Calls: nth(j.Calls, i) + nth(j.Entries, i), Self: nth(j.Self, i)})
	}
	if parts != nil {
		n.SetParts(parts)
	}
}

// nth is an element of a list; 0 where it has none.
func nth(list []int64, i int) int64 {
	if i < len(list) {
		return list[i]
	}
	return 0
}

// A ProcessPart heads the figures that one of several processes has of call paths.
type ProcessPart struct {
	Name  string `json:"name"`
	Total int64  `json:"total"` // ns of all that was recorded of it, what shares are of

	place int32
}

// mostColumns are the processes that a tree has columns of: those with the most time.
const mostColumns = 12

// ProcessParts are the processes that trees of the report have figures of, in the order of Processes, twelve at the most;
// nil where the trees are of one process, or nobody kept its part apart.
func (r *Report) ProcessParts(roots []*cct.Node) []ProcessPart {
	if !slices.ContainsFunc(roots, func(n *cct.Node) bool { return len(n.Parts()) > 0 }) {
		return nil
	}
	var all []ProcessPart
	for i := range r.Processes {
		if p := &r.Processes[i]; p.Self > 0 {
			all = append(all, ProcessPart{p.Name(), p.Self, int32(i)})
		}
	}
	slices.SortStableFunc(all, func(a, b ProcessPart) int { return cmp.Compare(b.Total, a.Total) })
	all = all[:min(len(all), mostColumns)]
	slices.SortFunc(all, func(a, b ProcessPart) int { return cmp.Compare(a.place, b.place) })
	return all
}

// PartsOf are the totals of a call path in these processes, ns.
func PartsOf(n *cct.Node, of []ProcessPart) []int64 {
	return partsOf(n, of, func(p cct.Part) int64 { return p.Total })
}

func partsOf(n *cct.Node, of []ProcessPart, figure func(cct.Part) int64) []int64 {
	out := make([]int64, len(of))
	parts := n.Parts()
	for i, p := range of { // both are in the order of places
		for len(parts) > 0 && parts[0].Process < p.place {
			parts = parts[1:]
		}
		if len(parts) > 0 && parts[0].Process == p.place {
			out[i] = figure(parts[0])
		}
	}
	return out
}

// oddPart is a process that takes far longer for a call of a context than the others; nil if none does, or it is not
// known. It goes by what [Report.Outliers] goes by.
func (r *Report) oddPart(n *cct.Node) *Outlier {
	if r.Sampling != nil || len(n.Parts()) < leastOthers {
		return nil
	}
	var all []processFigure
	for _, p := range n.Parts() {
		if int(p.Process) >= len(r.Processes) || p.Calls < leastCalls || p.Total <= 0 {
			continue
		}
		of := &r.Processes[p.Process]
		all = append(all, processFigure{of, float64(p.Total) / float64(p.Calls), float64(p.Total) >= leastOdd*float64(of.Self)})
	}
	var worst *Outlier
	for _, o := range farOff(CallTime, all) {
		if worst == nil || o.Value > worst.Value {
			worst = &o
		}
	}
	return worst
}

// short says it in a few words: "web-7/4711 takes 3.2 times as long".
func (o *Outlier) short() string {
	p := Process{Host: o.Host, PID: o.PID}
	return fmt.Sprintf("%s takes %.1f times as long", Clean(p.Name()), o.Value/o.Median)
}
