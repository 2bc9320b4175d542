package flight

import (
	"context"
	"fmt"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/classload"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/jfr"
)

// loadTimes are what Flight Recorder says of class loads beside a recording, where that counts them. It knows no context of
// ours, the load hook has no times, and hidden classes do not come by it: both are put together.
type loadTimes struct {
	loads []classload.Load // once the recording has ended
	began int64            // of the recording, ns since 1970
	known bool
}

// read takes the loads from what Flight Recorder has recorded. It returns what the report's reader has to know.
func (t *loadTimes) read(ctx context.Context, r *jfr.Reader, began, ended int64) (note string) {
	var lost int64
	var err error
	t.began = began
	t.loads, lost, err = classload.Events(ctx, r, began, ended)
	t.known = err == nil || len(t.loads) > 0
	switch {
	case err != nil:
		return fmt.Sprintf("Flight Recorder's account of class loads is not whole: %v.", err)
	case lost > 0:
		return fmt.Sprintf("Flight Recorder's account of class loads lacks the last %s.", export.Plural(lost, "load", "loads"))
	}
	return ""
}

// A Load is a class load with its context, as the load hook has seen it.
type Load struct {
	cct.Load
	Node   uint32 // the context's offset in the data file
	Thread int64  // Java's id
}

// A loadKey tells loads apart that both sides know.
type loadKey struct {
	thread int64
	class  string
}

// time adds to loads how long they took, less what their threads waited for the profiler. It returns a copy, and the
// loads that only Flight Recorder has seen.
func (t *loadTimes) time(list []Load, waits []int64) (timed []Load, rest []classload.Load) {
	if !t.known {
		return list, nil
	}
	timed = slices.Clone(list)
	at := map[loadKey][]int{}
	for i, k := range timed {
		key := loadKey{k.Thread, k.Class}
		at[key] = append(at[key], i)
	}
	mine := make([]int, len(t.loads))
	own := make([]int64, len(t.loads)) // waits of a load's own
	for j, l := range t.loads {
		key := loadKey{l.Thread, l.Class}
		mine[j] = -1
		if queue := at[key]; len(queue) > 0 {
			mine[j], at[key] = queue[0], queue[1:]
			if mine[j] < len(waits) {
				own[j] = min(waits[mine[j]], l.Own) // a later wait of the thread's may be in it
			}
		}
	}
	all := make([]int64, len(t.loads))       // a load takes its own time, and that of the loads inside of it
	for j := len(t.loads) - 1; j >= 0; j-- { // what is inside comes later
		all[j] += max(t.loads[j].Own-own[j], 0)
		if in := t.loads[j].Inside(); in >= 0 {
			all[in] += all[j]
		}
	}
	for j, l := range t.loads {
		took, self := all[j], max(l.Own-own[j], 0)
		if i := mine[j]; i >= 0 {
			timed[i].Took, timed[i].Own = took, self
			continue
		}
		if l.Defined {
			l.End, l.Own = l.Start+took, self
			rest = append(rest, l)
		}
	}
	return timed, rest
}

// report adds what Flight Recorder alone knows to a report that has its tree.
func (t *loadTimes) report(r *export.Report, rest []classload.Load) {
	if !t.known {
		return
	}
	if r.Loads == nil {
		r.Loads = &export.ClassLoads{}
	}
	r.Loads.Timed = true
	c := newContexts(r)
	found := map[*cct.Node]*cct.Loads{}
	for _, l := range rest {
		n, inside := c.of(l.Thread, l.Stack, l.Whole)
		switch {
		case n != nil:
			r.Loads.Inside++
			if found[n] == nil {
				found[n] = &cct.Loads{}
			}
			found[n].List = append(found[n].List, cct.Load{Class: l.Class, Loader: l.Loader, At: l.Start - t.began, Took: l.End - l.Start, Own: l.Own})
		case inside:
			r.Loads.Unplaced++
		}
	}
	for n, list := range found {
		n.Loaded(list)
	}
	for _, th := range r.Tree.Threads {
		cct.Totals(th.Roots)
	}
}
