package export

import (
	"fmt"
	"io"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// A pprofValue is a figure that each context has in a profile.
type pprofValue struct {
	name, unit string
	of         func(*cct.Node) int64
}

// pprofValues are a report's figures. The second one is the default.
func (r *Report) pprofValues() []pprofValue {
	calls := func(n *cct.Node) int64 { return n.Calls }
	self := func(n *cct.Node) int64 { return n.Self }
	if s := r.Sampling; s != nil {
		return []pprofValue{{"samples", "count", sampleCount}, {s.Mode, "nanoseconds", self}, {"entries", "count", calls}}
	}
	values := []pprofValue{{"calls", "count", calls}, {"self", "nanoseconds", self}}
	if r.Calibration != nil {
		values = append(values, pprofValue{"raw_self", "nanoseconds", func(n *cct.Node) int64 { return n.Raw }})
	}
	return values
}

// Pprof writes the report as a compressed profile.proto, for "go tool pprof".
// A context is a sample of calls, self time (the default) and, where times are
// corrected, raw self time as measured, and what else is counted; of a report of samples it is one of samples, their
// time (the default) and entries. Its thread is the label "thread".
func (r *Report) Pprof(w io.Writer) error {
	r = r.withTypes()
	values := r.pprofValues()
	p := &profile.Profile{
		DefaultSampleType: values[1].name, DurationNanos: int64(r.Time),
		Comments: []string{fmt.Sprintf("rivulet: %s, pid %d, %s", r.Target.Main, r.Target.PID, r.How())},
	}
	if s := r.Sampling; s == nil {
		p.Comments = append(p.Comments, "roots: "+strings.Join(r.Roots, " "))
	} else if s.Hz > 0 {
		p.PeriodType, p.Period = &profile.ValueType{Type: s.Mode, Unit: "nanoseconds"}, int64(1e9/s.Hz)
	}
	p.Comments = append(p.Comments, r.Notes...)
	for _, v := range values {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: v.name, Unit: v.unit})
	}
	metrics := r.metrics().All()
	for _, m := range metrics {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: m.Name, Unit: string(m.Unit)})
	}
	frames := map[int32]*profile.Location{}
	frame := func(method int32) *profile.Location {
		l, ok := frames[method]
		if !ok {
			name := r.frameName(method)
			bare, _, _ := strings.Cut(name, "(")
			if bare == "" {
				bare = name
			}
			file, line := r.sourceOf(method)
			f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: bare, SystemName: name, Filename: file, StartLine: line}
			l = &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f, Line: line}}}
			p.Function, p.Location = append(p.Function, f), append(p.Location, l)
			frames[method] = l
		}
		return l
	}
	for _, t := range r.figures().threads {
		label := map[string][]string{"thread": {threadName(t)}}
		if err := stacks(t.Roots, func(n *cct.Node, stack []int32) error {
			s := &profile.Sample{Label: label}
			for _, v := range values {
				s.Value = append(s.Value, v.of(n))
			}
			for i := range metrics {
				s.Value = append(s.Value, own(n.Counts, i))
			}
			for i := len(stack) - 1; i >= 0; i-- {
				s.Location = append(s.Location, frame(stack[i]))
			}
			p.Sample = append(p.Sample, s)
			return nil
		}); err != nil {
			return err
		}
	}
	if err := p.CheckValid(); err != nil {
		return fmt.Errorf("pprof: %w", err)
	}
	if err := p.Write(w); err != nil {
		return fmt.Errorf("pprof: %w", err)
	}
	return nil
}
