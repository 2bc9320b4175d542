package export

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

func (t *textWriter) hotMethods() {
	if t.report.Sampling != nil {
		t.sampleMethods()
		return
	}
	by := cmp.Or(t.o.Sort, "self")
	t.section("Hot methods, by " + cmp.Or(sortNames[by], by))
	flat := sorted(t.flat, t.o.Sort, t.labels)
	if t.o.Top > 0 && len(flat) > t.o.Top {
		flat = flat[:t.o.Top]
	}
	metrics := t.report.metrics()
	table := table{head: slices.Concat([]string{"self", "±", "share", "total", "on cpu", "calls", "thrown", "self/call"}, CountHeads(metrics.All()), []string{"method"})}
	for _, e := range flat {
		each := "-"
		if e.Calls > 0 {
			each = Duration(e.Self / e.Calls)
			if t.rough() && float64(e.Self/e.Calls) < t.report.Calibration.Tick.P99 {
				each = "~" + each
			}
		}
		self, off, part := Duration(e.Self), t.uncertain(e), share(e.Self, t.sums.Self)
		if t.report.Counted[e.Method] {
			self, off, part, each = noTime, "", "", noTime
		}
		cells := []string{self, off, part, t.total(e), t.onCPU(e.Sample), Count(e.Calls), t.thrown(e.Thrown), each}
		table.add(t.labels[e.Method], "", append(cells, countCells(metrics, e.Counts, t.report.Counted[e.Method], e.Self, e.Uncertainty)...)...)
	}
	table.write(&t.sink, t.o.Color, t.o.Width)
	if rest := t.flat[len(flat):]; len(rest) > 0 && by == "self" {
		var self int64
		for _, e := range rest {
			self += e.Self
		}
		t.printf("and %s with %s of self time (%s)\n", Plural(int64(len(rest)), "method", "methods"), Duration(self), share(self, t.sums.Self))
	}
}

// total is a method's total time; that of a leaf which is only counted is its
// callers'.
func (t *textWriter) total(e cct.Flat) string {
	if t.report.Counted[e.Method] && e.Total == 0 {
		return noTime
	}
	return Duration(e.Total)
}

var sortNames = map[string]string{
	"self": "self time", "total": "total time", "calls": "calls", "thrown": "calls that an exception ended",
	"error": "uncertainty", "name": "name",
}

// sorted orders methods anew; unknown orders, and "self", leave them.
func sorted(flat []cct.Flat, by string, labels map[int32]string) []cct.Flat {
	var key func(f cct.Flat) int64
	switch by {
	case "total":
		key = func(f cct.Flat) int64 { return f.Total }
	case "calls":
		key = func(f cct.Flat) int64 { return f.Calls }
	case "thrown":
		key = func(f cct.Flat) int64 { return f.Thrown }
	case "error":
		key = func(f cct.Flat) int64 { return f.Error }
	case "name":
		return slices.SortedStableFunc(slices.Values(flat), func(a, b cct.Flat) int { return cmp.Compare(labels[a.Method], labels[b.Method]) })
	default:
		m, ok := metric.Named(by)
		if !ok {
			return flat
		}
		key = func(f cct.Flat) int64 {
			if f.Counts == nil || f.Counts.Table.Index(m.Name) < 0 {
				return 0
			}
			return f.Counts.Own[f.Counts.Table.Index(m.Name)]
		}
	}
	return slices.SortedStableFunc(slices.Values(flat), func(a, b cct.Flat) int { return cmp.Compare(key(b), key(a)) })
}

// uncertain is how far a corrected self time may be off, in percent; empty
// without correction, so that the column goes.
func (t *textWriter) uncertain(e cct.Flat) string {
	switch {
	case t.report.Calibration == nil:
		return ""
	case e.Error == 0:
		return "0 %"
	case e.Error >= e.Self:
		return "> 100 %"
	}
	return fmt.Sprintf("%.0f %%", math.Ceil(100*float64(e.Error)/float64(e.Self)))
}

// onCPU is the share of the time that was spent on a core; empty if nobody
// looked, so that the column goes.
func (t *textWriter) onCPU(s cct.Sample) string {
	if t.report.CPU == nil {
		return ""
	}
	of, ok := s.Of(100)
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%d %%", of)
}

// rough tells whether the tick clock's gaps were so large that figures of single
// invocations have to be marked.
func (t *textWriter) rough() bool {
	c := t.report.Calibration
	return c != nil && c.Tick != nil && c.Tick.P99 > largeGap
}

// thrown is empty if nothing was thrown at all, so that the column goes.
func (t *textWriter) thrown(n int64) string {
	if t.sums.Thrown == 0 {
		return ""
	}
	return Count(n)
}

func (t *textWriter) threadTable() {
	t.section("Threads")
	type line struct {
		*cct.Thread
		total int64
	}
	var lines []line
	for _, th := range t.threads {
		l := line{Thread: th}
		for _, root := range th.Roots {
			l.total += root.Total
		}
		lines = append(lines, l)
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.total, a.total) })
	table := table{head: []string{"total", "share", "root calls", "paused by Rivulet", "thread"}}
	for _, l := range lines[:min(len(lines), mostThreads)] {
		suspended := ""
		if t.suspended > 0 {
			suspended = Duration(l.Suspended)
		}
		invocations := Count(l.RootEntries)
		if t.report.Sampling != nil {
			invocations = ""
		}
		table.add(threadName(l.Thread), "", Duration(l.total), share(l.total, t.sums.Self), invocations, suspended)
	}
	table.write(&t.sink, t.o.Color, t.o.Width)
	if rest := len(lines) - mostThreads; rest > 0 {
		t.printf("and %s\n", Plural(int64(rest), "more", "more"))
	}
}

func threadName(t *cct.Thread) string {
	name := Clean(t.Name)
	switch {
	case t.Virtual:
		return strings.TrimSpace("virtual threads in turn, last " + cmp.Or(name, fmt.Sprint("id ", t.ID)))
	case name == "":
		return fmt.Sprint("thread ", t.ID)
	case t.Shared:
		return name + " and others before it"
	}
	return name
}
