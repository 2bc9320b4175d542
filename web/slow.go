package web

import (
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// A SlowPage lists the slowest root invocations, the slowest first.
type SlowPage struct {
	Recorded bool       `json:"recorded"` // the recording keeps them
	Asked    int        `json:"asked"`
	Over     int64      `json:"over"` // ns that they had to exceed; 0 none
	Of       int64      `json:"of"`   // root invocations that did
	Count    int        `json:"count"`
	Lines    []SlowLine `json:"lines"`
}

// A SlowLine is one root invocation; times in ns.
type SlowLine struct {
	Place       int    `json:"place"` // what a look's slow is to be
	Method      int32  `json:"method"`
	Thread      string `json:"thread"`
	ID          int64  `json:"id"` // of the thread
	Start       int64  `json:"start"`
	Took        int64  `json:"took"`
	Suspended   int64  `json:"suspended"`
	Thrown      bool   `json:"thrown"`
	Calls       int64  `json:"calls"`
	CutContexts int64  `json:"cut_contexts"`
	CutCalls    int64  `json:"cut_calls"`
	Tasks       int64  `json:"tasks"`        // executed for it, on whatever thread
	Waited      int64  `json:"waited"`       // of all these, until they were executed
	LongestWait int64  `json:"longest_wait"` // of one
}

func (f *Frame) slowest() SlowPage {
	page := SlowPage{Lines: []SlowLine{}}
	s := f.Report.Slowest
	if s == nil {
		return page
	}
	page.Recorded, page.Asked, page.Over, page.Of, page.Count = true, s.Asked, s.Over, s.Of, len(s.Invocations)
	sums := f.slowSums()
	for at, i := range s.Invocations[:min(len(s.Invocations), mostList)] {
		k := sums[at]
		page.Lines = append(page.Lines, SlowLine{
			Place: at + 1, Method: f.numbers[i.Tree().Method], Thread: export.Clean(i.Thread.Name), ID: i.Thread.ID,
			Start: i.Start, Took: i.Took, Suspended: i.Suspended, Thrown: i.Thrown, Calls: k.calls,
			CutContexts: i.CutContexts, CutCalls: i.CutCalls, Tasks: k.tasks, Waited: k.waited, LongestWait: k.longest,
		})
	}
	return page
}

// A slowSum is what the tree of one of the slowest invocations adds up to.
type slowSum struct{ calls, tasks, waited, longest int64 }

// slowSums are those of all the slowest invocations.
func (f *Frame) slowSums() []slowSum {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.slow == nil {
		for _, i := range f.Report.Slowest.Invocations {
			k := slowSum{calls: i.CutCalls}
			for n := range cct.All(i.Thread.Roots) {
				k.calls += n.Calls
				if a := n.Async; a != nil {
					k.tasks += n.Calls
					k.waited += a.Waited
					k.longest = max(k.longest, a.Longest)
				}
			}
			f.slow = append(f.slow, k)
		}
	}
	return f.slow
}
