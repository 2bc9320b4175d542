package export

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/event"
)

// wellNested puts slices, which come in the order in which they ended, in the order in
// which they began, callers first: viewers go by it where both began and ended at
// the same tick. In a thread slices lie within each other or apart, as viewers want
// it. One thing could make them cross: what a thread does next may begin at the tick
// before, while the end of what it did had System.nanoTime, as hand-overs have it; it
// then begins where that ended.
func wellNested(all []event.Slice) []event.Slice {
	out := slices.Clone(all)
	slices.Reverse(out)
	slices.SortStableFunc(out, func(a, b event.Slice) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Took, a.Took)) })
	open := map[int64][]event.Slice{} // by thread, each within the one before
	for i := range out {
		s := &out[i]
		above, from, to := open[s.Thread], s.Start, s.Start+s.Took
		for len(above) > 0 {
			last := above[len(above)-1]
			end := last.Start + last.Took
			if end > from && last.Depth < s.Depth {
				from, to = max(from, last.Start), min(to, end)
				break
			}
			from, above = max(from, end), above[:len(above)-1]
		}
		s.Start, s.Took = from, max(to-from, 0)
		open[s.Thread] = append(above, *s)
	}
	return out
}
