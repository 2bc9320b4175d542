package export

import (
	"cmp"
	"slices"
)

// A Gap is one reason why calls below the root may be missing from the counts.
type Gap struct {
	Reason string   `json:"reason"` // what is missing, and why; no full stop
	Count  int64    `json:"count"`  // methods or call sites that it is about; 0 where it is about all
	Where  []string `json:"where"`  // the first of them by name, [MostWhere] at the most
}

// MostWhere is how many methods or call sites a [Gap] names.
const MostWhere = 20

// Exact reports whether every call below the roots is in the counts, in its own
// context: no call site has a target that could not be found, no method of the
// program within reach lacks its probe against the user's wish, nothing timed out,
// and there was room for all.
func (r *Report) Exact() bool {
	t := r.Tree
	return r.Sampling == nil && len(r.Gaps) == 0 &&
		(t == nil || t.Incomplete == 0 && t.Overflow == 0 && t.Uncounted == 0 && t.Lost == 0 && t.Unfollowed == 0 && t.Detached == 0 && t.Bad == 0)
}

// AddGap takes note of a gap with the names of what it is about.
func (r *Report) AddGap(reason string, where []string) {
	slices.Sort(where)
	where = slices.Compact(where)
	r.Gaps = append(r.Gaps, Gap{Reason: reason, Count: int64(len(where)), Where: some(where[:min(len(where), MostWhere)])})
	sortGaps(r.Gaps)
}

func sortGaps(gaps []Gap) {
	slices.SortFunc(gaps, func(a, b Gap) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason)) })
}

// mergeGaps puts the gaps of several reports together. Counts are those of the report
// with the most: the same sites may be in each.
func mergeGaps(reports []*Report) []Gap {
	var out []Gap
	at := map[string]int{}
	for _, r := range reports {
		for _, g := range r.Gaps {
			i, ok := at[g.Reason]
			if !ok {
				at[g.Reason] = len(out)
				out = append(out, Gap{g.Reason, g.Count, slices.Clone(g.Where)})
				continue
			}
			out[i].Count = max(out[i].Count, g.Count)
			where := append(out[i].Where, g.Where...)
			slices.Sort(where)
			where = slices.Compact(where)
			out[i].Where = where[:min(len(where), MostWhere)]
		}
	}
	sortGaps(out)
	return out
}

// gaps says in a text report which calls may be missing, for reasons that no line of
// the footer gives.
func (t *textWriter) gaps() {
	for _, g := range t.report.Gaps {
		t.printf("not exact: %s", Clean(g.Reason))
		if len(g.Where) > 0 {
			t.printf(" (%s: %s", Count(g.Count), Clean(g.Where[0]))
			if g.Count > 1 {
				t.text(", ...")
			}
			t.text(")")
		}
		t.text("\n")
	}
}

// exactness is a report's line about its counts.
func (t *textWriter) exactness() {
	if t.report.Exact() {
		t.text("exact: every call below the root is counted\n")
		return
	}
	t.text("not exact: calls may be missing, or have no call path of their own, for the reasons given at the end\n")
}
