package export

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// clampedWarning is the share of the charged time from which clamping makes
// the report unreliable.
const clampedWarning = 0.01

// largeGap is a gap between ticks, in ns, from which invocations' times are
// marked: a few times the period that the clock aims at.
const largeGap = 1e6

// fewTicks of the tick clock leave an error of a tenth and more on everything.
const fewTicks = 100

func (t *textWriter) calibration() {
	c := t.report.Calibration
	if c == nil {
		return
	}
	t.printf("a call costs %.1f ns in the callee's time and %.1f ns in the caller's, to within %.1f ns; both are taken off\n", c.Inner, c.Outer, c.Spread)
	if r := t.report; r.Clock == "tick" && (c.Tick == nil || c.Tick.Ticks < fewTicks) {
		t.text("few ticks of the clock fell into this recording, so times are rough: record longer, or with --clock precise\n")
	}
	if k := c.Tick; k != nil {
		t.printf("the clock ticked every %s on average, half of the ticks at most %s apart, 99 %% at most %s, all at most %s; it took %.1f %% of a core\n",
			Duration(int64(k.Period)), Duration(int64(k.P50)), Duration(int64(k.P99)), Duration(int64(k.Longest)), 100*k.Share)
		if t.rough() {
			t.text("times marked ~ are shorter than the gaps between ticks: they are means of many invocations, right in proportion, and say nothing of one\n")
		}
	}
	if lost := t.report.Correction.Clamped; float64(lost) > clampedWarning*float64(t.sums.Self) {
		t.printf("warning: %s overhead not removable, since the methods' own times are less; methods far shorter than a probe are not to be trusted\n", Duration(lost))
	}
}

// manyPauses is how long all threads must have been stopped in all before a
// scheme is named that is likely to stop them less (docs/decisions/0025-scheme-c-by-default.md).
const manyPauses = time.Second

func (t *textWriter) footer() {
	r := t.report
	if r.Sampling != nil {
		t.sampleFooter()
		return
	}
	t.section("Instrumentation")
	t.calibration()
	if note := r.estimatesNote(); note != "" {
		t.printf("%s\n", note)
	} else if c := r.CPU; c != nil {
		t.printf("on cpu: %s at threads inside, which took %.1f %% of a core", Plural(c.Samples, "look", "looks"), 100*c.Share)
		if c.Virtual > 0 {
			t.printf("; %s at virtual threads say nothing", Count(c.Virtual))
		}
		t.text("\n")
	}
	t.printf("%s called of %s instrumented", Count(int64(t.called())), Plural(int64(r.Instrumented), "method", "methods"))
	if r.Natives > 0 {
		t.printf(" and calls of %s", Plural(int64(r.Natives), "native", "natives"))
	}
	t.text("\n")
	if r.Called && r.Reach > 0 {
		reach := Plural(int64(r.Reach), "method", "methods")
		if r.Scheme != "A" && r.Reach == ReachCounted {
			reach += " or more"
		}
		t.printf("%s within reach: probes are called rather than inlined, which is faster where there are many\n", reach)
	}
	t.leaves()
	t.printf("%s instrumented, %s, %s", Plural(int64(r.Redefinition.Classes), "class", "classes"),
		Plural(int64(r.Redefinition.Batches), "step", "steps"), Duration(int64(r.Redefinition.Time)))
	if p := r.Redefinition.LongestPause; p != nil {
		t.printf(", longest pause %s", Duration(int64(*p)))
	}
	var all time.Duration
	if p := r.Redefinition.Pauses; p != nil {
		all = *p
		t.printf(", %s in all", Duration(int64(all)))
	}
	t.text("\n")
	if all >= manyPauses {
		switch r.Scheme {
		case "B":
			t.text("each step stops all threads: --scheme C makes fewer\n")
		case "C":
			t.text("each step stops all threads: --scheme A makes fewer, most of them before the recording begins\n")
		}
	}
	if t.suspended > 0 {
		t.printf("threads below the root were paused by Rivulet for %s, which is in no figure above\n", Duration(t.suspended))
	}
	t.rootTimes()
	t.pauses()
	t.events()
	t.filter()
	t.skipped()
	for _, l := range []struct {
		n          int64
		what, hint string
	}{
		{t.figures.snapshot.Incomplete, "waits for instrumentation that timed out", "below nodes marked incomplete, counts are lower bounds"},
		{t.figures.snapshot.Overflow, "calls without a call path of their own for want of memory", "below \"" + noRoom + "\" they count by method; raise --memory"},
		{t.figures.snapshot.Uncounted, "of them are in no count at all", "raise --memory"},
		{t.figures.snapshot.Lost, "root calls, or executions of tasks, missing", "too many were under way at one time"},
		{t.figures.snapshot.Refused, "root calls beyond limit", "--until-calls was reached"},
		{t.figures.snapshot.Unfollowed, "tasks that could not be followed", "too many waited to be executed at one time, or there was no room; raise --memory"},
		{t.figures.snapshot.Detached, "executions of async tasks that are in no tree", "they were submitted while the tree was read"},
		{t.figures.snapshot.Bad, "damaged links in the tree", "the target's memory can't be trusted"},
	} {
		if l.n > 0 {
			t.printf("%s: %s (%s)\n", l.what, Count(l.n), l.hint)
		}
	}
	t.gaps()
	t.late()
	t.notes()
	t.agents()
}

// leaves says how many calls have no times of their own.
func (t *textWriter) leaves() {
	methods, calls := 0, int64(0)
	for _, e := range t.flat {
		if t.report.Counted[e.Method] {
			methods++
			calls += e.Calls
		}
	}
	if methods == 0 {
		return
	}
	t.printf("%s of %s are only counted", Plural(calls, "call", "calls"), Plural(int64(methods), "method", "methods"))
	if c := t.report.Calibration; c != nil && c.Leaf > 0 {
		t.printf(", at %.1f ns a call of a leaf", c.Leaf)
	}
	t.text(": their time is their callers'; --leaves timed gives short leaves times of their own\n")
}

func (t *textWriter) notes() {
	for _, note := range t.report.Notes {
		t.printf("note: %s\n", Clean(note))
	}
}

// filter says what the filter hid. The rules are as they were typed.
func (t *textWriter) filter() {
	f := t.report.Filter
	if f == nil {
		return
	}
	callers, self := 0, int64(0)
	for _, e := range t.flat {
		if t.report.Method(e.Method).Hidden > 0 {
			callers++
			self += e.Self
		}
	}
	t.printf("filter %s: ", Clean(strings.Join(f.Rules, " ")))
	if f.Hidden == 0 {
		t.text("nothing within reach is hidden by it\n")
		return
	}
	t.printf("%s within reach hidden\n", Plural(int64(f.Hidden), "method", "methods"))
	if callers > 0 {
		t.printf("  what they took is in the self time of the %s that can call them (%s, their own time included)\n",
			Plural(int64(callers), "recorded method", "recorded methods"), Duration(self))
	}
}

// skipped sums up the methods without probes by reason.
func (t *textWriter) skipped() {
	skipped := t.report.Skipped
	if len(skipped) == 0 {
		return
	}
	count := map[string]int{}
	var reasons []string
	for _, s := range skipped {
		if count[s.Reason]++; count[s.Reason] == 1 {
			reasons = append(reasons, s.Reason)
		}
	}
	slices.SortFunc(reasons, func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	t.printf("%s skipped (all of them are in the JSON report):\n", Plural(int64(len(skipped)), "method", "methods"))
	shown := min(len(reasons), mostReasons)
	for _, reason := range reasons[:shown] {
		t.printf("  %s  %s\n", Count(int64(count[reason])), Clean(reason))
	}
	if rest := reasons[shown:]; len(rest) > 0 {
		n := 0
		for _, reason := range rest {
			n += count[reason]
		}
		t.printf("  %s  for %s\n", Count(int64(n)), Plural(int64(len(rest)), "other reason", "other reasons"))
	}
}
