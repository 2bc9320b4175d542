package export

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/rivulet-profiler/rivulet/controller/event"
)

// ErrNoTimeline reports a recording without events, which has no timeline.
var ErrNoTimeline = errors.New("no timeline was recorded: it takes events (--trace)")

// Trace writes the timeline in the Chrome trace-event format (JSON object
// form), which Perfetto, speedscope and chrome://tracing open: a complete
// event ("ph":"X") for each slice, times in µs from the beginning of the
// recording. Slices of category "root" have in "args" the trace and span of OpenTelemetry that they were part of,
// where that is known. Slices of category "task" are executions of tasks; a flow ("ph":"s"
// and "f") leads to each from the invocation that handed it over. Slices of
// category "rivulet" are waits for the profiler. What is marked lies on rows of its own, as slices of category "gc", "redefinition" and
// "reveal", and as instants ("ph":"i") of category "load" and "agent".
func (r *Report) Trace(out io.Writer) error {
	t := r.Timeline
	if t == nil {
		return ErrNoTimeline
	}
	w := jsonWriter{sink: sink{w: out}, names: map[int32][]byte{}, report: r}
	w.text(`{"displayTimeUnit":"ms","otherData":{"target":`)
	w.bytes(quote(r.Target.Main))
	w.text(`,"java":`)
	w.bytes(quote(r.Target.Java))
	w.text(`,"clock":`)
	w.bytes(quote(r.Clock))
	w.text(`,"slices_left_out":"`)
	w.number(t.Left)
	w.text(`","shorter_than_ns":"`)
	w.number(t.Least)
	w.text("\"},\n\"traceEvents\":[\n")
	name := r.Target.Main
	if name == "" {
		name = "JVM"
	}
	w.text(fmt.Sprintf(`{"ph":"M","name":"process_name","pid":%d,"tid":0,"args":{"name":%s}}`, r.Target.PID, quote(name)))
	for _, id := range slices.Sorted(maps.Keys(t.Threads)) {
		th := t.Threads[id]
		name := th.Name
		switch {
		case name == "" && th.Virtual:
			name = fmt.Sprint("virtual thread ", id)
		case name == "":
			name = fmt.Sprint("thread ", id)
		}
		w.text(fmt.Sprintf(",\n"+`{"ph":"M","name":"thread_name","pid":%d,"tid":%d,"args":{"name":%s}}`, r.Target.PID, id, quote(name)))
	}
	ends := flowEnds(t)
	for _, s := range wellNested(t.Slices) {
		of := ends[s.Thread]
		for len(of) > 0 && (of[0].at < s.Start || of[0].at == s.Start && of[0].depth < s.Depth) {
			w.flow(r, of[0])
			of = of[1:]
		}
		ends[s.Thread] = of
		w.text(",\n")
		w.slice(r, s)
	}
	for _, id := range slices.Sorted(maps.Keys(ends)) {
		for _, e := range ends[id] {
			w.flow(r, e)
		}
	}
	w.marks(r)
	w.text("\n]}\n")
	if err := w.flush(); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return nil
}

func (w *jsonWriter) slice(r *Report, s event.Slice) {
	w.text(`{"ph":"X","name":`)
	switch {
	case s.Method == event.Suspended:
		w.text(`"(waits for Rivulet)","cat":"rivulet"`)
	case s.Root:
		w.bytes(w.name(s.Method))
		w.text(`,"cat":"root"`)
	case s.Task:
		w.bytes(w.name(s.Method))
		w.text(`,"cat":"task"`)
	default:
		w.bytes(w.name(s.Method))
		w.text(`,"cat":"call"`)
	}
	w.text(`,"ts":`)
	w.micros(s.Start)
	w.text(`,"dur":`)
	w.micros(s.Took)
	w.field("pid", int64(r.Target.PID))
	w.field("tid", s.Thread)
	if s.Span != nil {
		w.text(`,"args":{"trace_id":"` + s.Span.TraceID() + `","span_id":"` + s.Span.SpanID() + `"}`)
	}
	w.text("}")
}

// micros writes ns as µs with three decimals.
func (w *jsonWriter) micros(ns int64) {
	w.buf = strconv.AppendFloat(w.buf, float64(ns)/1000, 'f', 3, 64)
}
