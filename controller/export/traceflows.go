package export

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/event"
)

// A flowEnd is one end of an arrow that leads from where a task was handed over to
// where its execution began.
type flowEnd struct {
	id, thread, at int64
	depth          uint16 // of the slice that it is of
	queued         int64  // ns, of the first end; -1 of the second
}

// flowEnds are the ends of arrows by thread and time. A viewer hangs each on the
// slice that it lies in; of slices that begin at one tick, on the last one before it
// in the file, so ends come between the slice that they are of and those below.
// Viewers take an end outside of all slices for an error: arrows with one, whose
// slice was left out for want of room, are left out, too.
func flowEnds(t *Timeline) map[int64][]flowEnd {
	over, out := outermost(t.Slices), map[int64][]flowEnd{}
	for i, h := range t.Hops {
		to := max(h.At, h.Began) // no arrow leads back in time
		if over.holds(h.From, h.At) && over.holds(h.To, to) {
			id := int64(i + 1)
			out[h.From] = append(out[h.From], flowEnd{id, h.From, h.At, h.FromDepth, h.Queued()})
			out[h.To] = append(out[h.To], flowEnd{id, h.To, to, h.ToDepth, -1})
		}
	}
	for _, of := range out {
		slices.SortStableFunc(of, func(a, b flowEnd) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.depth, b.depth)) })
	}
	return out
}

func (w *jsonWriter) flow(r *Report, e flowEnd) {
	ph := "s"
	if e.queued < 0 {
		ph = "f"
	}
	w.text(",\n" + `{"ph":"` + ph + `","name":"task","cat":"task"`)
	w.field("id", e.id)
	w.text(`,"ts":`)
	w.micros(e.at)
	w.field("pid", int64(r.Target.PID))
	w.field("tid", e.thread)
	if e.queued < 0 {
		w.text(`,"bp":"e"}`)
		return
	}
	w.text(`,"args":{"queued_ns":`)
	w.number(e.queued)
	w.text("}}")
}

// spans are the slices of each thread that no other is above, by time.
type spans map[int64][]event.Slice

func outermost(all []event.Slice) spans {
	out := spans{}
	for _, s := range all {
		if s.Depth == 0 {
			out[s.Thread] = append(out[s.Thread], s)
		}
	}
	for _, of := range out {
		slices.SortFunc(of, func(a, b event.Slice) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Took, b.Took)) })
	}
	return out
}

// holds reports whether a moment lies in one of the thread's.
func (s spans) holds(thread, at int64) bool {
	of := s[thread]
	k, _ := slices.BinarySearchFunc(of, at, func(s event.Slice, at int64) int {
		if s.Start <= at {
			return -1
		}
		return 1
	})
	return k > 0 && at < of[k-1].Start+of[k-1].Took
}
