package session

import (
	"slices"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// lateRoots looks for awaited roots in a class that is being loaded, and yields
// others that have to change for them. The roots' callees are instrumented at a first
// call, since other classes can't be touched from inside the load hook.
func (l *loop) lateRoots(id cha.ClassID) (also []cha.ClassID) {
	m := l.h.Class(id)
	if m == nil || m.Excluded {
		return nil
	}
	for i := range l.roots {
		r := &l.roots[i]
		if r.pattern == nil && r.class != id.Name || len(r.ids) >= mostRoots {
			continue
		}
		known := len(r.abstract)
		ids, why := l.inClass(m, r)
		abstract := r.abstract[known:]
		l.settleEarly(r, m)
		if r.pattern != nil || len(r.abstract) > 0 { // implementations may come
			why = ""
		}
		if r.why = why; why != "" {
			l.s.log.Warn("root", "root", r.text, "problem", why)
		}
		ids = slices.DeleteFunc(ids, func(x cha.MethodID) bool { return slices.Contains(r.ids, x) })
		if len(ids)+len(abstract) == 0 {
			continue
		}
		r.ids = append(r.ids, ids...)
		if l.timers != nil {
			r.ids = append(r.ids, abstract...)
		}
		p := l.scheme.Roots(append(ids, abstract...))
		l.noteRoots(p.Steps)
		also = append(also, l.wantLate(p)...)
	}
	l.earlyRoots(m)
	return also
}

// earlyRoots makes roots of methods that may implement abstract ones which are awaited:
// a class is hooked before its supertypes are loaded, and can't be changed again
// before it is defined.
func (l *loop) earlyRoots(m *cha.ClassMirror) {
	if l.timers != nil || m.Fixed {
		return
	}
	for _, name := range l.h.Missing(m.ID) {
		for i := range l.roots {
			r := &l.roots[i]
			super := &cha.ClassMirror{ID: cha.ClassID{Loader: m.ID.Loader, Name: name}}
			if r.pattern == nil && r.class != name {
				continue
			}
			var p scheme.Plan
			for k := range m.Methods {
				f := &m.Methods[k]
				if id := (cha.MethodID{Class: m.ID, Name: f.Name, Desc: f.Desc}); f.HasCode && !f.IsStatic() && !f.IsInit() && !f.IsPrivate() && r.names(super, f) && !slices.Contains(r.ids, id) {
					r.early = append(r.early, id)
					p.Steps = append(p.Steps, scheme.Step{Method: id, Root: true, Fresh: true})
				}
			}
			l.want(p)
		}
	}
}

// settleEarly has early roots be none after all, if the class that is being loaded has
// a body for what they override. Its abstract methods make them roots for good.
func (l *loop) settleEarly(r *rootSpec, m *cha.ClassMirror) {
	for _, id := range r.early {
		for i := range m.Methods {
			f := &m.Methods[i]
			if f.Name != id.Name || f.Desc != id.Desc || f.IsAbstract() || !r.names(m, f) || !l.h.Extends(id.Class, m.ID.Name) {
				continue
			}
			if w := l.ledger.Lookup(keyOf(id)); w != nil && w.ID > 0 && !slices.Contains(r.ids, id) {
				l.s.data.setMode(w.ID, l.s.data.mode(w.ID)&^wire.ModeRoot)
			}
		}
	}
}

// wantLate enters the roots of a plan alone, with a trap, and keeps the rest until
// somebody waits, see due.
func (l *loop) wantLate(p scheme.Plan) []cha.ClassID {
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
		for i := range l.roots {
			r := &l.roots[i]
			if slices.ContainsFunc(r.abstract, func(a cha.MethodID) bool { return a.Name == st.Method.Name && a.Desc == st.Method.Desc }) && !slices.Contains(r.ids, st.Method) {
				r.ids = append(r.ids, st.Method)
			}
		}
	}
}
