package export

import (
	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// Bounds of what an HTML report has of the slowest root calls. The slowest come first; those
// that don't fit are listed without a tree, or without a critical path.
const (
	mostSlowNodes    = 20_000 // call paths of all their trees
	mostSlowSegments = 5_000  // of all critical paths
	mostPathSegments = 200    // of one
	mostPathMethods  = 12
)

// pageSlowest has what the live page's list of the slowest has, and for each how many call
// paths its tree has in the file; 0 where it is left out.
type pageSlowest struct {
	Times bool       `json:"times_only"`
	Asked int        `json:"asked"`
	Over  int64      `json:"over"`
	Of    int64      `json:"of"`
	Lines []pageSlow `json:"lines"`

	trees []*cct.Node
}

type pageSlow struct {
	Method      int       `json:"method"`
	Thread      string    `json:"thread"`
	ID          int64     `json:"id"`
	Start       int64     `json:"start"`
	Took        int64     `json:"took"`
	Suspended   int64     `json:"suspended"`
	Paused      *[2]int64 `json:"gc_pause,omitempty"`
	Way         *[3]int64 `json:"way,omitempty"`
	Ran         *int64    `json:"ran,omitempty"`
	Thrown      bool      `json:"thrown"`
	TraceID     string    `json:"trace_id,omitempty"`
	SpanID      string    `json:"span_id,omitempty"`
	Within      bool      `json:"span_within,omitempty"`
	Calls       int64     `json:"calls"`
	CutContexts int64     `json:"cut_contexts"`
	CutCalls    int64     `json:"cut_calls"`
	Tasks       int64     `json:"tasks"`
	Waited      int64     `json:"waited"`
	LongestWait int64     `json:"longest_wait"`
	Nodes       int       `json:"nodes"`
	Path        *pagePath `json:"path,omitempty"`
}

// A pagePath is a critical path as docs/formats-web.md has it; methods are places, -1 unknown.
type pagePath struct {
	Run      int64            `json:"run"`
	Queue    int64            `json:"queue"`
	Wait     int64            `json:"wait"`
	Profiler int64            `json:"profiler"`
	Lacking  int64            `json:"lacking"`
	Left     int64            `json:"left"`
	LeftTime int64            `json:"left_ns"`
	Threads  []pagePathThread `json:"threads"`
	Segments [][6]int64       `json:"segments"`
	Methods  [][4]int64       `json:"methods"`
}

type pagePathThread struct {
	Name string `json:"name"`
	ID   int64  `json:"id"`
}

// slowOnPage is the list of the slowest; nil where none were kept.
func (r *Report) slowOnPage(m *pageMethods) *pageSlowest {
	if r.Slowest == nil {
		return nil
	}
	p := &pageSlowest{Times: r.Slowest.TimesOnly, Asked: r.Slowest.Asked, Over: r.Slowest.Over, Of: r.Slowest.Of, Lines: []pageSlow{}}
	nodes, segments := 0, 0
	for _, i := range r.Slowest.Invocations {
		line := slowLine(i)
		line.Method = m.at[i.Tree().Method]
		if nodes+line.Nodes > mostSlowNodes {
			line.Nodes = 0
		} else {
			nodes += line.Nodes
			p.trees = append(p.trees, i.Tree())
		}
		if i.Path != nil && len(i.Path.Segments) > 1 && segments+min(len(i.Path.Segments), mostPathSegments) <= mostSlowSegments {
			line.Path = m.path(i.Path)
			segments += len(line.Path.Segments)
		}
		p.Lines = append(p.Lines, line)
	}
	return p
}

func slowLine(i Invocation) pageSlow {
	line := pageSlow{
		Thread: Clean(i.Thread.Name), ID: i.Thread.ID, Start: i.Start, Took: i.Took, Suspended: i.Suspended, Ran: i.Ran, Thrown: i.Thrown,
		TraceID: i.Span.TraceID(), SpanID: i.Span.SpanID(), Within: i.Span.Within,
		Calls: i.CutCalls, CutContexts: i.CutContexts, CutCalls: i.CutCalls,
	}
	if p := i.Paused; p != nil {
		line.Paused = &[2]int64{p.Least, p.Most}
	}
	if p := i.Path; p != nil {
		line.Way = &[3]int64{p.Run, p.Queue, p.Wait}
	}
	for n := range cct.All(i.Thread.Roots) {
		line.Nodes++
		line.Calls += n.Calls
		if a := n.Async(); a != nil {
			line.Tasks += n.Calls
			line.Waited += a.Waited
			line.LongestWait = max(line.LongestWait, a.Longest)
		}
	}
	return line
}

// path has the methods of a critical path by their places.
func (m *pageMethods) path(p *Path) *pagePath {
	out := &pagePath{Run: p.Run, Queue: p.Queue, Wait: p.Wait, Profiler: p.Profiler, Lacking: p.Lacking, Threads: []pagePathThread{}, Segments: [][6]int64{}, Methods: [][4]int64{}}
	shown, left, ns := p.Longest(mostPathSegments)
	out.Left, out.LeftTime = left, ns
	places := map[pagePathThread]int64{}
	for _, s := range shown {
		t := pagePathThread{Clean(s.Thread.Name), s.Thread.ID}
		at, ok := places[t]
		if !ok {
			at = int64(len(out.Threads))
			places[t] = at
			out.Threads = append(out.Threads, t)
		}
		out.Segments = append(out.Segments, [6]int64{int64(s.Kind), at, m.known(s.Method), s.From, s.To, int64(s.Cause)})
	}
	for _, s := range p.Shares[:min(len(p.Shares), mostPathMethods)] {
		out.Methods = append(out.Methods, [4]int64{m.known(s.Method), s.Run, s.Queue, s.Wait})
	}
	return out
}
