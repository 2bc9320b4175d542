package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// A Timeliner is a [Session] that can record timelines.
type Timeliner interface {
	// Timeline answers a query of the recording that is on; times are ns from
	// its beginning. [export.ErrNoTimeline] where it has none.
	Timeline(ctx context.Context, q event.Query) (*export.TimelineView, error)
}

// ErrNoTimeline reports a recording without a timeline.
var ErrNoTimeline = errors.New("this recording has no timeline: tick \"timeline\" before the start, or give --trace")

// A TimelineQuery chooses a part of a timeline; times are in ns from the beginning of the
// recording.
type TimelineQuery = event.Query

// MostItems is the largest number of slices that a [TimelineQuery] can ask for.
const MostItems = event.MostItems

// maxTimelines bounds the snapshots whose timelines are in memory, 10 MB each.
const maxTimelines = 8

// A TimelineView is a part of a timeline. Times are in ns from the beginning of the
// recording.
type TimelineView struct {
	End     int64            `json:"end"`     // of the last slice or mark
	Threads []TimelineThread `json:"threads"` // that have slices anywhere, by the time of the first
	Methods [][2]string      `json:"methods"` // name, loader
	// Slices are [thread, depth, method, start, took, flags]: places in Threads
	// and Methods, method -1 a wait for the profiler; callers before callees.
	Slices       [][6]int64     `json:"slices"`
	Spans        []TimelineSpan `json:"spans,omitempty"`
	Left         int64          `json:"left"`          // slices that are kept, but not here
	Least        int64          `json:"least"`         // all of them shorter than so many ns
	Missing      int64          `json:"missing"`       // slices that were not kept
	MissingBelow int64          `json:"missing_below"` // all of them shorter than so many ns
	// Hops are tasks from their hand-over to their execution: [thread, depth,
	// method, when] of the hand-over, the same of the execution, how long that took.
	Hops      [][9]int64     `json:"hops"`
	HopsLeft  int64          `json:"hops_left"`
	Marks     []TimelineMark `json:"marks"`
	MarksLeft int64          `json:"marks_left"`
	Note      string         `json:"note"` // why a kind of marks is missing
}

// A TimelineThread is a thread with slices in a timeline.
type TimelineThread struct {
	ID      int64  `json:"id"`
	Name    string `json:"name"`
	Virtual bool   `json:"virtual,omitempty"`
}

// A TimelineSpan is the span of OpenTelemetry that a root call was part of.
type TimelineSpan struct {
	Slice   int    `json:"slice"` // its place in Slices
	TraceID string `json:"trace_id"`
	SpanID  string `json:"span_id"`
}

// A TimelineMark is an [event.Mark]. Times are in ns.
type TimelineMark struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Start int64  `json:"start"`
	Took  int64  `json:"took"`
	Count int64  `json:"count"`
	Pause int64  `json:"pause"` // -1 unknown
	Off   int64  `json:"off"`
	Cause string `json:"cause,omitempty"` // of a collection, where it was seen
}

// Timeline is a part of the timeline of a snapshot or, for source 0, of the recording that
// is on or was the last. Errors are [ErrNoSnapshot], [ErrNoTimeline], or the session's.
func (l *Live) Timeline(ctx context.Context, source int64, q TimelineQuery) (*TimelineView, error) {
	s, phase := l.settled(ctx)
	f := l.source(source)
	switch {
	case f == nil && source != 0:
		return nil, ErrNoSnapshot
	case source == 0 && s != nil && phase == InRecording:
		t, ok := s.(Timeliner)
		if !ok {
			return nil, ErrNoTimeline
		}
		v, err := t.Timeline(ctx, q)
		if errors.Is(err, export.ErrNoTimeline) {
			return nil, ErrNoTimeline
		}
		if err != nil {
			return nil, err
		}
		if f != nil {
			v.Threads = named(v.Threads, slices.Concat(f.Report.Tree.Executors, f.threads))
		}
		return pageOf(v), nil
	case f == nil || f.Report.Timeline == nil:
		return nil, ErrNoTimeline
	}
	return pageOf(f.Report.Timeline.View(q, f.Report.Marks, f.Report.Lookup)), nil
}

// settled is the session and the phase, once a recording that is being ended
// has ended: who asks for it meanwhile gets the whole one.
func (l *Live) settled(ctx context.Context) (Session, string) {
	for {
		l.mu.Lock()
		s, phase := l.session, l.phase
		l.mu.Unlock()
		if phase != Stopping || ctx.Err() != nil {
			return s, phase
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// named adds what a frame knows of threads.
func named(threads map[int64]cct.Thread, known []*cct.Thread) map[int64]cct.Thread {
	out := maps.Clone(threads)
	for _, t := range known {
		if _, ok := out[t.ID]; ok {
			out[t.ID] = cct.Thread{ID: t.ID, Name: t.Name, Virtual: t.Virtual}
		}
	}
	return out
}

func pageOf(v *export.TimelineView) *TimelineView {
	p := &TimelineView{
		End: v.End, Threads: []TimelineThread{}, Methods: [][2]string{}, Slices: make([][6]int64, 0, len(v.Slices)), Hops: [][9]int64{}, HopsLeft: v.HopsLeft, Marks: []TimelineMark{},
		Left: v.Left, Least: v.Least, Missing: v.Missing, MissingBelow: v.MissingBelow, MarksLeft: v.MarksLeft, Note: v.Note,
	}
	lanes := map[int64]int64{}
	for i, id := range v.Lanes {
		lanes[id] = int64(i)
		t := v.Threads[id]
		p.Threads = append(p.Threads, TimelineThread{ID: id, Name: export.Clean(t.Name), Virtual: t.Virtual})
	}
	methods := map[int32]int64{event.Suspended: -1}
	method := func(id int32) int64 {
		m, ok := methods[id]
		if !ok {
			m = int64(len(p.Methods))
			methods[id] = m
			name := cct.Method{Name: fmt.Sprintf("unknown method %d", id)}
			if known, ok := v.Lookup(id); ok {
				name = known
			}
			p.Methods = append(p.Methods, [2]string{name.Name, name.Loader})
		}
		return m
	}
	for i, s := range v.Slices {
		if s.Span != nil {
			p.Spans = append(p.Spans, TimelineSpan{i, s.Span.TraceID(), s.Span.SpanID()})
		}
		p.Slices = append(p.Slices, [6]int64{lanes[s.Thread], int64(s.Depth), method(s.Method), s.Start, s.Took, s.Flags()})
	}
	for _, h := range v.Hops {
		p.Hops = append(p.Hops, [9]int64{
			lanes[h.From], int64(h.FromDepth), method(h.By), h.At,
			lanes[h.To], int64(h.ToDepth), method(h.Method), h.Began, h.Took,
		})
	}
	for _, k := range v.Marks {
		p.Marks = append(p.Marks, TimelineMark{Kind: k.Kind.String(), Name: export.Clean(k.Name), Start: k.Start, Took: k.Took, Count: k.Count, Pause: k.Pause, Off: k.Off, Cause: export.Clean(k.Cause)})
	}
	return p
}

// boundTimelines lets only the snapshots that were used last keep their timelines in
// memory. Others leave it that are in files; of those that are not, the timeline is
// given up. It is called with the lock held.
func (l *Live) boundTimelines() {
	var with []*Snapshot
	for _, s := range l.snapshots {
		if s.Frame != nil && s.Frame.Report.Timeline != nil {
			with = append(with, s)
		}
	}
	slices.SortFunc(with, func(a, b *Snapshot) int { return cmp.Compare(b.used, a.used) })
	for _, s := range with[min(len(with), maxTimelines):] {
		if s.file != "" {
			s.unload()
			continue
		}
		r := *s.Frame.Report // frames don't change: others may be reading this one
		r.Timeline = nil
		s.Frame = newFrame(s.Frame.ID, &r, l.numbering)
	}
}

// withTimeline is a frame of the recording that is on with its timeline, where it has
// one: what a view has of it.
func (l *Live) withTimeline(ctx context.Context, f *Frame) (*Frame, error) {
	s, phase := l.settled(ctx)
	t, ok := s.(Timeliner)
	if !ok || phase != InRecording || f.Report.Timeline != nil {
		return f, nil
	}
	v, err := t.Timeline(ctx, event.Query{})
	if errors.Is(err, export.ErrNoTimeline) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	v.Threads = named(v.Threads, f.threads)
	r := *f.Report
	r.Timeline, r.Marks = v.Timeline()
	r.Lookup = either(r.Lookup, v.Lookup)
	return newFrame(f.ID, &r, l.numbering), nil
}

// either finds what one of two finds, the first one for preference.
func either(a, b cct.Lookup) cct.Lookup {
	return func(id int32) (cct.Method, bool) {
		if a != nil {
			if m, ok := a(id); ok {
				return m, true
			}
		}
		return b(id)
	}
}
