package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/jfr"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/controller/sampler/beside"
)

const (
	heapJDK      = 16            // the first one with the event
	heapThrottle = "1000/s"      // more than in the JDK's profile.jfc, which has 300/s
	heapLongest  = 2 * time.Hour // of a recording without --for
)

// checkHeap refuses what makes no sense with --sample-heap.
func (f *recordFlags) checkHeap() error {
	switch {
	case !f.sampleHeap:
		return nil
	case !f.rec.Counts(metric.CountAllocations):
		return usage("--sample-heap says what of the counted allocations is on the heap: give --count allocations, too")
	case f.ui:
		return usage("--sample-heap is not there on the page yet: leave out --ui, and open the report with rivulet view FILE --ui")
	case f.rec.Follow:
		return usage("--sample-heap and --follow: samples can't tell who handed a task over; give one of them")
	}
	return nil
}

// A heapSampling is a recording of Flight Recorder's beside another one. The nil one does
// nothing.
type heapSampling struct {
	of         *attach.Recording
	begin, end time.Time
	err        error
}

// canSampleHeap looks, before a JVM is touched, whether it can.
func (a *app) canSampleHeap(ctx context.Context, pid int, f *recordFlags) error {
	if !f.sampleHeap {
		return nil
	}
	p, err := a.backend.inspect(ctx, pid)
	if err == nil && p.Major() < heapJDK {
		err = usage("--sample-heap: JVMs say from JDK %d on which objects they put on the heap; this one is of JDK %d", heapJDK, p.Major())
	}
	return err
}

// openHeap has the JVM sample allocations, before it is recorded: what Flight Recorder costs
// at first is over by then.
func (a *app) openHeap(ctx context.Context, pid int, f *recordFlags) (*heapSampling, error) {
	if !f.sampleHeap {
		return nil, nil
	}
	vm, err := attach.Open(ctx, pid)
	if err != nil {
		return nil, err
	}
	length := heapLongest
	if f.length > 0 {
		length = f.length + f.rec.Warmup + heapLongest/4
	}
	h := &heapSampling{}
	h.of, err = vm.StartRecording(ctx, []attach.EventSetting{{
		Event: jfr.AllocationSample, Settings: map[string]string{"throttle": heapThrottle, "stackTrace": "true"},
	}}, length)
	return h, err
}

// start says that the recording has begun, stop that it is about to end.
func (h *heapSampling) start() {
	if h != nil {
		h.begin = time.Now()
	}
}

func (h *heapSampling) stop(ctx context.Context) {
	if h == nil || !h.end.IsZero() {
		return
	}
	h.end = time.Now()
	if h.begin.IsZero() {
		return // remove ends it
	}
	h.err = h.of.Stop(ctx)
}

func (a *app) removeHeap(ctx context.Context, h *heapSampling) {
	if h == nil {
		return
	}
	if err := h.of.Remove(context.WithoutCancel(ctx)); err != nil {
		a.say("the recording of Flight Recorder could not be removed: %v", err)
	}
}

// join puts what was sampled into the report.
func (h *heapSampling) join(ctx context.Context, r *export.Report) {
	if h == nil || r == nil || r.Tree == nil {
		return
	}
	if h.err != nil {
		r.Notes = append(r.Notes, "What was allocated on the heap is not known: "+oneLine(h.err.Error()))
		return
	}
	to := beside.NewHeap(r)
	var stacks jfr.Stacks
	err := jfr.Each(ctx, jfr.NewReader(h.of.File, h.of.Size, jfr.Options{}), func(t *jfr.Type) bool { return t.Name == jfr.AllocationSample }, func(e *jfr.Event) error {
		if s, ok := stacks.Allocation(e); ok {
			at := time.Unix(0, s.Time)
			to.Add(beside.HeapEvent{
				Thread: s.Thread, TID: s.TID, Type: s.Class, Bytes: s.Bytes, Frames: s.Frames, Complete: s.Complete,
				Inside: !at.Before(h.begin) && !at.After(h.end),
			})
		}
		return nil
	})
	sum := to.Join()
	if err != nil {
		r.Notes = append(r.Notes, "Samples of the heap ended early: "+oneLine(err.Error()))
	}
	if sum.Samples == 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("No sample of the heap lies inside (%s elsewhere): what is allocated there is little, or the compiler has removed it.", export.Plural(sum.Outside, "sample", "samples")))
	}
}

// A besides is what samples beside a recording.
type besides struct {
	time *besideSampling
	heap *heapSampling
}

// openBesides opens what the flags ask for. It must be closed, also after an error.
func (a *app) openBesides(ctx context.Context, pid int, f *recordFlags, of attached) (b besides, err error) {
	if b.time, err = a.openBeside(ctx, pid, f, of); err != nil {
		return b, fmt.Errorf("--sample: %w", err)
	}
	if b.heap, err = a.openHeap(ctx, pid, f); err != nil {
		return besides{time: b.time}, fmt.Errorf("--sample-heap: %w", err)
	}
	return b, nil
}

func (b besides) start() {
	b.heap.start()
	b.time.start()
}

func (b besides) stop(ctx context.Context) {
	b.time.stop()
	b.heap.stop(ctx)
}

func (b besides) join(ctx context.Context, r *export.Report) {
	b.time.join(r)
	b.heap.join(ctx, r)
}

// close ends what still samples, and leaves nothing in the target's folders.
func (a *app) closeBesides(ctx context.Context, b besides) {
	b.time.stop()
	a.removeHeap(ctx, b.heap)
}
