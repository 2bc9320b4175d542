package export

import (
	"fmt"
	"io"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// Pprof writes the report as a compressed profile.proto, for "go tool pprof".
// A context is a sample of calls, self time (the default) and, where times are
// corrected, raw self time as measured, and of the recording's further metrics; its thread is the label "thread".
func (r *Report) Pprof(w io.Writer) error {
	p := &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: "calls", Unit: "count"}, {Type: "self", Unit: "nanoseconds"}},
		DefaultSampleType: "self", DurationNanos: int64(r.Time),
		Comments: append([]string{
			fmt.Sprintf("rivulet: %s, pid %d, scheme %s, %s clock", r.Target.Main, r.Target.PID, r.Scheme, r.Clock),
			"roots: " + strings.Join(r.Roots, " "),
		}, r.Notes...),
	}
	if r.Calibration != nil {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: "raw_self", Unit: "nanoseconds"})
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
			s := &profile.Sample{Value: []int64{n.Calls, n.Self}, Label: label}
			if r.Calibration != nil {
				s.Value = append(s.Value, n.Raw)
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
