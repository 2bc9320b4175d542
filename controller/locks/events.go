package locks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/jfr"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// The events that tell of waits for locks.
const (
	MonitorEnter = "jdk.JavaMonitorEnter"
	ThreadPark   = "jdk.ThreadPark"
)

// mostEvents bounds what [Events] keeps.
const mostEvents = 2_000_000

// A wait is one event.
type wait struct {
	row      Row
	begun    int64 // ns since 1970
	end      int64
	thread   int
	previous int // thread that had the monitor before
}

// Events makes a table of a recording's events between two moments, ns since 1970. lost is how many there were
// that found no room. An error comes with what was read before it.
func Events(ctx context.Context, r *jfr.Reader, from, until int64) (t *Table, lost int64, err error) {
	t = &Table{}
	var all []wait
	var stacks jfr.Stacks
	names := map[*stack.Method]string{}
	err = jfr.Each(ctx, r, func(t *jfr.Type) bool { return t.Name == MonitorEnter || t.Name == ThreadPark }, func(e *jfr.Event) error {
		w := wait{begun: e.Start()}
		w.end = w.begun + e.Duration()
		if w.end < from || w.begun > until {
			return nil
		}
		frames, _ := stacks.Frames(e, "stackTrace")
		for _, f := range frames {
			if names[f.Method] == "" {
				names[f.Method] = strings.ReplaceAll(f.Method.Class, "/", ".") + "." + f.Method.Name
			}
			w.row.WaiterStack = append(w.row.WaiterStack, names[f.Method])
		}
		class := "monitorClass"
		if e.Type.Name == ThreadPark {
			class = "parkedClass"
			if w.row.WaiterStack = parked(w.row.WaiterStack); w.row.WaiterStack == nil {
				return nil
			}
		}
		if len(all) >= mostEvents {
			lost++
			return nil
		}
		w.row.Class = strings.ReplaceAll(e.Field(class).Field("name").Text(), "/", ".")
		w.row.Instance = fmt.Sprintf("0x%x", uint64(e.Field("address").Int()))
		_, w.thread = jfr.Thread(e.Field("eventThread"))
		w.row.OwnerThread, w.previous = jfr.Thread(e.Field("previousOwner"))
		all = append(all, w)
		return nil
	})
	slices.SortStableFunc(all, func(a, b wait) int { return cmp.Compare(a.end, b.end) })
	type place struct {
		instance string
		thread   int
	}
	entered := map[place][]string{} // where a thread had entered a monitor at last
	for _, w := range all {
		if w.previous != 0 {
			w.row.OwnerStack = entered[place{w.row.Instance, w.previous}]
		}
		entered[place{w.row.Instance, w.thread}] = w.row.WaiterStack
		row := t.row(w.row)
		row.Count++
		row.Blocked += w.end - w.begun
	}
	return t, lost, err
}
