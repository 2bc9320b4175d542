package export

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
)

// A Path is the critical path of a root invocation, as package event finds it.
// Times are as measured, ns from the invocation's begin.
type Path struct {
	Segments                   []Segment
	Left, LeftTime             int64 // the shortest segments, where there were too many, and ns of these
	Shares                     []event.Share
	Run, Queue, Wait, Profiler int64 // ns of each kind, and of the profiler's own work
	Grain                      int64 // ns: methods were looked at so often, 0 always
	Lacking                    int64 // waits and threads without room: the path may be another
}

// A Segment is a piece of a critical path.
type Segment struct {
	Kind     event.Kind
	Cause    event.Cause
	Thread   *cct.Thread // without trees
	Method   int32       // -1 unknown
	From, To int64
}

// What kinds and causes are called, in JSON and for people.
var (
	pathKinds  = []string{event.Run: "run", event.Queue: "queue", event.Wait: "wait"}
	pathCauses = []string{event.NoCause: "", event.Unparked: "unpark", event.Ended: "end", event.Notified: "notify"}
	pathSays   = []string{
		event.NoCause: "", event.Unparked: "until the thread above let it go on", event.Ended: "until the thread above ended",
		event.Notified: "until the task above ended",
	}
)

type jsonPath struct {
	Run      int64         `json:"run_ns"`
	Queue    int64         `json:"queue_ns"`
	Wait     int64         `json:"wait_ns"`
	Profiler int64         `json:"profiler_ns"`
	Grain    int64         `json:"grain_ns,omitempty"`
	Lacking  int64         `json:"lacking,omitempty"`
	Left     int64         `json:"left_out,omitempty"`
	LeftTime int64         `json:"left_out_ns,omitempty"`
	Segments []jsonSegment `json:"segments"`
	Methods  []jsonShare   `json:"methods"`
}

type jsonSegment struct {
	Kind    string `json:"kind"`
	From    int64  `json:"from_ns"`
	To      int64  `json:"to_ns"`
	Thread  string `json:"thread"`
	ID      int64  `json:"thread_id"`
	Virtual bool   `json:"virtual,omitempty"`
	Method  string `json:"method,omitempty"`
	Loader  string `json:"loader,omitempty"`
	Cause   string `json:"cause,omitempty"`
}

type jsonShare struct {
	Method string `json:"method,omitempty"`
	Loader string `json:"loader,omitempty"`
	Run    int64  `json:"run_ns"`
	Queue  int64  `json:"queue_ns"`
	Wait   int64  `json:"wait_ns"`
}

// path writes the field "critical_path", where there is one.
func (w *jsonWriter) path(p *Path) {
	if p == nil {
		return
	}
	name := func(id int32) (method, loader string) {
		if id < 0 && id != cct.Unplaced {
			return "", ""
		}
		m := w.report.Method(id)
		if w.loaders[id] {
			loader = m.Loader
		}
		return m.Name, loader
	}
	j := jsonPath{
		Run: p.Run, Queue: p.Queue, Wait: p.Wait, Profiler: p.Profiler, Grain: p.Grain, Lacking: p.Lacking,
		Left: p.Left, LeftTime: p.LeftTime, Segments: []jsonSegment{}, Methods: []jsonShare{},
	}
	for _, s := range p.Segments {
		one := jsonSegment{Kind: pathKinds[s.Kind], Cause: pathCauses[s.Cause], From: s.From, To: s.To, Thread: s.Thread.Name, ID: s.Thread.ID, Virtual: s.Thread.Virtual}
		one.Method, one.Loader = name(s.Method)
		j.Segments = append(j.Segments, one)
	}
	for _, s := range p.Shares {
		one := jsonShare{Run: s.Run, Queue: s.Queue, Wait: s.Wait}
		one.Method, one.Loader = name(s.Method)
		j.Methods = append(j.Methods, one)
	}
	text, err := marshal(j, "")
	if err != nil { // it has nothing that can't be written
		return
	}
	w.text(`,"critical_path":`)
	w.bytes(text)
}

// path reads the field "critical_path".
func (in *reader) path() (*Path, error) {
	var j jsonPath
	if err := in.value(&j); err != nil {
		return nil, err
	}
	p := &Path{
		Run: j.Run, Queue: j.Queue, Wait: j.Wait, Profiler: j.Profiler, Grain: j.Grain, Lacking: j.Lacking,
		Left: j.Left, LeftTime: j.LeftTime,
	}
	name := func(method, loader string) int32 {
		if method == "" {
			return -1
		}
		return in.named(cct.Method{Name: method, Loader: loader})
	}
	for _, s := range j.Segments {
		p.Segments = append(p.Segments, Segment{
			Kind: event.Kind(max(slices.Index(pathKinds, s.Kind), 0)), Cause: event.Cause(max(slices.Index(pathCauses, s.Cause), 0)),
			Thread: &cct.Thread{Name: s.Thread, ID: s.ID, Virtual: s.Virtual}, Method: name(s.Method, s.Loader), From: s.From, To: s.To,
		})
	}
	for _, s := range j.Methods {
		p.Shares = append(p.Shares, event.Share{Method: name(s.Method, s.Loader), Run: s.Run, Queue: s.Queue, Wait: s.Wait})
	}
	return p, nil
}

// renumbered is the path with other numbers of methods.
func (p *Path) renumbered(number func(id int32) int32) *Path {
	if p == nil {
		return nil
	}
	out := *p
	out.Segments, out.Shares = slices.Clone(p.Segments), slices.Clone(p.Shares)
	again := func(id *int32) {
		if *id >= 0 {
			*id = number(*id)
		}
	}
	for i := range out.Segments {
		again(&out.Segments[i].Method)
	}
	for i := range out.Shares {
		again(&out.Shares[i].Method)
	}
	return &out
}

// Bounds of a critical path in the text report.
const (
	pathRows    = 12 // segments, the longest
	pathMethods = 5
)

// Longest are the path's n longest segments in the order of time, how many there
// are besides, and ns of these.
func (p *Path) Longest(n int) (longest []Segment, others, time int64) {
	longest, others, time = slices.Clone(p.Segments), p.Left, p.LeftTime
	if len(longest) <= n {
		return longest, others, time
	}
	slices.SortStableFunc(longest, func(a, b Segment) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	for _, s := range longest[n:] {
		others++
		time += s.To - s.From
	}
	longest = longest[:n]
	slices.SortStableFunc(longest, func(a, b Segment) int { return cmp.Compare(a.From, b.From) })
	return longest, others, time
}

// path writes a critical path: its longest segments in the order of time, and
// the methods with most of it. One that never left its thread, nor waited, says
// nothing that the tree doesn't.
func (t *textWriter) path(p *Path) {
	if p == nil || len(p.Segments) < 2 {
		return
	}
	t.printf("   critical path: ran %s, queued %s, waited %s", Duration(p.Run), Duration(p.Queue), Duration(p.Wait))
	if p.Profiler > 0 {
		t.printf(", and %s of the profiler's", Duration(p.Profiler))
	}
	t.text("\n")
	shown, others, left := p.Longest(pathRows)
	rows := table{head: []string{"    from", "took", "kind", "  method, thread"}}
	for _, s := range shown {
		label := t.pathMethod(s.Method) + ", " + pathThread(s.Thread)
		if says := pathSays[s.Cause]; says != "" {
			label += ", " + says
		}
		rows.add("  "+label, "", Duration(s.From), Duration(s.To-s.From), pathKinds[s.Kind])
	}
	rows.write(&t.sink, t.o.Color, t.o.Width)
	if others > 0 {
		t.printf("   … %s of %s in all\n", Plural(others, "shorter segment", "shorter segments"), Duration(left))
	}
	methods := table{head: []string{"   ran", "queued", "waited", "  on the path"}}
	for k, s := range p.Shares {
		if k == pathMethods {
			break
		}
		cell := func(ns int64) string {
			if ns == 0 {
				return "-"
			}
			return Duration(ns)
		}
		methods.add("  "+t.pathMethod(s.Method), "", cell(s.Run), cell(s.Queue), cell(s.Wait))
	}
	methods.write(&t.sink, t.o.Color, t.o.Width)
	if p.Lacking > 0 {
		t.printf("   for want of room not all waits are known (%s): the path may be another\n", Count(p.Lacking))
	}
}

func (t *textWriter) pathMethod(id int32) string {
	if id < 0 {
		return "unknown"
	}
	if label := t.labels[id]; label != "" {
		return label
	}
	return Clean(t.report.Method(id).Name)
}

// pathThread is a thread's name, or its number.
func pathThread(t *cct.Thread) string {
	return cmp.Or(Clean(t.Name), fmt.Sprint("thread ", t.ID))
}
