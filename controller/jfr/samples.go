package jfr

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// The events that are samples of running threads: of all JDKs, and by processor time (JDK 25).
const (
	ExecutionSample = "jdk.ExecutionSample"
	CPUTimeSample   = "jdk.CPUTimeSample"

	CPUTimeSamplesLost = "jdk.CPUTimeSamplesLost" // JDK 25: lostSamples of a thread, for want of room

	AllocationSample = "jdk.ObjectAllocationSample" // JDK 16 and later
)

// Each gives all events of a recording, chunk by chunk. It returns the first error; what
// came before it is valid.
func Each(ctx context.Context, r *Reader, want func(*Type) bool, f func(*Event) error) error {
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = c.Events(ctx, want, f)
		}
		if err != nil {
			return err
		}
	}
}

// Stacks makes samples of events that have a thread and a stack trace. The methods of
// one Stacks are interned.
type Stacks struct {
	methods map[stack.Method]*stack.Method
	chunk   *Chunk
	byKey   map[int64]*stack.Method // of the chunk
	frames  []stack.Frame
}

// kinds are the kinds of frames by JFR's names of them.
var kinds = map[string]stack.Kind{
	"Interpreted": stack.Interpreted, "JIT compiled": stack.C2, "Inlined": stack.Inlined, "Native": stack.JavaNative,
}

// Frames are the frames of an event's stack trace, innermost first, and whether there
// are all of them. They are valid until the next call.
func (s *Stacks) Frames(e *Event, field string) (frames []stack.Frame, complete bool) {
	if s.chunk != e.chunk {
		s.chunk, s.byKey = e.chunk, map[int64]*stack.Method{}
	}
	trace := e.Field(field).one()
	s.frames = s.frames[:0]
	for _, f := range trace.Field("frames").Elements() {
		s.frames = append(s.frames, stack.Frame{
			Method: s.method(f.Field("method")), Kind: kinds[f.Field("type").Text()],
			BCI: int(f.Field("bytecodeIndex").Int()), Line: int(max(f.Field("lineNumber").Int(), 0)),
		})
	}
	return s.frames, trace.Field("truncated").Int() == 0
}

// method is a method of the event's chunk.
func (s *Stacks) method(v Value) *stack.Method {
	if m := s.byKey[v.Key()]; m != nil {
		return m
	}
	named := stack.Method{
		Class: v.Field("type").Field("name").Text(), Name: v.Field("name").Text(), Desc: v.Field("descriptor").Text(),
	}
	m := s.methods[named]
	if m == nil {
		if s.methods == nil {
			s.methods = map[stack.Method]*stack.Method{}
		}
		m = &named
		s.methods[named] = m
	}
	s.byKey[v.Key()] = m
	return m
}

// Thread is a thread of an event: its name and its number. That of the
// operating system for platform threads; for virtual ones Java's, negative.
func Thread(v Value) (name string, id int) {
	name = v.Field("javaName").Text()
	if name == "" {
		name = v.Field("osName").Text()
	}
	if v.Field("virtual").Int() != 0 {
		n := v.Field("javaThreadId").Int()
		if name == "" {
			name = "virtual thread " + strconv.FormatInt(n, 10)
		}
		return name, int(-n)
	}
	return name, int(v.Field("osThreadId").Int())
}

// Sample makes a sample of an [ExecutionSample] or a [CPUTimeSample]. It stands for period, or
// for what the event says. The frames are valid until the next call; ok is false if there are none.
func (s *Stacks) Sample(e *Event, period time.Duration) (out stack.Stack, ok bool) {
	thread := e.Field("sampledThread")
	if e.Type.Name == CPUTimeSample {
		thread = e.Field("eventThread")
		if d := e.chunk.span(e, "samplingPeriod"); d > 0 {
			period = d
		}
	}
	frames, complete := s.Frames(e, "stackTrace")
	complete = complete && len(frames) > 0
	out = stack.Stack{Time: e.Start(), Weight: int64(period), Java: true, State: stack.Running, Frames: frames, Complete: complete}
	out.Thread, out.TID = Thread(thread)
	if len(frames) == 0 {
		return out, false
	}
	if !complete {
		out.Broken = "JFR keeps the innermost frames only (stackdepth)"
	}
	return out, true
}

// Span is a field's span of time in ns; 0 if it has none.
func (e *Event) Span(field string) int64 { return int64(e.chunk.span(e, field)) }

func (c *Chunk) span(e *Event, field string) time.Duration {
	i := e.Type.Field(field)
	if i < 0 {
		return 0
	}
	n := e.Field(field).Int()
	switch e.Type.Fields[i].Unit {
	case SpanTicks:
		return time.Duration(c.Span(n))
	case SpanMicros:
		return time.Duration(n) * time.Microsecond
	case SpanMillis:
		return time.Duration(n) * time.Millisecond
	case SpanSeconds:
		return time.Duration(n) * time.Second
	}
	return time.Duration(n)
}

// ParseSpan reads a span as settings have it, such as "20 ms" or "1 s".
func ParseSpan(text string) (time.Duration, bool) {
	number, unit, _ := strings.Cut(strings.TrimSpace(text), " ")
	n, err := strconv.ParseInt(number, 10, 64)
	of, ok := map[string]time.Duration{
		"ns": time.Nanosecond, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
	}[strings.TrimSpace(unit)]
	if err != nil || !ok || n < 0 || n > int64(1<<62/of) {
		return 0, false
	}
	return time.Duration(n) * of, true
}

// An Allocation is an [AllocationSample].
type Allocation struct {
	stack.Stack
	Class string // of the object, in internal form; of an array its descriptor
	Bytes int64  // that the thread has allocated since its last sample, or since it began
}

// Allocation makes one of an event. The stack is valid until the next call; ok is false if
// there is none.
func (s *Stacks) Allocation(e *Event) (out Allocation, ok bool) {
	frames, complete := s.Frames(e, "stackTrace")
	out = Allocation{
		Stack: stack.Stack{Time: e.Start(), Java: true, State: stack.Running, Frames: frames, Complete: complete},
		Class: e.Field("objectClass").Field("name").Text(), Bytes: max(e.Field("weight").Int(), 0),
	}
	out.Thread, out.TID = Thread(e.Field("eventThread"))
	return out, len(frames) > 0 && out.Class != ""
}
