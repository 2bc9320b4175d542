package locks

import (
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/threads"
)

// Dumps makes a table of thread dumps that are taken one after the other.
type Dumps struct {
	Table
	last map[int64]string // what each thread waited for, and where
}

// Add takes a dump. It stands for a time: that since the last one. A thread that waits for a lock of the same class at the
// same place as in the dump before counts as one wait, whatever the lock's address: collections move locks.
func (d *Dumps) Add(all []threads.Thread, since time.Duration) {
	owners := map[string]*threads.Thread{}
	for i := range all {
		for _, l := range all[i].Holds {
			owners[l.Address] = &all[i]
		}
	}
	now := map[int64]string{}
	for _, t := range all {
		stack := methods(t.Stack)
		switch {
		case t.WaitFor == nil:
			continue
		case t.Wait == threads.Park:
			if stack = parked(stack); stack == nil {
				continue
			}
		case t.Wait != threads.Enter:
			continue
		}
		r := Row{Class: t.WaitFor.Class, Instance: t.WaitFor.Address, WaiterStack: stack}
		if o := owners[t.WaitFor.Address]; o != nil {
			r.OwnerThread, r.OwnerStack = o.Name, outside(methods(o.Stack))
		}
		at := t.WaitFor.Class + "\n" + strings.Join(stack, "\n")
		now[t.ID] = at
		d.observe(r, int64(since), d.last[t.ID] != at)
	}
	d.last = now
}

// methods are the methods of a dump's frames: without files and lines.
func methods(stack []string) []string {
	out := make([]string, len(stack))
	for i, f := range stack {
		out[i], _, _ = strings.Cut(f, "(")
	}
	return out
}
