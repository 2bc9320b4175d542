package export

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

func (t *textWriter) sampleSummary() {
	r, s := t.report, t.report.Sampling
	t.target()
	t.text(r.How())
	if r.Time > 0 {
		t.text(", " + Duration(int64(r.Time)))
	}
	if r.Ended != "" {
		t.printf(" (%s)", Clean(r.Ended))
	}
	t.text("\n")
	if s.Samples == 0 {
		if s.Outside > 0 {
			t.printf("No samples below %s, and %s elsewhere. --wall samples threads that wait, too.\n", Clean(strings.Join(s.Below, ", ")), Count(s.Outside))
		} else if s.Mode == CPUMode {
			t.text("No samples: no thread of the process used a core meanwhile. --wall samples threads that wait, too.\n")
		} else {
			t.text("No samples: there was no thread to look at.\n")
		}
		return
	}
	t.printf("%s on %s stand for %s", Plural(s.Samples, "sample", "samples"), Plural(t.sums.Nodes, "call path", "call paths"), Duration(t.sums.Self))
	if r.Time > 0 {
		t.printf(", %.2f threads at a time", float64(t.sums.Self)/float64(r.Time))
	}
	t.text("\n")
	if o := s.OverTime; o != nil && len(o.Samples) > 1 {
		line, each := Spark(o.Samples, sparkWidth)
		t.printf("over time: %s  (a character is %s)\n", line, Duration(int64(o.Piece*1e6)*int64(each)))
	}
	if k := s.Samples; k < fewSamples {
		t.text("few samples: shares are rough. Sample longer, or with a higher --hz\n")
	}
}

// sparkWidth is how many characters show what went on over time.
const sparkWidth = 60

// fewSamples leave an interval of a tenth and more around a half.
const fewSamples = 100

// sampleMethods is the table of methods of a report of samples.
func (t *textWriter) sampleMethods() {
	by := cmp.Or(t.o.Sort, "self")
	name := sortNames[by]
	if by == "calls" {
		name = "entries"
	}
	t.section("Hot methods, by " + name)
	flat := sorted(t.flat, t.o.Sort, t.labels)
	if t.o.Top > 0 && len(flat) > t.o.Top {
		flat = flat[:t.o.Top]
	}
	all := t.sums.Samples
	table := table{head: []string{"self", "share", "95 %", "total", "share", "on cpu", "state", "samples", "entries", "method"}}
	for _, e := range flat {
		table.add(t.labels[e.Method], "", Duration(e.Self), share(e.Self, t.sums.Self), interval(e.Self, t.sums.Self, all),
			Duration(e.Total), share(e.Total, t.sums.Self), t.onCPU(e.Sample), mostly(e.Sample), Count(e.Sample.Count), Count(e.Calls))
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

// sampleFooter says how far the figures can be trusted.
func (t *textWriter) sampleFooter() {
	s := t.report.Sampling
	t.section("Sampling")
	if s.Why != "" {
		t.printf("%s: %s\n", s.Source, Clean(s.Why))
	}
	if s.Samples > 0 {
		t.printf("95 %%: the share lies in this interval with that probability, if samples are independent of each other\n")
		t.printf("entries: activations that samples met and that began meanwhile, a lower bound of the calls\n")
		if s.Complete > 0 || len(s.Broken) > 0 { // files of other profilers don't say
			t.printf("%s of the stacks complete", percent(s.Complete, s.Samples))
			if s.Heuristic > 0 {
				t.printf(", %s with a frame that was guessed and checked", percent(s.Heuristic, s.Samples))
			}
			t.text("\n")
		}
	}
	for _, reason := range byCount(s.Broken) {
		t.printf("  %s  %s\n", Count(s.Broken[reason]), Clean(reason))
	}
	for _, l := range []struct {
		n          int64
		what, hint string
	}{
		{s.Lost, "samples lost", "there was no room for them: lower --hz"},
		{s.Detached, "samples whose outer callers are not known", "they are below \"(callers not known)\""},
		{s.Purged, "samples on rare call paths that were put together", "they are below \"" + noRoom + "\""},
	} {
		if l.n > 0 {
			t.printf("%s: %s (%s)\n", l.what, Count(l.n), l.hint)
		}
	}
	if len(s.States) > 1 {
		var parts []string
		for _, state := range byCount(s.States) {
			parts = append(parts, fmt.Sprintf("%s %s", Clean(state), percent(s.States[state], s.Samples)))
		}
		t.printf("threads were: %s\n", strings.Join(parts, ", "))
	}
	if s.First > 0 {
		t.printf("the first sample came after %s; ", Duration(int64(s.First*1e6)))
	}
	if s.Share > 0 || t.report.Target.PID != 0 {
		t.printf("sampling took %.2f %% of a core\n", 100*s.Share)
	}
	t.notes()
}

// byCount are the keys, those with the largest numbers first.
func byCount(m map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
}

func percent(part, whole int64) string {
	if part == whole {
		return "100 %"
	}
	return fmt.Sprintf("%.2f %%", 100*float64(part)/float64(max(whole, 1)))
}
