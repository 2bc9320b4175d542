package fleet

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// A Result is what came of one command.
type Result struct {
	Head
	Report []byte // JSON, compressed; nil if there is none
}

// A Gather keeps one result of each target of a run. Results may come in any order and any
// number of times.
type Gather struct {
	run     string
	wanted  map[string]Target
	done    map[string]*Result
	repeats int
}

// Read has what a node sent that is no report. The error says that there is none, or why it
// can't be read.
func (r *Result) Read(v any) error {
	if r.Report == nil {
		return errors.New("nothing was sent")
	}
	z, err := gzip.NewReader(bytes.NewReader(r.Report))
	if err != nil {
		return err
	}
	return json.NewDecoder(io.LimitReader(z, mostAnswer)).Decode(v)
}

// mostAnswer bounds what is read of an answer that is no report.
const mostAnswer = 256 << 20

// NewGather gathers the results of a run.
func NewGather(run string) *Gather {
	return &Gather{run: run, wanted: map[string]Target{}, done: map[string]*Result{}}
}

// Want says that there will be a result of a target.
func (g *Gather) Want(t Target) { g.wanted[t.Key()] = t }

// Add takes a result, and tells whether it is the first of its target, which counts.
// Results of other runs and of targets that were not asked do not.
func (g *Gather) Add(r *Result) bool {
	key := r.Target.Key()
	if _, wanted := g.wanted[key]; !wanted || r.Run != g.run {
		return false
	}
	if g.done[key] != nil {
		g.repeats++
		return false
	}
	g.done[key] = r
	return true
}

// Repeats is how many results came more than once.
func (g *Gather) Repeats() int { return g.repeats }

// Missing are targets that were wanted and of which there is no result, in order.
func (g *Gather) Missing() []Target {
	var out []Target
	for key, t := range g.wanted {
		if g.done[key] == nil {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, Target.Compare)
	return out
}

// Results are those that there are, in the order of their targets.
func (g *Gather) Results() []*Result {
	out := make([]*Result, 0, len(g.done))
	for _, r := range g.done {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *Result) int { return a.Target.Compare(b.Target) })
	return out
}

// A Lost is a target without a result, and why.
type Lost struct {
	Target Target
	JVM    JVM
	Why    string
}

// Merge puts the reports of results together, with a column for each process; lost ones
// are named. A result whose report can't be read is one that failed. The report is nil if
// there is none; the reports are read one at a time, and all are held until the end.
func Merge(results []*Result, lost []Lost) *export.Report {
	parts := make([]export.ProcessReport, 0, len(results)+len(lost))
	var first *export.Report
	for _, r := range results {
		p := export.ProcessReport{Host: r.JVM.Name(r.Target.Node), Target: targetOf(r.Target, &r.JVM)}
		if r.Error != "" {
			p.Err = errors.New(r.Error)
		}
		if r.Report != nil {
			report, err := export.ReadJSON(bytes.NewReader(r.Report))
			if err == nil && first != nil {
				err = export.Comparable(first, report)
			}
			switch {
			case err != nil:
				p.Err = fmt.Errorf("its report is left out: %w", err)
			default:
				if p.Report = report; first == nil {
					first = report
				}
			}
		}
		parts = append(parts, p)
	}
	for _, l := range lost {
		parts = append(parts, export.ProcessReport{Host: l.JVM.Name(l.Target.Node), Target: targetOf(l.Target, &l.JVM), Err: errors.New(l.Why)})
	}
	return export.MergeProcesses(parts)
}

func targetOf(t Target, j *JVM) export.Target {
	return export.Target{PID: t.PID, Java: j.Java, VM: j.VM, Main: j.Main}
}
