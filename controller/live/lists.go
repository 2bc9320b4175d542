package live

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/controller/search"
)

// A Line is a method, class or package of the flat list: [method, contexts, calls, thrown,
// self, measured, error, total, tasks, waited, longest wait, flags]. Times are in ns. For a class
// or package, method is 0 and Name says which. tasks are those of the calls that are
// executions of tasks handed over from elsewhere; waited is how long all of them waited
// between hand-over and execution.
type Line struct {
	Name    string    `json:"name,omitempty"`
	Figures [12]int64 `json:"f"`
	Counts  []int64   `json:"c,omitempty"` // own and total of each of the view's metrics, in turn
}

func (f *Frame) line(e flat) Line {
	l := Line{Figures: [12]int64{int64(e.Method), e.Contexts, e.Calls, e.Thrown, e.Self, e.Raw, e.Error, e.Total, e.Tasks, e.Waited, e.Longest, 0}}
	if e.Method == 0 {
		l.Name = e.Key
	} else if f.Report.Counted[f.local[e.Method]] {
		l.Figures[11] = RowCounted
	}
	return l
}

// A MethodsView is a window of the flat list.
type MethodsView struct {
	Total int64  `json:"total"` // ns of the whole tree
	All   int    `json:"all"`   // lines before filtering
	Count int    `json:"count"` // lines that there are
	From  int    `json:"from"`
	Lines []Line `json:"lines"`

	Metrics []metric.Metric `json:"metrics,omitempty"` // see [TreeView]
}

func (f *Frame) methods(l *Query) MethodsView {
	m := l.Methods
	k := flatKey{l.key(), m.Group}
	k.tree.slow, k.tree.fold = 0, false
	list := f.flat(k)
	view := MethodsView{Total: total(f.tree(k.tree)), All: len(list), From: m.From, Lines: []Line{}, Metrics: f.metricsOf(k.tree)}
	match := search.New(m.Filter)
	var kept []flat
	for _, e := range list {
		if match.All(e.Key) {
			kept = append(kept, e)
		}
	}
	by, counted := f.countKey(m.Sort)
	sortFlat(kept, by, m.Up, counted)
	view.Count = len(kept)
	for _, e := range kept[min(m.From, len(kept)):min(m.From+m.Rows, len(kept))] {
		l := f.line(e)
		if view.Metrics != nil {
			l.Counts = f.counts(e.Counts)
		}
		view.Lines = append(view.Lines, l)
	}
	return view
}

func sortFlat(list []flat, by string, up bool, counted func(*metric.Values) int64) {
	slices.SortFunc(list, order(by, "self", up,
		func(e flat) amounts {
			return amounts{e.Total, e.Self, e.Calls, e.Thrown, e.Error, e.Contexts, counted(e.Counts)}
		},
		func(e flat) string { return e.Key },
		func(a, b flat) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Tasks, b.Tasks)) }))
}

// An AroundView is one method with its callers and callees, at most 400 of each, those with
// the most time first.
type AroundView struct {
	Total   int64  `json:"total"`
	Self    Line   `json:"self"`
	Callers []Line `json:"callers"`
	Callees []Line `json:"callees"`
	More    [2]int `json:"more"` // callers and callees beyond the first
}

func (f *Frame) aroundView(l *AroundQuery) AroundView {
	a := f.around(l.Method)
	view := AroundView{Total: total(f.merged), Self: f.line(a.self)}
	side := func(list []flat) ([]Line, int) {
		list = slices.Clone(list)
		sortFlat(list, "total", false, func(*metric.Values) int64 { return 0 })
		n := min(len(list), maxList)
		out := make([]Line, 0, n)
		for _, e := range list[:n] {
			out = append(out, f.line(e))
		}
		return out, len(list) - n
	}
	view.Callers, view.More[0] = side(a.callers)
	view.Callees, view.More[1] = side(a.callees)
	return view
}

// A ThreadLine is a thread, or a record that several threads had one after another. Times are
// in ns.
type ThreadLine struct {
	Name      string `json:"name"`
	ID        int64  `json:"id"`
	Virtual   bool   `json:"virtual,omitempty"`
	Shared    bool   `json:"shared,omitempty"`
	Inside    bool   `json:"inside"`
	Entries   int64  `json:"entries"`
	Open      int64  `json:"open"`
	Total     int64  `json:"total"`
	Suspended int64  `json:"suspended"`
	Place     int    `json:"place"` // number of the thread for a [Query], in all recordings of this JVM
}

// A ThreadsView lists the threads, those with the most time first, at most 400.
type ThreadsView struct {
	Count   int          `json:"count"`
	Threads []ThreadLine `json:"threads"`
}

func (f *Frame) threadsView() ThreadsView {
	view := ThreadsView{Count: len(f.threads)}
	for i, t := range f.threads {
		view.Threads = append(view.Threads, ThreadLine{
			Name: export.Clean(t.Name), ID: t.ID, Virtual: t.Virtual, Shared: t.Shared, Inside: t.Open, Entries: t.RootEntries,
			Open: t.RootEntries - t.RootReturns, Total: total(t.Roots), Suspended: t.Suspended, Place: f.places[i],
		})
	}
	slices.SortStableFunc(view.Threads, func(a, b ThreadLine) int { return cmp.Compare(b.Total, a.Total) })
	view.Threads = view.Threads[:min(len(view.Threads), maxList)]
	return view
}
