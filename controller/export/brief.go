package export

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/history"
)

// A Brief says what is slow, in sentences, and names the methods that have most.
type Brief struct {
	Lines     []string // sentences, the most important first
	Self      []int32  // ids of the methods with most self time, at most five; no counted ones
	Allocated []int32  // and of those that allocate most bytes, where these were counted
	Waiting   []int32  // and of those that wait most themselves, where that was sampled
}

// briefMost is how many methods each list of a [Brief] has.
const briefMost = 5

// spread is the share of the time below which even the method with the most has little.
const spread = 0.1

// Brief makes the sentences. It goes through the whole tree.
func (r *Report) Brief() Brief { return r.brief(r.figures(), nil) }

// brief has labels for names if there are any yet.
func (r *Report) brief(f figures, labels map[int32]string) Brief {
	var b Brief
	if f.sums.Nodes == 0 || f.sums.Self <= 0 {
		return b
	}
	if labels == nil {
		labels = r.labels(f.flat)
	}
	hot := slices.DeleteFunc(slices.Clone(f.flat), func(e cct.Flat) bool { return r.Counted[e.Method] || e.Self <= 0 })
	for _, e := range hot[:min(briefMost, len(hot))] {
		b.Self = append(b.Self, e.Method)
	}
	if len(hot) > 0 {
		b.Lines = append(b.Lines, r.hottest(f, hot, labels))
	}
	b.slowStart(r)
	b.idle(r, f)
	b.waiting(r, f, labels)
	if at := r.metrics().Index("allocated_bytes"); at >= 0 {
		b.allocated(f, at, labels)
	}
	if d := density(r.metrics(), f.sums.Counts); d != nil {
		b.Lines = append(b.Lines, "It allocates "+d.text(cct.TypesOf(f.snapshot.Roots()))+".")
	}
	if r.Sampling == nil {
		b.exceptions(f, labels)
	}
	b.cost(r, f)
	return b
}

// hottest is the sentence of the method with most self time, and of who calls it.
func (r *Report) hottest(f figures, hot []cct.Flat, labels map[int32]string) string {
	top := hot[0]
	text := fmt.Sprintf("%s takes most of the time itself, %s: %s", labels[top.Method], share(top.Self, f.sums.Self), Duration(top.Self))
	if float64(top.Self) < spread*float64(f.sums.Self) {
		text = fmt.Sprintf("The time is spread over many methods: %s takes most of it itself, no more than %s: %s", labels[top.Method], share(top.Self, f.sums.Self), Duration(top.Self))
	}
	if r.Sampling == nil && top.Calls > 0 {
		text += fmt.Sprintf(" in %s, %s each", Plural(top.Calls, "call", "calls"), Duration(top.Self/top.Calls))
	}
	callers := map[int32]int64{}
	var path []int32
	cct.Walk(f.snapshot.Roots(), func(n *cct.Node, _ int) bool {
		if n.Method == top.Method {
			up := len(path) - 1
			for up >= 0 && path[up] == n.Method { // whoever has called it first
				up--
			}
			if up >= 0 {
				callers[path[up]] += n.Self
			}
		}
		path = append(path, n.Method)
		return true
	}, func(*cct.Node, int) { path = path[:len(path)-1] })
	best, most := int32(0), int64(0)
	for m, v := range callers {
		if v > most || v == most && m < best {
			best, most = m, v
		}
	}
	if name := labels[best]; most > 0 && name != "" {
		part := share(most, top.Self)
		if most >= top.Self {
			part = "all"
		}
		text += fmt.Sprintf("; %s of that when %s calls it", part, name)
	}
	five := int64(0)
	for _, e := range hot[:min(briefMost, len(hot))] {
		five += e.Self
	}
	if len(hot) > briefMost {
		text += fmt.Sprintf(". The first five methods have %s", share(five, f.sums.Self))
	}
	return text + "."
}

func (b *Brief) allocated(f figures, at int, labels map[int32]string) {
	list := slices.DeleteFunc(slices.Clone(f.flat), func(e cct.Flat) bool { return own(e.Counts, at) <= 0 })
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(x, y cct.Flat) int { return cmp.Compare(own(y.Counts, at), own(x.Counts, at)) })
	for _, e := range list[:min(briefMost, len(list))] {
		b.Allocated = append(b.Allocated, e.Method)
	}
	most := own(list[0].Counts, at)
	b.Lines = append(b.Lines, fmt.Sprintf("%s allocates most itself: %s, %s of all that is allocated.", labels[list[0].Method], Bytes(most), share(most, own(f.sums.Counts, at))))
}

// When the beginning of a recording is said to have been slow: its root calls took so many times what those of the second
// half took, have so large a share of all root calls' time, and each second has so many.
const (
	coldTimes = 1.5
	coldShare = 0.1
	coldCalls = 10
	coldSteps = 8
)

// slowStart says that root calls took longer at the beginning. The JVM gives up compiled code when classes are
// redefined; until it is compiled again, figures are of other code than the program usually runs.
func (b *Brief) slowStart(r *Report) {
	if r.Sampling != nil || r.History == nil || len(r.History.Steps) < coldSteps {
		return
	}
	steps := r.History.Steps
	sum := func(of []history.Step) (took float64, ended int64) {
		for _, s := range of {
			if s.Ended > 0 && s.Mean >= 0 {
				took, ended = took+float64(s.Mean)*float64(s.Ended), ended+s.Ended
			}
		}
		return took, ended
	}
	later, calls := sum(steps[len(steps)/2:])
	if calls < coldCalls {
		return
	}
	usual, slow := later/float64(calls), 0
	for slow < len(steps)/2 && steps[slow].Ended >= coldCalls && float64(steps[slow].Mean) >= coldTimes*usual {
		slow++
	}
	took, ended := sum(steps[:slow])
	all, _ := sum(steps)
	if slow == 0 || took < coldShare*all {
		return
	}
	until := Duration(steps[slow-1].From + steps[slow-1].Took)
	b.Lines = append(b.Lines, fmt.Sprintf("In the first %s a root call took %s, %.1f times as long as in the second half: code that is being compiled is slow, and much is compiled again after a recording has begun. "+
		"These calls have %s of all root calls' time; --warmup (on the page: ignore first) leaves them out.",
		until, Duration(int64(took/float64(ended))), took/float64(ended)/usual, share(int64(took), int64(all))))
}

// mostComputing is the share of the time that the program computed, at the most, beyond which
// the sentence on waiting is left out: it says little then.
const mostComputing = 0.8

// idle says how much of the time threads waited at least, where nothing else does: the program's
// threads, its compilers and collector included, used less processor time than the methods took.
func (b *Brief) idle(r *Report, f figures) {
	if r.Sampling != nil || r.CPU != nil || r.History == nil || len(r.History.Steps) == 0 {
		return
	}
	used := int64(0)
	for _, s := range r.History.Steps {
		if s.CPU < 0 {
			return
		}
		used += s.CPU
	}
	if float64(used) < mostComputing*float64(f.sums.Self) {
		b.Lines = append(b.Lines, fmt.Sprintf("For at least %s of this time threads waited, or had no core: the whole program used %s of processor time. Recorded with --cpu (on the page: tell computing from waiting), the report names what waits.", share(f.sums.Self-used, f.sums.Self), Duration(used)))
	}
}

// leastWaiting is the share of all self time below which waiting is not spoken of: it may be
// chance, or threads that wait for a core.
const leastWaiting = 0.01

// waits is how much of a method's self time it was off a core, ns, as far as samples say: of
// recordings with --cpu, and of samples of all threads by what these did.
func (r *Report) waits(e cct.Flat) int64 {
	switch {
	case r.Sampling == nil && r.CPU != nil:
		if cpu, ok := e.Sample.Of(e.Self); ok {
			return e.Self - cpu
		}
	case r.Sampling != nil && r.Sampling.Mode == WallMode:
		waiting, all := int64(0), int64(0)
		for i, n := range e.Sample.States {
			if all += n; i < len(StateNames) && slices.Contains(waitingStates, StateNames[i]) {
				waiting += n
			}
		}
		if all > 0 {
			return int64(float64(e.Self) * float64(waiting) / float64(all))
		}
	}
	return 0
}

// waitingStates are those of [StateNames] in which a thread is off a core and needs none.
var waitingStates = []string{"blocked", "waiting", "parked", "sleeping", "in I/O"}

// waiting is the sentence of the method that waits most itself.
func (b *Brief) waiting(r *Report, f figures, labels map[int32]string) {
	type one struct {
		cct.Flat
		ns int64
	}
	var list []one
	all := int64(0)
	for _, e := range f.flat {
		ns := r.waits(e)
		all += ns
		if !r.Counted[e.Method] && float64(ns) >= leastWaiting*float64(f.sums.Self) && ns > 0 {
			list = append(list, one{e, ns})
		}
	}
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(x, y one) int { return cmp.Compare(y.ns, x.ns) })
	for _, e := range list[:min(briefMost, len(list))] {
		b.Waiting = append(b.Waiting, e.Method)
	}
	top := list[0]
	b.Lines = append(b.Lines, fmt.Sprintf("%s waits most itself: %s of its %s it was off a core, %s of all such time.", labels[top.Method], Duration(top.ns), Duration(top.Self), share(top.ns, all)))
}

func (b *Brief) exceptions(f figures, labels map[int32]string) {
	all, top := int64(0), cct.Flat{}
	for _, e := range f.flat {
		all += e.Thrown
		if e.Thrown > top.Thrown {
			top = e
		}
	}
	if all > 0 {
		b.Lines = append(b.Lines, fmt.Sprintf("%s ended by an exception, %s of them of %s.", Plural(all, "call", "calls"), share(top.Thrown, all), labels[top.Method]))
	}
}

func (b *Brief) cost(r *Report, f figures) {
	switch {
	case r.Sampling != nil:
		if s := r.Sampling.Share; s > 0 {
			b.Lines = append(b.Lines, fmt.Sprintf("Sampling took %.2g %% of a core.", 100*s))
		}
	case r.Calibration != nil:
		text := fmt.Sprintf("Rivulet itself cost %s, %s of what was measured, which is removed", Duration(r.Correction.Subtracted), share(r.Correction.Subtracted, f.sums.Raw))
		if f.suspended > 0 {
			text += fmt.Sprintf(", and paused threads for %s", Duration(f.suspended))
		}
		b.Lines = append(b.Lines, text+".")
	case f.suspended > 0:
		b.Lines = append(b.Lines, fmt.Sprintf("Rivulet paused threads for %s; its own cost could not be measured, and is in the times.", Duration(f.suspended)))
	}
}

// inShort writes the sentences first, so that nobody has to look for them.
func (t *textWriter) inShort() {
	b := t.report.brief(t.figures, t.labels)
	if len(b.Lines) == 0 {
		return
	}
	t.section("What is slow")
	for _, line := range b.Lines {
		t.text(line + "\n")
	}
}
