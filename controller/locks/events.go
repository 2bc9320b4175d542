package locks

import (
	"context"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/jfr"
)

// Events makes a table of the [Waits] of a recording between two moments, ns since 1970. lost is how many there were
// that found no room. An error comes with what was read before it.
func Events(ctx context.Context, r *jfr.Reader, from, until int64) (t *Table, lost int64, err error) {
	t = &Table{}
	all, lost, err := Waits(ctx, r, from, until)
	for i := range all {
		w := &all[i]
		row := t.row(Row{Class: w.Class, Instance: w.Instance, OwnerThread: w.OwnerThread, WaiterStack: t.short(w.Stack), OwnerStack: t.short(w.OwnerStack)})
		row.Count++
		row.Blocked += w.End - w.Start
	}
	return t, lost, err
}

// short is a stack whose methods have no descriptors, as those of thread dumps. Stacks that are the same
// stay so.
func (t *Table) short(stack []string) []string {
	if len(stack) == 0 {
		return nil
	}
	if t.shorts == nil {
		t.shorts = map[*string][]string{}
	}
	s, ok := t.shorts[&stack[0]]
	if !ok {
		for _, f := range stack {
			name, _, _ := strings.Cut(f, "(")
			s = append(s, name)
		}
		t.shorts[&stack[0]] = s
	}
	return s
}
