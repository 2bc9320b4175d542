package live

import (
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// A SlowestView lists the slowest root invocations, the slowest first, at most 400.
type SlowestView struct {
	Recorded bool             `json:"recorded"`   // the recording keeps them
	Times    bool             `json:"times_only"` // their trees were not recorded
	Asked    int              `json:"asked"`
	Over     int64            `json:"over"` // ns that they had to exceed; 0 none
	Of       int64            `json:"of"`   // root calls that did
	Count    int              `json:"count"`
	Lines    []SlowInvocation `json:"lines"`
	Path     *CriticalPath    `json:"path,omitempty"` // of the one whose tree is looked at; nil where it says nothing
}

// A CriticalPath is what the end of a root invocation waited for: the 200 longest segments,
// in the order of time. Times are in ns from the beginning of the invocation. Method numbers
// are those of the [Numbering], 0 if the method is unknown.
type CriticalPath struct {
	Run      int64        `json:"run"`
	Queue    int64        `json:"queue"`
	Wait     int64        `json:"wait"`
	Profiler int64        `json:"profiler"`
	Lacking  int64        `json:"lacking"`  // waits that had no room: the path may be another
	Left     int64        `json:"left"`     // shorter segments, left out
	LeftTime int64        `json:"left_ns"`  // of these
	Threads  []PathThread `json:"threads"`  // in the order in which the path comes to them
	Segments [][6]int64   `json:"segments"` // kind, thread by place, method, from, to, cause; kinds and causes as package event numbers them
	Methods  [][4]int64   `json:"methods"`  // method, run, queued, waited; those with most first
}

// A PathThread is a thread on a critical path.
type PathThread struct {
	Name string `json:"name"`
	ID   int64  `json:"id"`
}

// A SlowInvocation is one root invocation. Times are in ns.
type SlowInvocation struct {
	Place       int       `json:"place"` // what [Query].Slow is for its tree
	Method      int32     `json:"method"`
	Thread      string    `json:"thread"`
	ID          int64     `json:"id"` // of the thread
	Start       int64     `json:"start"`
	Took        int64     `json:"took"`
	Suspended   int64     `json:"suspended"`
	Paused      *[2]int64 `json:"gc_pause,omitempty"` // by collections: at least, at most; nil where that is not known
	Way         *[3]int64 `json:"way,omitempty"`      // of its critical path: ran, queued, waited; nil where none is known
	Ran         *int64    `json:"ran,omitempty"`      // on a core, by samples; nil where nobody looked, or it was too short
	Thrown      bool      `json:"thrown"`
	TraceID     string    `json:"trace_id,omitempty"` // of OpenTelemetry, in hexadecimal digits; "" where no span is known
	SpanID      string    `json:"span_id,omitempty"`
	Within      bool      `json:"span_within,omitempty"` // the span began during the root call
	Calls       int64     `json:"calls"`
	CutContexts int64     `json:"cut_contexts"`
	CutCalls    int64     `json:"cut_calls"`
	Tasks       int64     `json:"tasks"`        // executed for it, on whatever thread
	Waited      int64     `json:"waited"`       // of all these, until they were executed
	LongestWait int64     `json:"longest_wait"` // of one
}

// Bounds of a critical path.
const (
	maxSegments    = 200
	maxPathMethods = 12
)

// slowest is the list, with the critical path of the one at a place, from 1.
func (f *Frame) slowest(place int) SlowestView {
	view := SlowestView{Lines: []SlowInvocation{}}
	s := f.Report.Slowest
	if s == nil {
		return view
	}
	view.Recorded, view.Times = true, s.TimesOnly
	view.Asked, view.Over, view.Of, view.Count = s.Asked, s.Over, s.Of, len(s.Invocations)
	sums := f.invocationSums()
	for at, i := range s.Invocations[:min(len(s.Invocations), maxList)] {
		k := sums[at]
		view.Lines = append(view.Lines, SlowInvocation{
			Place: at + 1, Method: f.numbers[i.Tree().Method], Thread: export.Clean(i.Thread.Name), ID: i.Thread.ID,
			Start: i.Start, Took: i.Took, Suspended: i.Suspended, Paused: pausedOf(i.Paused), Way: wayOf(i.Path), Ran: i.Ran, Thrown: i.Thrown, Calls: k.calls,
			TraceID: i.Span.TraceID(), SpanID: i.Span.SpanID(), Within: i.Span.Within,
			CutContexts: i.CutContexts, CutCalls: i.CutCalls, Tasks: k.tasks, Waited: k.waited, LongestWait: k.longest,
		})
	}
	if place > 0 && place <= len(s.Invocations) {
		view.Path = f.criticalPath(s.Invocations[place-1].Path)
	}
	return view
}

func pausedOf(p *export.Paused) *[2]int64 {
	if p == nil {
		return nil
	}
	return &[2]int64{p.Least, p.Most}
}

func wayOf(p *export.Path) *[3]int64 {
	if p == nil {
		return nil
	}
	return &[3]int64{p.Run, p.Queue, p.Wait}
}

// criticalPath is nil for a path that never left its thread, nor waited: the tree
// says as much.
func (f *Frame) criticalPath(p *export.Path) *CriticalPath {
	if p == nil || len(p.Segments) < 2 {
		return nil
	}
	out := &CriticalPath{Run: p.Run, Queue: p.Queue, Wait: p.Wait, Profiler: p.Profiler, Lacking: p.Lacking, Threads: []PathThread{}, Segments: [][6]int64{}, Methods: [][4]int64{}}
	shown, left, time := p.Longest(maxSegments)
	out.Left, out.LeftTime = left, time
	places := map[PathThread]int{}
	for _, s := range shown {
		t := PathThread{export.Clean(s.Thread.Name), s.Thread.ID}
		at, ok := places[t]
		if !ok {
			at = len(out.Threads)
			places[t] = at
			out.Threads = append(out.Threads, t)
		}
		out.Segments = append(out.Segments, [6]int64{int64(s.Kind), int64(at), int64(f.numbers[s.Method]), s.From, s.To, int64(s.Cause)})
	}
	for _, s := range p.Shares[:min(len(p.Shares), maxPathMethods)] {
		out.Methods = append(out.Methods, [4]int64{int64(f.numbers[s.Method]), s.Run, s.Queue, s.Wait})
	}
	return out
}

// A invocationSum is what the tree of one of the slowest invocations adds up to.
type invocationSum struct{ calls, tasks, waited, longest int64 }

// invocationSums are those of all the slowest invocations.
func (f *Frame) invocationSums() []invocationSum {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.slow == nil {
		for _, i := range f.Report.Slowest.Invocations {
			k := invocationSum{calls: i.CutCalls}
			for n := range cct.All(i.Thread.Roots) {
				k.calls += n.Calls
				if a := n.Async(); a != nil {
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
