package live

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/search"
)

// An UncertaintyView says what is uncertain about a recording, or missing from it. Times are
// in ns.
type UncertaintyView struct {
	Incomplete   int64             `json:"incomplete"`
	Overflow     int64             `json:"overflow"`
	Lost         int64             `json:"lost"`
	Refused      int64             `json:"refused"`
	Unfollowed   int64             `json:"unfollowed"` // tasks whose executions are not below who handed them over
	Damaged      int64             `json:"damaged"`
	Open         int64             `json:"open"`
	Clamped      int64             `json:"clamped"`
	Subtracted   int64             `json:"subtracted"`
	Measured     int64             `json:"measured"`
	Calibration  any               `json:"calibration"` // null where the probes' cost is not known
	Uncounted    int64             `json:"uncounted"`
	Exact        bool              `json:"exact"`
	Gaps         []export.Gap      `json:"gaps"` // why calls may be missing, beside the numbers here
	Notes        []string          `json:"notes"`
	Pauses       []string          `json:"pauses"` // collections, safepoints and allocation, in sentences
	SkippedCount int               `json:"skipped_count"`
	Reasons      []Reason          `json:"reasons"`
	Filter       *export.Filter    `json:"filter"` // null where there was none
	Natives      int               `json:"natives"`
	Events       *EventLosses      `json:"events"` // null where none were recorded
	Methods      []UncertainMethod `json:"dark"`
	Processes    []export.Process  `json:"processes"` // whose reports were put together; none of one JVM
	Odd          []string          `json:"odd"`       // which of them are far off, in sentences
}

// EventLosses says what was lost of a recording's events.
type EventLosses struct {
	Dropped int64  `json:"dropped"`
	Muted   int64  `json:"muted"`
	Bad     int64  `json:"bad"`
	Waits   int64  `json:"waits"`
	Waited  int64  `json:"waited"` // ns, in nobody's time
	Differ  *int64 `json:"differ"` // null while it is not known
}

// An UncertainMethod is a method whose figures are uncertain, or whose callees are hidden.
type UncertainMethod struct {
	Method     int32 `json:"method"`
	Incomplete int64 `json:"incomplete"` // contexts where a wait for its callees timed out
	Hidden     int   `json:"hidden"`     // methods that it calls and that the filter hides: their time is in its own
	Self       int64 `json:"self"`       // ns
	Error      int64 `json:"error"`      // ns that self may be off
}

// A Reason is one cause why methods have no probes, and how many have it.
type Reason struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// bounds of the lists of processes.
const (
	mostProcesses = 500
	mostOdd       = 40
)

func (f *Frame) uncertainty() UncertaintyView {
	r := f.Report
	p := UncertaintyView{
		Incomplete: r.Tree.Incomplete, Overflow: r.Tree.Overflow, Lost: r.Tree.Lost, Unfollowed: r.Tree.Unfollowed, Refused: r.Tree.Refused, Damaged: r.Tree.Bad,
		Open: f.open, Clamped: r.Correction.Clamped, Subtracted: r.Correction.Subtracted, Measured: f.sums.Raw,
		Exact: r.Exact(), Gaps: append([]export.Gap{}, r.Gaps...),
		Notes: append([]string{}, r.Notes...), Pauses: append([]string{}, r.Pauses.Lines()...), SkippedCount: len(r.Skipped), Reasons: []Reason{},
	}
	if p.Processes = append([]export.Process{}, r.Processes...); len(p.Processes) > mostProcesses {
		p.Processes = p.Processes[:mostProcesses]
	}
	p.Odd = r.OddProcesses(mostOdd)
	if r.Calibration != nil {
		p.Calibration = r.Calibration
	} else {
		p.Measured = f.sums.Self
	}
	p.Uncounted, p.Natives, p.Filter, p.Methods = r.Tree.Uncounted, r.Natives, r.Filter, f.uncertainMethods()
	if e := r.Events; e != nil {
		p.Events = &EventLosses{Dropped: e.Dropped, Muted: e.Muted, Bad: e.Bad, Waits: e.Waits, Waited: e.Waited, Differ: e.Differ}
	}
	at := map[string]int{}
	for _, s := range r.Skipped {
		short := shortReason(s)
		i, ok := at[short]
		if !ok {
			i = len(p.Reasons)
			at[short] = i
			p.Reasons = append(p.Reasons, Reason{Reason: short})
		}
		p.Reasons[i].Count++
	}
	slices.SortStableFunc(p.Reasons, func(a, b Reason) int { return cmp.Compare(b.Count, a.Count) })
	return p
}

func shortReason(s export.Skipped) string {
	short, _, _ := strings.Cut(s.Reason, ":")
	return short
}

// uncertainMethods are the methods with incomplete contexts, with hidden callees, and
// those whose own times are the least certain, a hundred of each at the most.
func (f *Frame) uncertainMethods() []UncertainMethod {
	f.mu.Lock()
	got := f.uncertain
	f.mu.Unlock()
	if got != nil {
		return got
	}
	incomplete := map[int32]int64{}
	for n := range cct.All(f.merged) {
		if n.Incomplete {
			incomplete[f.numbers[n.Method]]++
		}
	}
	var all []UncertainMethod
	for _, e := range f.flat(flatKey{}) {
		all = append(all, UncertainMethod{e.Method, incomplete[e.Method], f.method(f.local[e.Method]).Hidden, e.Self, e.Error})
	}
	got = []UncertainMethod{}
	seen := map[int32]bool{}
	for _, by := range []func(UncertainMethod) int64{
		func(d UncertainMethod) int64 { return d.Incomplete },
		func(d UncertainMethod) int64 { return int64(min(d.Hidden, 1)) * max(d.Self, 1) },
		func(d UncertainMethod) int64 { return d.Error },
	} {
		slices.SortStableFunc(all, func(a, b UncertainMethod) int { return cmp.Compare(by(b), by(a)) })
		for i, d := range all {
			if i == maxUncertain || by(d) == 0 {
				break
			}
			if !seen[d.Method] {
				seen[d.Method] = true
				got = append(got, d)
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.uncertain = got
	return got
}

const maxUncertain = 100

// A SkippedView is a window of the list of methods without probes.
type SkippedView struct {
	Count int              `json:"count"` // that match
	From  int              `json:"from"`
	Lines []export.Skipped `json:"lines"`
}

func (f *Frame) skipped(l *SkippedQuery) SkippedView {
	out := SkippedView{From: l.From, Lines: []export.Skipped{}}
	match := search.New(l.Filter)
	for _, s := range f.Report.Skipped {
		if l.Reason != "" && shortReason(s) != l.Reason || !match.All(s.Method) {
			continue
		}
		if out.Count >= l.From && len(out.Lines) < l.Rows {
			out.Lines = append(out.Lines, s)
		}
		out.Count++
	}
	return out
}
