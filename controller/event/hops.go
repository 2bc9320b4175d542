package event

import (
	"cmp"
	"slices"
)

// A Hop is a task's way from the thread that handed it over to its execution, on
// another thread or the same one.
type Hop struct {
	From, To           int64  // threads
	FromDepth, ToDepth uint16 // of the invocation that handed it over, and of its execution's outermost one
	By, Method         int32  // their methods
	At                 int64  // ns on the target's nanoTime when it was handed over, on that thread's clock
	Began, Took        int64  // ns, of the execution; its thread's clock may say that it began before At, by less than a tick
	Open               bool   // the execution was under way
}

// Queued is how long it waited, in ns.
func (h Hop) Queued() int64 { return max(h.Began-h.At, 0) }

// whole is how long it took from the hand-over to the end.
func (h Hop) whole() int64 { return h.Began + h.Took - h.At }

// hops are the longest ones, in memory that does not grow with the recording.
type hops struct {
	most  int
	kept  []Hop
	left  int64
	early map[int64]Hop // by the task's number: executed, and not seen to be handed over yet
}

// add keeps a hop. When they are full, the shorter half goes.
func (h *hops) add(one Hop) {
	if h.kept = append(h.kept, one); len(h.kept) < h.most {
		return
	}
	slices.SortStableFunc(h.kept, func(a, b Hop) int { return cmp.Compare(b.whole(), a.whole()) })
	h.left += int64(len(h.kept) - h.most/2)
	h.kept = h.kept[:h.most/2]
}

// from completes a hop by its hand-over.
func (h Hop) from(t task) Hop {
	h.From, h.FromDepth, h.By = t.thread, t.depth, t.method
	h.At = t.shown
	return h
}

// submitted takes note that a task whose execution has ended was handed over.
func (h *hops) submitted(number int64, t task) {
	if one, ok := h.early[number]; ok {
		delete(h.early, number)
		h.add(one.from(t))
	}
}

// executed takes note of an execution that has ended; known says whether its
// hand-over t was seen.
func (h *hops) executed(number int64, one Hop, t task, known bool) {
	if known {
		h.add(one.from(t))
		return
	}
	if len(h.early) >= mostTasks {
		clear(h.early) // their hand-overs were dropped
	}
	h.early[number] = one
}

// hop is the way of the task that the frame executes, without its hand-over;
// false if nothing was called yet.
func (s *stream) hop(f frame, end int64) (Hop, bool) {
	if f.mark+1 >= len(s.touched) {
		return Hop{}, false
	}
	return Hop{To: s.thread, ToDepth: f.depth, Method: s.nodes[s.touched[f.mark+1]].method, Began: f.began, Took: max(end-f.began, 0)}, true
}

// Hops copies the hops so far, the executions under way included, which end now, on
// the target's nanoTime; and how many shorter ones were left out.
func (b *Builder) Hops(now int64) (out []Hop, left int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Timeline == nil {
		return nil, 0
	}
	out = slices.Clone(b.Timeline.hops.kept)
	for _, s := range b.streams {
		if s == nil {
			continue
		}
		for _, f := range s.frames[:min(len(s.frames), mostOpen)] {
			t, known := b.tasks[f.number]
			if int(f.depth) < len(s.begins) {
				f.began = s.begins[f.depth]
			}
			if one, ok := s.hop(f, now); ok && known {
				one.Open = true
				out = append(out, one.from(t))
			}
		}
	}
	return out, b.Timeline.hops.left
}
