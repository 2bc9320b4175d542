package session

import (
	"context"
	"fmt"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/jfr"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/controller/sampler/beside"
)

// onHeap puts what Flight Recorder has met on the heap into the contexts of a report that has its tree.
func (s *Session) onHeap(ctx context.Context, r *export.Report) {
	f := &s.flight
	if f.recording == nil || f.recording.File == nil || s.metrics.Index(metric.HeapBytes.Name) < 0 || s.proc.Major() < heapJDK {
		return
	}
	to := beside.NewHeap(r)
	var stacks jfr.Stacks
	err := jfr.Each(ctx, jfr.NewReader(f.recording.File, f.recording.Size, jfr.Options{}), func(t *jfr.Type) bool { return t.Name == jfr.AllocationSample }, func(e *jfr.Event) error {
		if a, ok := stacks.Allocation(e); ok {
			to.Add(beside.HeapEvent{
				Thread: a.Thread, TID: a.TID, Type: a.Class, Bytes: a.Bytes, Frames: a.Frames, Complete: a.Complete,
				Inside: a.Time >= f.began && a.Time <= f.ended,
			})
		}
		return nil
	})
	sum := to.Join()
	if err != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("Samples of the heap ended early: %v.", err))
	}
	if sum.Samples == 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("No sample of the heap lies inside (%s elsewhere): what is allocated there is little, or the compiler has removed it.", export.Plural(sum.Outside, "sample", "samples")))
	}
}
