package flight

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/classload"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/jfr"
	"github.com/rivulet-profiler/rivulet/controller/locks"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/controller/sampler/beside"
)

// longest is for how long Flight Recorder records beside. It ends then by itself, also if neither this process nor the
// agent is there any more to end it.
const longest = time.Hour

// heapJDK is the first JDK that samples what it puts on the heap.
const heapJDK = 16

// A Recording is one of Flight Recorder's beside one of ours. The zero value is none. One
// goroutine at a time may use it.
type Recording struct {
	on      *attach.Recording
	metrics *metric.Table
	major   int      // the JDK
	of      []string // what it is to tell, as in "class loads"
	notes   []string // what the report's reader has to know of it

	began, ended int64 // between which the recording was on, ns since 1970

	loads loadTimes
	waits contention
}

// events are the events that recordings with these metrics need.
var events = []struct {
	row    metric.Metric
	what   string
	from   int    // the first JDK that has them; 0 is all
	name   string // of the setting of each event that matters
	value  string
	events []string
}{
	{metric.ClassLoads, "how long class loads took", 0, "threshold", "0 ns", []string{classload.Event}},
	{metric.LockWaits, "who waited for locks", 0, "threshold", "0 ns", []string{locks.MonitorEnter, locks.ThreadPark}},
	{metric.HeapBytes, "what was allocated on the heap", heapJDK, "throttle", "1000/s", []string{jfr.AllocationSample}}, // profile.jfc has 300/s
}

// Start has Flight Recorder tell what a recording with these metrics wants, in a JVM of this
// JDK. open yields the JVM, if there is anything to tell. It returns the name of Flight
// Recorder's recording, "" if there is none, and what a reader of the report has to know.
func (f *Recording) Start(ctx context.Context, metrics *metric.Table, major int, open func() (*attach.VM, error)) (name string, notes []string) {
	f.metrics, f.major = metrics, major
	var settings []attach.EventSetting
	for _, w := range events {
		if metrics.Index(w.row.Name) < 0 {
			continue
		}
		if major < w.from {
			notes = append(notes, fmt.Sprintf("It is not known %s: JVMs tell that from JDK %d on.", w.what, w.from))
			continue
		}
		f.of = append(f.of, w.what)
		for _, e := range w.events {
			settings = append(settings, attach.EventSetting{Event: e, Settings: map[string]string{w.name: w.value, "stackTrace": "true"}})
		}
	}
	if len(settings) == 0 {
		return "", notes
	}
	vm, err := open()
	if err == nil {
		f.on, err = vm.StartRecordingToExit(ctx, settings, longest)
	}
	if err != nil {
		return "", append(notes, f.unknown(err))
	}
	return f.on.Name(), notes
}

func (f *Recording) unknown(err error) string {
	text := strings.Join(f.of, ", and ")
	return fmt.Sprintf("It is not known %s: %v.", text, err)
}

// End ends Flight Recorder's recording, and reads of it what needs no tree. since says for how long ours has been on, in
// ns, up to the moment at which it is asked. [Recording.Drop] has to follow.
func (f *Recording) End(ctx context.Context, since func() int64) {
	if f.on == nil {
		return
	}
	err := f.on.Stop(ctx)
	if err != nil {
		err = errors.Join(f.on.Left(), err) // what a JVM writes that exits
	}
	if f.on.File == nil {
		f.notes = append(f.notes, f.unknown(err))
		return
	}
	f.ended = time.Now().UnixNano()
	f.began = f.ended - since()
	if f.ended-f.began > int64(longest) {
		f.notes = append(f.notes, fmt.Sprintf("Flight Recorder told %s for %v only.", strings.Join(f.of, ", and "), longest))
	}
	f.read(ctx, metric.ClassLoads, f.loads.read)
	f.read(ctx, metric.LockWaits, f.waits.read)
}

// read reads what a metric wants of the file.
func (f *Recording) read(ctx context.Context, row metric.Metric, by func(context.Context, *jfr.Reader, int64, int64) string) {
	if f.metrics.Index(row.Name) < 0 {
		return
	}
	if note := by(ctx, f.reader(), f.began, f.ended); note != "" {
		f.notes = append(f.notes, note)
	}
}

func (f *Recording) reader() *jfr.Reader {
	return jfr.NewReader(f.on.File, f.on.Size, jfr.Options{})
}

// Time adds to class loads how long they took, as far as Flight Recorder has seen them, less what their threads waited for
// the profiler. It returns a copy, and the loads that only Flight Recorder has seen.
func (f *Recording) Time(list []Load, waits []int64) (timed []Load, rest []classload.Load) {
	return f.loads.time(list, waits)
}

// Report adds what Flight Recorder has told to a report that has its tree. rest is from [Recording.Time].
func (f *Recording) Report(ctx context.Context, r *export.Report, rest []classload.Load) {
	r.Notes = append(r.Notes, f.notes...)
	f.loads.report(r, rest)
	f.waits.report(r)
	f.onHeap(ctx, r)
}

// onHeap puts what Flight Recorder has met on the heap into the contexts of a report that has its tree.
func (f *Recording) onHeap(ctx context.Context, r *export.Report) {
	if f.on == nil || f.on.File == nil || f.metrics.Index(metric.HeapBytes.Name) < 0 || f.major < heapJDK {
		return
	}
	to := beside.NewHeap(r)
	var stacks jfr.Stacks
	err := jfr.Each(ctx, f.reader(), func(t *jfr.Type) bool { return t.Name == jfr.AllocationSample }, func(e *jfr.Event) error {
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

// Drop removes Flight Recorder's recording, if there is one. The error says what is left of it.
func (f *Recording) Drop() error {
	r := f.on
	if r == nil {
		return nil
	}
	f.on = nil
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return r.Remove(ctx)
}
