// Package top is the live table of rivulet top: which methods and threads take the
// time of a JVM that is being sampled, over the last moments.
//
// [Table] writes a table for streams and scripts, [Run] shows it on a terminal until it is
// quit. What is shown comes from a function that gives one look after another. Names
// of the target's are cleaned and fitted to the width.
package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler/collect"
)

// Sorts are the orders of methods.
var Sorts = []string{"self", "total", "entries"}

// Options choose what a table has.
type Options struct {
	Title   string // of what it is
	Sort    string // of Sorts; "" is "self"
	Rows    int    // of the list
	Width   int    // columns; 0 cuts nothing
	Threads bool   // list threads instead of methods
	Tree    bool   // the calls of a range of time, instead
	Flame   bool   // these as a flame graph
	Callers string // who calls this method, instead; "" is nobody
	At      int    // the line of methods that is marked, from 1 on; 0 is none
}

// Table is a look as lines: two about all, an empty one, then a list under its head.
func Table(v *collect.View, o Options) []string {
	lines := about(v, o)
	switch {
	case o.Callers != "":
		return fit(append(lines, callersOf(v, o.Callers, o)...), o.Width)
	case o.Flame:
		return fit(append(lines, flame(v, o)...), o.Width)
	case o.Tree:
		return fit(append(lines, tree(v, o)...), o.Width)
	case o.Threads && v.To == 0:
		lines = append(lines, "  time %  on core %  samples  thread")
		took := max(v.Took, time.Millisecond)
		for _, t := range v.Threads[:min(len(v.Threads), max(o.Rows, 0))] {
			lines = append(lines, fmt.Sprintf("%8.1f  %9.1f  %7s  %s", percent(t.Time, took), percent(t.Ran, took), export.Count(t.Samples), export.Clean(t.Name)))
		}
		return fit(lines, o.Width)
	}
	return fit(append(lines, methods(v, o)...), o.Width)
}

// about are the lines about all.
func about(v *collect.View, o Options) []string {
	took := max(v.Took, time.Millisecond)
	cores := float64(v.Time) / float64(took)
	about := fmt.Sprintf("%s in %.1f s", export.Plural(v.Samples, "sample", "samples"), took.Seconds())
	if v.Ran == v.Time {
		about += fmt.Sprintf(", %.2f cores", cores)
	} else {
		about += fmt.Sprintf(", %.1f threads, %.2f cores", cores, float64(v.Ran)/float64(took))
	}
	for _, own := range ownWork(v) {
		about += ", " + own
	}
	return []string{o.Title, about, ""}
}

// methods are the list of them under its head.
func methods(v *collect.View, o Options) []string {
	took := max(v.Took, time.Millisecond)
	lines := []string{"  self %   total %  entries/s  method"}
	for i, m := range sorted(v.Methods, o.Sort)[:min(len(v.Methods), max(o.Rows, 0))] {
		name, mark := short(m.Method.Name), " "
		if i+1 == o.At {
			mark = ">"
		}
		lines = append(lines, fmt.Sprintf("%8.1f  %8.1f  %9s %s%s", percent(m.SelfTime, took), percent(m.TotalTime, took),
			rate(m.Entries, took), mark, export.Clean(name)))
	}
	return lines
}

// short is a method's name without its parameters.
func short(name string) string {
	if s, _, _ := strings.Cut(name, "("); s != "" {
		return s
	}
	return name
}

// percent is a time as a share of one core, or one thread.
func percent(ns int64, took time.Duration) float64 { return 100 * float64(ns) / float64(took) }

func rate(n int64, took time.Duration) string {
	if n < 0 {
		return "-"
	}
	v := float64(n) / took.Seconds()
	if v < 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return export.Count(int64(v + 0.5))
}

// ownWork says what the JVM's own threads take of the samples' time, if it is anything.
func ownWork(v *collect.View) []string {
	var out []string
	sums := map[string]int64{}
	var order []string
	for _, m := range v.Methods {
		if name := m.Method.Name; strings.HasPrefix(name, "(JIT") || name == "(garbage collector)" || name == "(VM operations)" {
			name, _, _ = strings.Cut(strings.Trim(name, "()"), " C")
			if sums[name] == 0 {
				order = append(order, name)
			}
			sums[name] += m.SelfTime
		}
	}
	for _, name := range order {
		if v.Time > 0 {
			out = append(out, fmt.Sprintf("%s %.0f %%", name, 100*float64(sums[name])/float64(v.Time)))
		}
	}
	return out
}

// sorted orders methods anew.
func sorted(list []collect.Line, by string) []collect.Line {
	key := func(l collect.Line) int64 { return l.Self }
	switch by {
	case "total":
		key = func(l collect.Line) int64 { return l.Total }
	case "entries":
		key = func(l collect.Line) int64 { return l.Entries }
	}
	return slices.SortedStableFunc(slices.Values(list), func(a, b collect.Line) int { return cmp.Compare(key(b), key(a)) })
}

func fit(lines []string, width int) []string {
	if width > 0 {
		for i := range lines {
			lines[i] = export.Fit(lines[i], width)
		}
	}
	return lines
}
