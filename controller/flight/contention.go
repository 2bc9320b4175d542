package flight

import (
	"context"
	"fmt"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/jfr"
	"github.com/rivulet-profiler/rivulet/controller/locks"
)

// contention is what Flight Recorder says of waits for locks beside a recording, where that counts them.
type contention struct {
	waits []locks.Wait
	known bool
}

// read takes the waits from what Flight Recorder has recorded. It returns what the report's reader has to know.
func (c *contention) read(ctx context.Context, r *jfr.Reader, began, ended int64) (note string) {
	all, lost, err := locks.Waits(ctx, r, began, ended)
	for _, w := range all {
		if w.Start >= began { // what was waited for before is no part
			c.waits = append(c.waits, w)
		}
	}
	c.known = err == nil || len(all) > 0
	switch {
	case err != nil:
		return fmt.Sprintf("Flight Recorder's account of waits for locks is not whole: %v.", err)
	case lost > 0:
		return fmt.Sprintf("Flight Recorder's account of waits for locks lacks the last %s.", export.Plural(lost, "wait", "waits"))
	}
	return ""
}

// report puts the waits into the contexts of a report that has its tree.
func (c *contention) report(r *export.Report) {
	if !c.known {
		return
	}
	r.Contention = &export.Contention{}
	in := newContexts(r)
	found := map[*cct.Node]*cct.Waits{}
	for i := range c.waits {
		w := &c.waits[i]
		n, inside := in.of(w.Thread, w.Stack, w.Whole)
		switch {
		case n != nil:
			r.Contention.Inside++
			if found[n] == nil {
				found[n] = &cct.Waits{}
			}
			found[n].Add(cct.LockWait{Lock: cct.SourceType(w.Class), Via: in.via(n, w.Stack), Owner: in.owner(w.OwnerStack), Count: 1, Took: w.End - w.Start})
		case inside:
			r.Contention.Unplaced++
		default:
			r.Contention.Outside++
		}
	}
	for n, list := range found {
		n.Waited(list)
	}
	for _, th := range r.Tree.Threads {
		cct.Totals(th.Roots)
	}
}

// via is the method without probes that a context has called, and that is at the end of this stack or has called what
// is; "" if the context itself is at its end.
func (c *contexts) via(n *cct.Node, stack []string) string {
	name := c.name(n)
	for i, f := range stack {
		if f == name {
			if i == 0 {
				return ""
			}
			return stack[i-1]
		}
	}
	return ""
}

// owner is the method in which an owner has got its lock: the innermost one that has contexts, or else the innermost
// of all.
func (c *contexts) owner(stack []string) string {
	for _, f := range stack {
		if c.known[f] != nil {
			return f
		}
	}
	if len(stack) == 0 {
		return ""
	}
	return stack[0]
}
