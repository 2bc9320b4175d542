package export

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// Merge puts recordings together into one report: their trees by path, methods as
// [cct.Matcher] has it, threads of one id and name, figures added up. What the recordings don't have in common
// is listed ("17.0.15, 21.0.2"), and lists of methods are united. Calibrations
// are averaged by calls; Clock and the like are of the first. The given reports
// stay as they are. There must be one at least, and they must be [Comparable].
func Merge(reports ...*Report) *Report {
	out, _ := merge(reports, nil)
	return out
}

// merge is [Merge]; numbers are those of the reports' methods in the result. If the reports are of processes that have
// numbers, contexts keep what each has of them.
func merge(reports []*Report, processes []int32) (out *Report, numbers map[*Report]map[int32]int32) {
	first := reports[0]
	out = &Report{
		Target: first.Target, Fold: first.Fold, Filter: first.Filter, Tree: &cct.Snapshot{Metrics: unionOf(reports)},
		Scheme: list(reports, func(r *Report) string { return r.Scheme }),
		Clock:  list(reports, func(r *Report) string { return r.Clock }),
		Ended:  list(reports, func(r *Report) string { return r.Ended }),
	}
	out.Target.Main = list(reports, func(r *Report) string { return r.Target.Main })
	out.Target.Java = list(reports, func(r *Report) string { return r.Target.Java })
	out.Target.VM = list(reports, func(r *Report) string { return r.Target.VM })
	var methods []cct.Method
	var matcher cct.Matcher
	numbers = map[*Report]map[int32]int32{} // by the report's own ids
	skipped := map[Skipped]bool{}
	out.Counted = map[int32]bool{}
	number := func(r *Report, id int32) int32 {
		if id == cct.Unplaced {
			return id
		}
		m, k := r.Method(id), numbers[r][id]
		methods[k].Hidden = max(methods[k].Hidden, m.Hidden)
		out.Counted[k] = out.Counted[k] && r.Counted[id] // a time in one of them is one to be shown
		return k
	}
	for i, r := range reports {
		ids := r.methodIDs()
		numbers[r] = make(map[int32]int32, len(ids))
		for at, k := range matcher.Add(r.methods(ids)) {
			numbers[r][ids[at]] = k
			if _, known := out.Counted[k]; known {
				continue
			}
			methods = append(methods, make([]cct.Method, max(int(k)+1-len(methods), 0))...)
			methods[k], out.Counted[k] = r.Method(ids[at]), r.Counted[ids[at]]
		}
		if r.Fold != first.Fold {
			out.Notes = append(out.Notes, "Some of the recordings that were put together here have recursion folded, others don't.")
		}
		out.Time += r.Time
		for _, root := range r.Roots {
			if !slices.Contains(out.Roots, root) {
				out.Roots = append(out.Roots, root)
			}
		}
		out.Notes = append(out.Notes, r.Notes...)
		for _, k := range r.Skipped {
			if !skipped[k] {
				skipped[k] = true
				out.Skipped = append(out.Skipped, k)
			}
		}
		out.Sampling, out.Estimates = out.Sampling.plus(r.Sampling), out.Estimates.plus(r.Estimates)
		out.Heap = out.Heap.plus(r.Heap)
		out.Loads = out.Loads.plus(r.Loads)
		out.Contention = out.Contention.plus(r.Contention)
		out.Instrumented = max(out.Instrumented, r.Instrumented)
		out.Reach, out.Called = max(out.Reach, r.Reach), out.Called || r.Called
		out.Natives = max(out.Natives, r.Natives)
		out.Redefinition.add(r.Redefinition)
		out.Correction.Subtracted += r.Correction.Subtracted
		out.Correction.Clamped += r.Correction.Clamped
		if c := r.CPU; c != nil {
			if out.CPU == nil {
				out.CPU = &CPU{}
			}
			out.CPU.Samples, out.CPU.Virtual, out.CPU.Share = out.CPU.Samples+c.Samples, out.CPU.Virtual+c.Virtual, max(out.CPU.Share, c.Share)
		}
		if r.Tree == nil {
			continue
		}
		t := out.Tree
		t.Overflow, t.Uncounted, t.Lost = t.Overflow+r.Tree.Overflow, t.Uncounted+r.Tree.Uncounted, t.Lost+r.Tree.Lost
		t.Refused, t.Incomplete, t.Bad = t.Refused+r.Tree.Refused, t.Incomplete+r.Tree.Incomplete, t.Bad+r.Tree.Bad
		t.Unthrown += r.Tree.Unthrown
		t.Unfollowed, t.Detached = t.Unfollowed+r.Tree.Unfollowed, t.Detached+r.Tree.Detached
		for _, th := range r.Tree.Threads {
			c := *th
			c.Roots = cct.Merge(th.Roots) // nodes of their own
			union(c.Roots, t.Metrics)
			for n := range cct.All(c.Roots) {
				n.Method = number(r, n.Method)
				if n.Parts() != nil {
					n.Details().Parts = nil // its processes are not those of the result
				}
			}
			if processes != nil {
				cct.Divide(c.Roots, processes[i])
			}
			t.Threads = append(t.Threads, &c)
		}
	}
	out.Gaps = mergeGaps(reports)
	out.Seen = mergeSeen(reports)
	out.Late = mergeLate(reports)
	out.Slowest = mergeSlowest(reports, number)
	out.Tree.Threads = out.Tree.ByThread()
	slices.Sort(out.Notes)
	out.Notes = append([]string{fmt.Sprintf("These are %d %s put together.", len(reports), map[bool]string{false: "recordings", true: "reports of samples"}[out.Sampling != nil])}, slices.Compact(out.Notes)...)
	out.Calibration = meanCalibration(reports)
	out.Lookup = func(id int32) (cct.Method, bool) {
		if id < 0 || int(id) >= len(methods) {
			return cct.Method{}, false
		}
		return methods[id], true
	}
	return out, numbers
}

// methodIDs are those of all methods in the trees, in order.
func (r *Report) methodIDs() []int32 {
	var ids []int32
	seen := map[int32]bool{cct.Unplaced: true}
	note := func(id int32) int32 {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
		return id
	}
	if r.Tree != nil {
		for n := range cct.All(r.Tree.Roots()) {
			note(n.Method)
		}
	}
	if r.Slowest != nil {
		for _, i := range r.Slowest.Invocations {
			for n := range cct.All(i.Thread.Roots) {
				note(n.Method)
			}
			i.Path.renumbered(note)
		}
	}
	return ids
}

func (r *Report) methods(ids []int32) []cct.Method {
	out := make([]cct.Method, len(ids))
	for i, id := range ids {
		out[i] = r.Method(id)
	}
	return out
}

// mergeSlowest keeps the slowest root invocations of all reports, as many as the
// first that has any was asked for; nil if none has. Starts are each from the
// beginning of its own recording.
func mergeSlowest(reports []*Report, number func(r *Report, id int32) int32) *Slowest {
	var out *Slowest
	for _, r := range reports {
		s := r.Slowest
		if s == nil {
			continue
		}
		if out == nil {
			out = &Slowest{Asked: s.Asked, Over: s.Over}
		}
		out.Of += s.Of
		out.TimesOnly = out.TimesOnly || s.TimesOnly
		renumber := func(id int32) int32 { return number(r, id) }
		for _, i := range s.Invocations {
			thread := *i.Thread
			thread.Roots = cct.Merge(i.Thread.Roots) // nodes of their own
			for n := range cct.All(thread.Roots) {
				n.Method = renumber(n.Method)
			}
			i.Thread, i.Path = &thread, i.Path.renumbered(renumber)
			out.Invocations = append(out.Invocations, i)
		}
	}
	if out != nil {
		slices.SortStableFunc(out.Invocations, func(a, b Invocation) int { return cmp.Compare(b.Took, a.Took) })
		out.Invocations = out.Invocations[:min(len(out.Invocations), max(out.Asked, 0))]
	}
	return out
}

// list names the different values of the reports, in order.
func list(reports []*Report, value func(*Report) string) string {
	var out []string
	for _, r := range reports {
		if v := value(r); v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return strings.Join(out, ", ")
}

func (r *Redefinition) add(o Redefinition) {
	r.Batches += o.Batches
	r.Classes += o.Classes
	r.Time += o.Time
	r.LongestPause, r.LongestWait = longer(r.LongestPause, o.LongestPause), longer(r.LongestWait, o.LongestWait)
	r.Pauses, r.Analysis = sum(r.Pauses, o.Pauses), sum(r.Analysis, o.Analysis)
}

// longer is the longer one of two times that may be unknown.
func longer(a, b *time.Duration) *time.Duration {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// sum adds times up, as far as they are known.
func sum(a, b *time.Duration) *time.Duration {
	if a == nil || b == nil {
		return longer(a, b)
	}
	c := *a + *b
	return &c
}

// meanCalibration weighs the probes' costs by calls; nil if any recording was
// not corrected, since the sums of its times aren't, then. Its clock's figures
// are the worst ones.
func meanCalibration(reports []*Report) *Calibration {
	var c Calibration
	var calls float64
	for _, r := range reports {
		k := r.Calibration
		if k == nil {
			return nil
		}
		n := 1.0
		if r.Tree != nil {
			n += float64(cct.Sum(r.Tree.Roots()).Calls)
		}
		calls += n
		c.Inner += n * k.Inner
		c.Outer += n * k.Outer
		c.Leaf += n * k.Leaf
		c.Spread = math.Max(c.Spread, k.Spread)
		c.Batches += k.Batches
		if t := k.Tick; t != nil {
			if c.Tick == nil {
				c.Tick = &Tick{}
			}
			c.Tick.Period, c.Tick.Share = math.Max(c.Tick.Period, t.Period), math.Max(c.Tick.Share, t.Share)
			c.Tick.P50, c.Tick.P99, c.Tick.Longest = math.Max(c.Tick.P50, t.P50), math.Max(c.Tick.P99, t.P99), math.Max(c.Tick.Longest, t.Longest)
			c.Tick.Weighted = math.Max(c.Tick.Weighted, t.Weighted)
			c.Tick.Gaps, c.Tick.Ticks = c.Tick.Gaps+t.Gaps, c.Tick.Ticks+t.Ticks
		}
	}
	c.Inner, c.Outer, c.Leaf = c.Inner/calls, c.Outer/calls, c.Leaf/calls
	return &c
}
