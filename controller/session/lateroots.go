package session

import (
	"slices"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// lateRoots looks for awaited roots in a class that is being loaded, and yields
// others that have to change for them: a lambda's body may be anywhere. The roots'
// callees are instrumented at a first call, since other classes can't be touched from
// inside the load hook.
func (l *loop) lateRoots(id cha.ClassID) (also []cha.ClassID) {
	m := l.h.Class(id)
	if m == nil || m.Excluded {
		return nil
	}
	for i := range l.roots {
		r := &l.roots[i]
		if r.Pattern == nil && r.Class != id.Name || len(r.IDs) >= roots.Most {
			continue
		}
		known := len(r.Abstract)
		ids, why := l.catalog().InClass(m, r)
		abstract := r.Abstract[known:]
		if r.Pattern != nil || len(r.Abstract) > 0 { // implementations may come
			why = ""
		}
		if r.Why = why; why != "" {
			l.s.log.Warn("root", "root", r.Text, "problem", why)
		}
		ids = slices.DeleteFunc(ids, func(x cha.MethodID) bool { return slices.Contains(r.IDs, x) })
		if len(ids)+len(abstract) == 0 {
			continue
		}
		r.IDs = append(r.IDs, ids...)
		if l.kind.implementations() {
			r.IDs = append(r.IDs, abstract...)
		}
		also = append(also, l.wantLate(id, l.scheme.Roots(append(ids, abstract...)))...)
	}
	l.earlyRoots(m)
	return slices.DeleteFunc(also, func(c cha.ClassID) bool { return c == id })
}

// earlyRoots makes roots of methods that may implement an abstract one which is awaited:
// a class is hooked before its supertypes and the interfaces of its lambdas are loaded,
// and can't be changed again before it is defined and linked.
func (l *loop) earlyRoots(m *cha.ClassMirror) {
	if l.kind.implementations() || m.Fixed {
		return
	}
	for i := range l.roots {
		r := &l.roots[i]
		supers := []string{r.Class}
		switch {
		case r.Pattern != nil:
			supers = l.h.Missing(m.ID)
		case len(l.h.Named(r.Class)) > 0:
			continue
		}
		var p scheme.Plan
		add := func(as, f *cha.Method, lambda *cha.Lambda) {
			id := cha.MethodID{Class: m.ID, Name: f.Name, Desc: f.Desc}
			named := func(super string) bool {
				return r.Names(&cha.ClassMirror{ID: cha.ClassID{Loader: m.ID.Loader, Name: super}}, as)
			}
			if f.HasCode && slices.ContainsFunc(supers, named) && !slices.Contains(r.IDs, id) && !r.IsEarly(id) {
				r.Early = append(r.Early, roots.Early{ID: id, Lambda: lambda})
				p.Steps = append(p.Steps, scheme.Step{Method: id, Root: true, Fresh: true})
			}
		}
		if l.catalog().Hanging(m) {
			for k := range m.Methods {
				if f := &m.Methods[k]; !f.IsStatic() && !f.IsInit() && !f.IsPrivate() {
					add(f, f, nil)
				}
			}
		}
		for k := range m.Lambdas {
			x := &m.Lambdas[k]
			body := l.h.Method(cha.MethodID{Class: m.ID, Name: x.Impl.Name, Desc: x.Impl.Desc})
			if body == nil || x.Impl.Owner != m.ID.Name || !l.catalog().Unknown(x.Interfaces) {
				continue
			}
			for _, desc := range x.Descs {
				add(&cha.Method{Name: x.Name, Desc: desc}, body, x)
			}
		}
		l.want(p)
	}
}

// settleEarly decides on early roots whose supertypes are all known.
func (l *loop) settleEarly() {
	for i := range l.roots {
		r := &l.roots[i]
		r.Early = slices.DeleteFunc(r.Early, func(e roots.Early) bool {
			m := l.h.Class(e.ID.Class)
			switch {
			case m == nil: // unloaded
				return true
			case e.Lambda == nil && l.catalog().Hanging(m), e.Lambda != nil && l.catalog().Unknown(e.Lambda.Interfaces):
				return false
			case l.catalog().Implements(r, e.ID):
				if !slices.Contains(r.IDs, e.ID) {
					r.IDs = append(r.IDs, e.ID)
				}
				return true
			}
			another := func(o roots.Root) bool { return o.Text != r.Text && (o.IsEarly(e.ID) || slices.Contains(o.IDs, e.ID)) }
			if w := l.ledger.Lookup(keyOf(e.ID)); w != nil && w.ID > 0 && !slices.ContainsFunc(l.roots, another) {
				l.s.data.SetMode(w.ID, l.s.data.Mode(w.ID)&^wire.ModeRoot)
			}
			return true
		})
	}
}

// wantLate enters the roots of a plan alone, with a trap, and keeps the rest until
// somebody waits, see due.
func (l *loop) wantLate(loading cha.ClassID, p scheme.Plan) []cha.ClassID {
	if l.s.watching != nil { // nobody waits
		now := scheme.Plan{Skipped: p.Skipped, Watched: p.Watched}
		p.Skipped, p.Watched = nil, nil
		p.Steps = slices.DeleteFunc(p.Steps, func(st scheme.Step) bool {
			if st.Method.Class == loading {
				now.Steps = append(now.Steps, st)
			}
			return st.Method.Class == loading
		})
		l.want(now)
		l.inTime(p, nil)
		return nil
	}
	now, rest := scheme.Plan{Skipped: p.Skipped}, scheme.Plan{Revealed: p.Revealed}
	for _, st := range p.Steps {
		if st.Root {
			st.Fresh = true
			now.Steps = append(now.Steps, st)
		} else {
			rest.Steps = append(rest.Steps, st)
		}
	}
	if len(rest.Steps) > 0 {
		l.delayed = append(l.delayed, rest)
	}
	return l.want(now)
}

// noteRoots has roots that a scheme found by itself, as later implementations of
// abstract ones, in what the report and its reader are told.
func (l *loop) noteRoots(steps []scheme.Step) {
	for _, st := range steps {
		if !st.Root {
			continue
		}
		m := l.h.Class(st.Method.Class)
		for i := range l.roots {
			r := &l.roots[i]
			named := func(a cha.MethodID) bool { return a.Name == st.Method.Name && a.Desc == st.Method.Desc }
			switch {
			case slices.Contains(r.IDs, st.Method):
			case l.catalog().Implements(r, st.Method):
				r.IDs = append(r.IDs, st.Method)
			case m != nil && slices.ContainsFunc(r.Abstract, named) && l.catalog().Hanging(m) && !r.IsEarly(st.Method):
				r.Early = append(r.Early, roots.Early{ID: st.Method})
			}
		}
	}
}
