package export

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/event"
)

// flows writes an arrow for each task, from where it was handed over to where its
// execution began. A viewer hangs each end on the slice that it lies in, and takes
// an end outside of all slices for an error: arrows with one, whose slice was left
// out for want of room, are left out, too.
func (w *jsonWriter) flows(r *Report) {
	t := r.Timeline
	if len(t.Hops) == 0 {
		return
	}
	over := outermost(t.Slices)
	for i, h := range t.Hops {
		if !over.holds(h.From, h.At) || !over.holds(h.To, h.Began) {
			continue
		}
		w.flow(r, "s", int64(i), h.From, h.At)
		w.text(`,"args":{"queued_ns":`)
		w.number(h.Began - h.At)
		w.text("}}")
		w.flow(r, "f", int64(i), h.To, h.Began)
		w.text(`,"bp":"e"}`)
	}
}

// flow begins one end of an arrow.
func (w *jsonWriter) flow(r *Report, ph string, id, thread, at int64) {
	w.text(",\n" + `{"ph":"` + ph + `","name":"task","cat":"task"`)
	w.field("id", id+1)
	w.text(`,"ts":`)
	w.micros(at)
	w.field("pid", int64(r.Target.PID))
	w.field("tid", thread)
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
