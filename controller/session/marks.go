package session

import (
	"context"
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// mark adds a mark to the timeline, where there is one, with the time from
// which it is up to now. It is the loop's.
func (l *loop) mark(k event.Mark, from int64) {
	e := l.events()
	if e == nil || e.marks == nil {
		return
	}
	k.Start, k.Took = from, max(l.s.now()-from, 0)
	k.Count = max(k.Count, 1)
	e.marks.Add(k)
}

// markLoad marks that a class has come, and which method needed it, where its thread was inside.
func (l *loop) markLoad(q *link.Transform) {
	e := l.events()
	if e == nil || e.marks == nil {
		return
	}
	k := event.Mark{Kind: event.Loading, Name: q.ID.String(), Start: l.s.now(), Count: 1, Pause: -1}
	if q.Token != 0 && q.Token>>wire.IndexBits<<wire.IndexBits == l.s.data.Part() {
		if id := l.s.data.MethodAt(uint32(q.Token)); id > 0 && id < l.ledger.Len() {
			if m := l.ledger.Method(id); m != nil && m.Type == "" {
				k.Cause = methodID(m).String()
			}
		}
	}
	e.marks.Add(k)
}

// markBatch marks that classes were redefined, which took so long; pause is
// how long all threads stood meanwhile, or -1.
func (l *loop) markBatch(classes int, took, pause time.Duration) {
	l.mark(event.Mark{Kind: event.Redefining, Count: int64(classes), Pause: int64(pause)}, l.s.now()-int64(took))
}

// markReveal marks that threads have waited at a method.
func (l *loop) markReveal(rv *reveal) {
	name := "methods found by reflection"
	if rv.method.Name != "" {
		name = rv.method.String()
	}
	l.mark(event.Mark{Kind: event.Revealing, Name: name, Count: int64(rv.threads), Pause: -1}, rv.since)
}

// Timeline answers what somebody looks at of the recording's timeline so far;
// times are ns from the beginning of the recording. [export.ErrNoTimeline] where
// none is recorded, and after Finish, whose report has it. Threads have no
// names: a snapshot says them.
func (s *Session) Timeline(ctx context.Context, q event.Query) (*export.TimelineView, error) {
	var e *events
	var began int64
	var names cct.Lookup
	if err := s.do(ctx, func() {
		if s.loop.armed && s.loop.rec.Timeline > 0 {
			e, began, names = s.loop.events(), s.loop.rec.began, s.loop.lookup()
		}
	}); err != nil {
		return nil, err
	}
	if e == nil {
		return nil, export.ErrNoTimeline
	}
	t, marks := e.timeline(began, s.now())
	return t.View(q, marks, names), nil
}

// reportTimeline adds the timeline, where there is one. now is the target's time
// at the end; with 0 the target has gone, and what was open ends now.
func (e *events) reportTimeline(r *export.Report, now int64) {
	if r.Events == nil || e.marks == nil {
		return
	}
	if now == 0 {
		now = e.s.now()
	}
	r.Timeline, r.Marks = e.timeline(r.Events.Began, now)
	r.Timeline.Name(slices.Concat(r.Tree.Executors, r.Tree.Threads))
}

// timeline is what is kept so far, up to now on the target's nanoTime. Marks of
// before the recording are left out.
func (e *events) timeline(began, now int64) (*export.Timeline, *export.Marks) {
	e.mu.Lock()
	b, marks := e.builder, e.marks
	e.mu.Unlock()
	gcs, missed, note := e.s.collections.Since(began)
	if note != "" {
		note = "Garbage collections are not marked in the timeline: " + note + "."
	}
	t, m := &export.Timeline{Threads: map[int64]cct.Thread{}}, &export.Marks{Note: note}
	t.Slices, t.Left, t.Least = b.Kept(now)
	for i := range t.Slices {
		t.Slices[i].Start -= began
		id := t.Slices[i].Thread
		t.Threads[id] = cct.Thread{ID: id}
	}
	t.Hops, t.HopsLeft = b.Hops(now)
	for i := range t.Hops {
		t.Hops[i].At -= began
		t.Hops[i].Began -= began
	}
	var left [event.MarkKinds]int64
	m.All, left = marks.Since(began)
	m.All = append(m.All, gcs...)
	m.Left += missed
	for k := range left {
		m.Left += left[k]
	}
	for i := range m.All {
		m.All[i].Start -= began
	}
	return t, m
}
