package export

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/event"
)

// wellNested puts the slices of each thread, which come in the order in which they
// ended, in the order in which they began, callers first, and has no two of them begin
// or end at the same time: viewers want them within each other or apart, take what
// begins and ends when another does for its callee, and have times in floating point.
// The timeline's clock has them so already (see [event.Timeline]), but not where a
// thread's next invocation is in another record, or began at the tick before while the
// end of the last one had System.nanoTime, as hand-overs have it: it then begins after
// that.
func wellNested(all []event.Slice) []event.Slice {
	out := slices.Clone(all)
	slices.Reverse(out)
	slices.SortStableFunc(out, func(a, b event.Slice) int {
		return cmp.Or(cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Start, b.Start), cmp.Compare(b.Took, a.Took))
	})
	for rest := out; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(s event.Slice) bool { return s.Thread != rest[0].Thread })
		if n < 0 {
			n = len(rest)
		}
		nest(rest[:n])
		rest = rest[n:]
	}
	return out
}

// nest does so with the slices of one thread.
func nest(all []event.Slice) {
	type one struct {
		s   *event.Slice
		end int64
	}
	var open []one // each within the one before
	last := int64(-1)
	until := func(left func(one) bool) {
		for n := len(open) - 1; n >= 0 && left(open[n]); n-- {
			last = max(last+1, open[n].end)
			open[n].s.Took = last - open[n].s.Start
			open = open[:n]
		}
	}
	for i := range all {
		s := &all[i]
		until(func(o one) bool { return o.s.Depth >= s.Depth || o.end < s.Start })
		end := s.Start + s.Took
		last = max(last+1, s.Start)
		s.Start = last
		open = append(open, one{s, end})
	}
	until(func(one) bool { return true })
}
