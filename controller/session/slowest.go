package session

import (
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// namesOf finds a tree's threads by Java's id, without their trees.
func namesOf(tree *cct.Snapshot) func(id int64) cct.Thread {
	name := map[int64]*cct.Thread{}
	for _, t := range slices.Concat(tree.Executors, tree.Threads) {
		name[t.ID] = t
	}
	return func(id int64) cct.Thread {
		if t := name[id]; t != nil {
			return cct.Thread{ID: id, Name: t.Name, Virtual: t.Virtual}
		}
		return cct.Thread{ID: id}
	}
}

// slowest adds the slowest root invocations so far, where they were asked for.
// tree has all threads, also those that only execute tasks. The invocations'
// trees are copies, since they are corrected, and asked for again. e.mu is
// held.
func (e *events) slowest(r *export.Report, tree *cct.Snapshot, b correctionInputs, rec Recording) {
	if e.builder.Slowest == nil {
		return
	}
	thread := namesOf(tree)
	kept, of := e.builder.SlowestSoFar()
	r.Slowest = &export.Slowest{Of: of, Asked: rec.Slowest, Over: int64(rec.Over)}
	for _, i := range kept {
		one := thread(i.Thread)
		one.Roots = cct.Merge([]*cct.Node{i.Tree})
		b.fix(&cct.Snapshot{Threads: []*cct.Thread{&one}})
		r.Slowest.Invocations = append(r.Slowest.Invocations, export.Invocation{
			Thread: &one, Start: i.Start - r.Events.Began, Took: i.Took, Suspended: i.Suspended, Thrown: i.Thrown, Span: i.Span,
			CutContexts: i.Cut, CutCalls: i.CutCalls, Path: pathOf(i, thread),
		})
	}
	e.s.collections.Within(r.Slowest.Invocations, r.Events.Began)
}

// pathOf is an invocation's critical path for the report, nil where there is none.
func pathOf(i *event.Invocation, thread func(id int64) cct.Thread) *export.Path {
	p := i.Path
	if p == nil {
		return nil
	}
	out := &export.Path{
		Run: p.Run, Queue: p.Queue, Wait: p.Wait, Profiler: p.Profiler, Grain: p.Grain, Lacking: p.Lacking,
		Left: p.Left, LeftTime: p.LeftTime, Shares: p.Shares,
	}
	threads := map[int64]*cct.Thread{}
	for _, s := range p.Segments {
		if threads[s.Thread] == nil {
			t := thread(s.Thread)
			threads[s.Thread] = &t
		}
		one := export.Segment{Kind: s.Kind, Cause: s.Cause, Thread: threads[s.Thread], Method: s.Method, From: s.From - i.Start, To: s.To - i.Start}
		out.Segments = append(out.Segments, one)
	}
	return out
}

// far adds to a report of a recording that goes on how the events fare and the
// slowest of the root invocations that had ended when it was called. began is on
// the target's nanoTime.
func (e *events) far(r *export.Report, b correctionInputs, rec Recording, began int64) {
	e.drain()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.main == nil {
		return
	}
	stats, err := e.main.Stats()
	if err != nil {
		return // the last report says it
	}
	r.Events = &export.Events{
		Words: stats.Words, Dropped: stats.Dropped, Muted: stats.Muted, Waits: stats.Waits, Waited: stats.Waited,
		Rings: stats.Rings, RingBytes: stats.Bytes, Bad: stats.Bad + e.builder.Bad(), Began: began,
	}
	e.slowest(r, r.Tree, b, rec)
}
