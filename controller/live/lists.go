package live

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/search"
)

// A Line is [method, contexts, calls, thrown, self, measured, error, total, tasks,
// waited, longest wait]; times in ns. Method is 0 for groups, which Name names.
// Tasks are those of the calls that are executions of tasks handed over, on
// whatever thread, which waited so long for it.
type Line struct {
	Name    string    `json:"name,omitempty"`
	Figures [11]int64 `json:"f"`
}

func line(e flat) Line {
	l := Line{Figures: [11]int64{int64(e.Method), e.Contexts, e.Calls, e.Thrown, e.Self, e.Raw, e.Error, e.Total, e.Tasks, e.Waited, e.Longest}}
	if e.Method == 0 {
		l.Name = e.Key
	}
	return l
}

// A MethodsPage is a window of the flat list.
type MethodsPage struct {
	Total int64  `json:"total"` // ns of the whole tree
	All   int    `json:"all"`   // lines before filtering
	Count int    `json:"count"` // lines that there are
	From  int    `json:"from"`
	Lines []Line `json:"lines"`
}

func (f *Frame) methods(l *Look) MethodsPage {
	m := l.Methods
	k := flatKey{treeKey{thread: l.Thread}, m.Group}
	list := f.flat(k)
	page := MethodsPage{Total: total(f.tree(k.tree)), All: len(list), From: m.From, Lines: []Line{}}
	match := search.New(m.Filter)
	var kept []flat
	for _, e := range list {
		if match.All(e.Key) {
			kept = append(kept, e)
		}
	}
	sortFlat(kept, m.Sort, m.Up)
	page.Count = len(kept)
	for _, e := range kept[min(m.From, len(kept)):min(m.From+m.Rows, len(kept))] {
		page.Lines = append(page.Lines, line(e))
	}
	return page
}

func sortFlat(list []flat, by string, up bool) {
	slices.SortFunc(list, order(by, "self", up,
		func(e flat) amounts { return amounts{e.Total, e.Self, e.Calls, e.Thrown, e.Error, e.Contexts} },
		func(e flat) string { return e.Key },
		func(a, b flat) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Tasks, b.Tasks)) }))
}

// An AroundPage is one method with its callers and callees.
type AroundPage struct {
	Total   int64  `json:"total"`
	Self    Line   `json:"self"`
	Callers []Line `json:"callers"`
	Callees []Line `json:"callees"`
	More    [2]int `json:"more"` // callers and callees beyond the first
}

func (f *Frame) aroundPage(l *AroundLook) AroundPage {
	a := f.around(l.Method)
	page := AroundPage{Total: total(f.merged), Self: line(a.self)}
	side := func(list []flat) ([]Line, int) {
		list = slices.Clone(list)
		sortFlat(list, "total", false)
		n := min(len(list), mostList)
		out := make([]Line, 0, n)
		for _, e := range list[:n] {
			out = append(out, line(e))
		}
		return out, len(list) - n
	}
	page.Callers, page.More[0] = side(a.callers)
	page.Callees, page.More[1] = side(a.callees)
	return page
}

// A ThreadLine is a thread, or what several had one after another.
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
	Place     int    `json:"place"` // what a look's thread is to be, in this recording and others of the JVM
}

// A ThreadsPage lists the threads with the most time first.
type ThreadsPage struct {
	Count   int          `json:"count"`
	Threads []ThreadLine `json:"threads"`
}

func (f *Frame) threadsPage() ThreadsPage {
	page := ThreadsPage{Count: len(f.threads)}
	for i, t := range f.threads {
		page.Threads = append(page.Threads, ThreadLine{
			Name: export.Clean(t.Name), ID: t.ID, Virtual: t.Virtual, Shared: t.Shared, Inside: t.Open, Entries: t.RootEntries,
			Open: t.RootEntries - t.RootReturns, Total: total(t.Roots), Suspended: t.Suspended, Place: f.places[i],
		})
	}
	slices.SortStableFunc(page.Threads, func(a, b ThreadLine) int { return cmp.Compare(b.Total, a.Total) })
	page.Threads = page.Threads[:min(len(page.Threads), mostList)]
	return page
}
