package collect

import (
	"cmp"
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
)

// A Window is what happened between two looks at a collector, for live tables.
// The zero Window begins with everything.
type Window struct {
	sums    []pcct.MethodSum
	stats   pcct.Stats
	at      time.Time
	threads map[int]pcct.ThreadSum
}

// A Line is a method in a [View].
type Line struct {
	Method      cct.Method
	Self, Total int64 // samples in the window
	SelfTime    int64 // ns
	TotalTime   int64
	Entries     int64
	AllSelf     int64 // samples since the beginning
}

// A ThreadLine is a thread in a [View].
type ThreadLine struct {
	ID                 int
	Name               string
	Samples, Time, Ran int64
}

// A View is what a window shows.
type View struct {
	Took    time.Duration
	Samples int64
	Time    int64 // ns that the samples stand for
	Ran     int64 // of them on a core
	All     int64 // samples since the beginning
	Methods []Line
	Threads []ThreadLine

	// Of a range of time: see [Past.Within].
	From, To int64       // ns from the first sample on; 0, 0 of what is new since the last look
	Tree     []*cct.Node // of all threads
	Lookup   cct.Lookup
}

// Look is what was sampled since the last look at the window, methods with the most
// self samples first.
func (c *Collector) Look(w *Window) View {
	c.mu.Lock()
	sums, stats, lookup, threads, begun := c.tree.Methods(), c.tree.Stats(), c.tree.Lookup(), c.tree.Threads(), c.begun
	c.mu.Unlock()
	now := time.Now()
	if w.at.Before(begun) { // the first look, or everything was forgotten
		*w = Window{at: begun}
	}
	v := View{
		Took: now.Sub(w.at), Samples: stats.Samples - w.stats.Samples, Time: stats.Time - w.stats.Time,
		Ran: stats.Ran - w.stats.Ran, All: stats.Samples,
	}
	for id, s := range sums {
		var before pcct.MethodSum
		if id < len(w.sums) {
			before = w.sums[id]
		}
		if s.Total == before.Total {
			continue
		}
		m, _ := lookup(int32(id))
		v.Methods = append(v.Methods, Line{
			Method: m, Self: s.Self - before.Self, Total: s.Total - before.Total, SelfTime: s.SelfTime - before.SelfTime,
			TotalTime: s.TotalTime - before.TotalTime, Entries: s.Entries - before.Entries, AllSelf: s.Self,
		})
	}
	slices.SortStableFunc(v.Methods, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Method.Name, b.Method.Name))
	})
	for id, t := range threads {
		before := w.threads[id]
		if t.Samples > before.Samples {
			v.Threads = append(v.Threads, ThreadLine{id, t.Name, t.Samples - before.Samples, t.Time - before.Time, t.Ran - before.Ran})
		}
	}
	slices.SortFunc(v.Threads, func(a, b ThreadLine) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.ID, b.ID)) })
	w.sums, w.stats, w.at, w.threads = sums, stats, now, threads
	return v
}
