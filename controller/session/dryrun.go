package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// DryRun says what Scheme A would instrument now. Of rec, only Roots, Wait and
// Filter count. Nothing is redefined; with Config.Look, nothing is
// retransformed either. Methods that turn out too large only when they are
// rewritten are among those that would get probes.
func (s *Session) DryRun(ctx context.Context, rec Recording) (*export.Preview, error) {
	if len(rec.Roots) == 0 {
		return nil, errors.New("no root given")
	}
	if _, err := s.list(ctx); err != nil { // what was being loaded while the hook was registered
		return nil, err
	}
	if err := s.fetch(ctx); err != nil {
		return nil, err
	}
	specs, ids, err := s.prepare(ctx, rec)
	if err != nil {
		return nil, err
	}
	opened, err := s.listOpened(ctx)
	if err != nil {
		return nil, err
	}
	if len(opened) > 0 {
		if err := s.fetchOpened(ctx, opened); err != nil {
			return nil, err
		}
	}
	var p *export.Preview
	err = s.do(ctx, func() { p = s.loop.preview(specs, ids, opened) })
	return p, err
}

// preview carries out Scheme A's first plan on paper, and what opens the JDK.
func (l *loop) preview(specs []roots.Root, ids []cha.MethodID, opened []cha.ClassID) *export.Preview {
	t := l.s.Target()
	p := &export.Preview{Target: export.Target{PID: t.PID, Java: t.Java, VM: t.VM, Main: t.Main}}
	for i := range specs {
		for _, id := range specs[i].IDs {
			p.Roots = append(p.Roots, id.String())
		}
		if len(specs[i].IDs) == 0 {
			p.Notes = append(p.Notes, fmt.Sprintf("No class of root %s is loaded yet: what it reaches can't be told.", specs[i].Text))
		}
	}
	for _, id := range ids {
		if m := l.h.Class(id.Class); m.NoBytes && !slices.Contains(p.Unread, m.ID.String()) {
			p.Unread = append(p.Unread, m.ID.String())
			p.Notes = append(p.Notes, fmt.Sprintf("%s was defined from memory, and has no class file: what its root calls is known when a recording has read its code from the JVM.", m.ID))
		}
	}
	plan := scheme.NewA(l.h).Roots(ids)
	at := map[cha.ClassID]int{}
	uncalled := 0
	steps := plan.Steps
	for _, id := range opened {
		steps = append(steps, l.opened.steps(id)...)
	}
	for _, st := range steps {
		id := st.Method
		i, ok := at[id.Class]
		if !ok {
			i = len(p.Classes)
			at[id.Class] = i
			c := l.h.Class(id.Class)
			if !c.Initialized {
				uncalled++
			}
			p.Classes = append(p.Classes, export.PreviewClass{Name: id.Class.String(), Loader: l.loaders[id.Class.Loader], Initialized: c.Initialized})
		}
		p.Classes[i].Methods = append(p.Classes[i].Methods, id.Name+id.Desc)
	}
	hidden := 0
	for _, k := range plan.Skipped {
		if k.Reason == scheme.Filtered && !l.agents.hides(k) {
			hidden++
		}
		p.Skipped = append(p.Skipped, export.Skipped{Method: k.Method.String(), Reason: l.agents.reason(k)})
	}
	for _, st := range plan.Steps {
		p.Skipped = append(p.Skipped, l.reflectiveIn(st.Method, func(cha.Call) string { return foundLater })...)
	}
	p.Skipped = append(p.Skipped, l.opened.leftAlone()...)
	if !l.filter.Empty() {
		p.Filter = &export.Filter{Rules: l.filter.Strings(), Hidden: hidden}
	}
	if uncalled > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%d of the classes are loaded and not initialized: most likely nobody has called them yet.", uncalled))
	}
	if text := l.agents.leftOut(); text != "" {
		p.Notes = append(p.Notes, text)
	}
	if n := l.unread(); n > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("The code of %d loaded classes is not known without retransforming them (proxies, generated classes): what they call may be missing.", n))
	}
	slices.Sort(p.Notes)
	return p
}

// unread counts application classes whose bytes can't be had.
func (l *loop) unread() int {
	n := 0
	l.h.Classes(func(m *cha.ClassMirror) bool {
		if (m.Methods == nil || m.NoBytes) && !m.Excluded {
			n++
		}
		return true
	})
	return n
}
