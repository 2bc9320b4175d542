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

// mostEvents bounds what [Waits] keeps.
const mostEvents = 2_000_000

// A Wait is one wait for a lock that another thread held. Methods are named as in trees without their
// loader: "pkg.C.m(I)V".
type Wait struct {
	Class      string // of the lock, as in sources
	Instance   string // its address; objects may move at a collection
	Start, End int64  // ns since 1970
	ThreadName string
	Thread     int64    // Java's number
	Stack      []string // the innermost first: from the method on that wants the lock. Waits share them
	Whole      bool     // the outermost frame is there

	OwnerThread string   // that had it before; "" if not known
	OwnerStack  []string // where that had got it, from the method on that did; nil if not known

	thread, owner int // numbers that tell threads apart
}

// Waits are those of a recording's events between two moments, ns since 1970, in the order in which
// they ended. lost is how many there were that found no room. An error comes with what was read before it.
func Waits(ctx context.Context, r *jfr.Reader, from, until int64) (all []Wait, lost int64, err error) {
	var stacks jfr.Stacks
	names, shared := map[*stack.Method]string{}, map[string][]string{}
	var frames []string
	err = jfr.Each(ctx, r, func(t *jfr.Type) bool { return t.Name == MonitorEnter || t.Name == ThreadPark }, func(e *jfr.Event) error {
		w := Wait{Start: e.Start()}
		w.End = w.Start + e.Duration()
		if w.End < from || w.Start > until {
			return nil
		}
		trace, whole := stacks.Frames(e, "stackTrace")
		frames, w.Whole = frames[:0], whole
		for _, f := range trace {
			if names[f.Method] == "" {
				names[f.Method] = strings.ReplaceAll(f.Method.Class, "/", ".") + "." + f.Method.Name + f.Method.Desc
			}
			frames = append(frames, names[f.Method])
		}
		class, from := "monitorClass", frames
		if e.Type.Name == ThreadPark {
			class = "parkedClass"
			if from = parked(frames); from == nil {
				return nil
			}
		}
		if len(all) >= mostEvents {
			lost++
			return nil
		}
		key := strings.Join(from, "\n")
		if w.Stack = shared[key]; w.Stack == nil {
			w.Stack = slices.Clone(from)
			shared[key] = w.Stack
		}
		w.Class = strings.ReplaceAll(e.Field(class).Field("name").Text(), "/", ".")
		w.Instance = fmt.Sprintf("0x%x", uint64(e.Field("address").Int()))
		thread := e.Field("eventThread")
		w.ThreadName, w.thread = jfr.Thread(thread)
		w.Thread = thread.Field("javaThreadId").Int()
		w.OwnerThread, w.owner = jfr.Thread(e.Field("previousOwner"))
		all = append(all, w)
		return nil
	})
	slices.SortStableFunc(all, func(a, b Wait) int { return cmp.Compare(a.End, b.End) })
	type place struct {
		instance string
		thread   int
	}
	entered := map[place][]string{} // where a thread had entered a monitor at last
	for i := range all {
		w := &all[i]
		if w.owner != 0 {
			w.OwnerStack = entered[place{w.Instance, w.owner}]
		}
		entered[place{w.Instance, w.thread}] = w.Stack
	}
	return all, lost, err
}
