package push

import (
	"fmt"

	otlp "go.opentelemetry.io/proto/otlp/profiles/v1development"

	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// RootCallSelf is the sample type, in nanoseconds, of a profile of one root call: self times. It has a
// name of its own since the recording's profiles have these times, too.
const RootCallSelf = "root_call_self"

// linked are the profiles of root calls that were part of a span. began is when the
// recording began, ns since 1970.
func (d *dictionary) linked(r *export.Report, began int64) ([]*otlp.Profile, error) {
	if r.Slowest == nil {
		return nil, nil
	}
	var out []*otlp.Profile
	for _, i := range r.Slowest.Invocations {
		if !i.Span.Known() {
			continue
		}
		p, err := profileOf(r.OfRootCall(i), Origin{})
		if err != nil {
			return nil, fmt.Errorf("the root call of span %s: %w", i.Span.SpanID(), err)
		}
		self := -1
		for at, t := range p.SampleType {
			if t.Type == "self" {
				self = at
			}
		}
		if self < 0 {
			return nil, nil // a tree of counts
		}
		link := d.link(i.Span)
		one := &otlp.Profile{
			SampleType:   &otlp.ValueType{TypeStrindex: d.text(RootCallSelf), UnitStrindex: d.text(p.SampleType[self].Unit)},
			TimeUnixNano: uint64(began + i.Start), DurationNano: uint64(i.Took + i.Suspended),
			AttributeIndices: []int32{d.attribute("rivulet.how", r.How()), d.attribute("thread.name", i.Thread.Name)},
		}
		for _, s := range p.Sample {
			if s.Value[self] != 0 {
				one.Samples = append(one.Samples, &otlp.Sample{StackIndex: d.stack(s.Location), Values: []int64{s.Value[self]}, LinkIndex: link})
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// link is a span's place in the table of links.
func (d *dictionary) link(s event.Span) int32 {
	d.LinkTable = append(d.LinkTable, &otlp.Link{TraceId: s.Trace[:], SpanId: s.ID[:]})
	return int32(len(d.LinkTable) - 1)
}
