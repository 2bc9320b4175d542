package session

import (
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// lateRoots looks for awaited roots in a class that is being loaded, and yields
// others that have to change for them, which may be on their way, too. The roots' callees are instrumented at a first
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
	return slices.DeleteFunc(also, func(c cha.ClassID) bool { return c == id })
}

// earlyRoots makes roots of methods that may implement an abstract one which is awaited:
// a class is hooked before its supertypes are loaded, and can't be changed again
// before it is defined.
func (l *loop) earlyRoots(m *cha.ClassMirror) {
	if l.timers != nil || m.Fixed || !l.hanging(m) {
		return
	}
	for i := range l.roots {
		r := &l.roots[i]
		supers := l.h.Missing(m.ID)
		if r.pattern == nil {
			if len(l.h.Named(r.class)) > 0 {
				continue
			}
			supers = []string{r.class}
		}
		var p scheme.Plan
		for _, name := range supers {
			super := &cha.ClassMirror{ID: cha.ClassID{Loader: m.ID.Loader, Name: name}}
			for k := range m.Methods {
				f := &m.Methods[k]
				if id := (cha.MethodID{Class: m.ID, Name: f.Name, Desc: f.Desc}); f.HasCode && !f.IsStatic() && !f.IsInit() && !f.IsPrivate() && r.names(super, f) && !slices.Contains(r.ids, id) {
					r.early = append(r.early, id)
					p.Steps = append(p.Steps, scheme.Step{Method: id, Root: true, Fresh: true})
				}
			}
		}
		l.want(p)
	}
}

// hanging reports whether a class has a supertype that is not known. All that are
// loaded are, and they are loaded before it is defined.
func (l *loop) hanging(m *cha.ClassMirror) bool {
	for _, name := range append([]string{m.Super}, m.Interfaces...) {
		if name == "" || strings.HasPrefix(name, "java/") {
			continue
		}
		known := l.h.Named(name)
		if len(known) == 0 || slices.ContainsFunc(known, l.hanging) {
			return true
		}
	}
	return false
}

// implements reports whether a method implements one that a root names.
func (l *loop) implements(r *rootSpec, id cha.MethodID) bool {
	return slices.ContainsFunc(r.abstract, func(a cha.MethodID) bool {
		return a.Name == id.Name && a.Desc == id.Desc && l.h.Extends(id.Class, a.Class.Name)
	})
}

// settleEarly decides on early roots whose supertypes are all known.
func (l *loop) settleEarly() {
	for i := range l.roots {
		r := &l.roots[i]
		r.early = slices.DeleteFunc(r.early, func(id cha.MethodID) bool {
			m := l.h.Class(id.Class)
			switch {
			case m != nil && l.hanging(m):
				return false
			case l.implements(r, id):
				if !slices.Contains(r.ids, id) {
					r.ids = append(r.ids, id)
				}
				return true
			}
			others := func(o rootSpec) bool { return o.text != r.text && slices.Contains(append(o.early, o.ids...), id) }
			if w := l.ledger.Lookup(keyOf(id)); w != nil && w.ID > 0 && !slices.ContainsFunc(l.roots, others) {
				l.s.data.setMode(w.ID, l.s.data.mode(w.ID)&^wire.ModeRoot)
			}
			return true
		})
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
		m := l.h.Class(st.Method.Class)
		for i := range l.roots {
			r := &l.roots[i]
			named := func(a cha.MethodID) bool { return a.Name == st.Method.Name && a.Desc == st.Method.Desc }
			switch {
			case !slices.ContainsFunc(r.abstract, named) || slices.Contains(r.ids, st.Method):
			case m != nil && l.hanging(m):
				r.early = append(r.early, st.Method)
			case l.implements(r, st.Method):
				r.ids = append(r.ids, st.Method)
			}
		}
	}
}
