package session

import (
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/cha"
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
		if l.kind.implementations() {
			r.ids = append(r.ids, abstract...)
		}
		also = append(also, l.wantLate(id, l.scheme.Roots(append(ids, abstract...)))...)
	}
	l.earlyRoots(m)
	return slices.DeleteFunc(also, func(c cha.ClassID) bool { return c == id })
}

// An earlyRoot is a root if it implements an abstract one, which supertypes that are
// not known have yet to show.
type earlyRoot struct {
	id     cha.MethodID
	lambda *cha.Lambda // whose body it is; nil of a method of its own
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
		supers := []string{r.class}
		switch {
		case r.pattern != nil:
			supers = l.h.Missing(m.ID)
		case len(l.h.Named(r.class)) > 0:
			continue
		}
		var p scheme.Plan
		add := func(as, f *cha.Method, lambda *cha.Lambda) {
			id := cha.MethodID{Class: m.ID, Name: f.Name, Desc: f.Desc}
			named := func(super string) bool {
				return r.names(&cha.ClassMirror{ID: cha.ClassID{Loader: m.ID.Loader, Name: super}}, as)
			}
			if f.HasCode && slices.ContainsFunc(supers, named) && !slices.Contains(r.ids, id) && !r.isEarly(id) {
				r.early = append(r.early, earlyRoot{id, lambda})
				p.Steps = append(p.Steps, scheme.Step{Method: id, Root: true, Fresh: true})
			}
		}
		if l.hanging(m, nil) {
			for k := range m.Methods {
				if f := &m.Methods[k]; !f.IsStatic() && !f.IsInit() && !f.IsPrivate() {
					add(f, f, nil)
				}
			}
		}
		for k := range m.Lambdas {
			x := &m.Lambdas[k]
			body := l.h.Method(cha.MethodID{Class: m.ID, Name: x.Impl.Name, Desc: x.Impl.Desc})
			if body == nil || x.Impl.Owner != m.ID.Name || !l.unknown(x.Interfaces, nil) {
				continue
			}
			for _, desc := range x.Descs {
				add(&cha.Method{Name: x.Name, Desc: desc}, body, x)
			}
		}
		l.want(p)
	}
}

func (r *rootSpec) isEarly(id cha.MethodID) bool {
	return slices.ContainsFunc(r.early, func(e earlyRoot) bool { return e.id == id })
}

// hanging reports whether a class has a supertype that is not known. All that are
// loaded are, and they are loaded before it is defined. Of below is the path down from
// it: what claims to be above itself will not be defined (JVMS §5.3.5).
func (l *loop) hanging(m *cha.ClassMirror, below []*cha.ClassMirror) bool {
	return slices.Contains(below, m) || l.unknown(append([]string{m.Super}, m.Interfaces...), append(below, m))
}

// unknown reports whether one of several classes, or a supertype of it, is not known.
func (l *loop) unknown(names []string, below []*cha.ClassMirror) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if name == "" || strings.HasPrefix(name, "java/") {
			return false
		}
		known := l.h.Named(name)
		return len(known) == 0 || slices.ContainsFunc(known, func(k *cha.ClassMirror) bool { return l.hanging(k, below) })
	})
}

// implements reports whether a method implements one that a root names, or is the body
// of a lambda that does.
func (l *loop) implements(r *rootSpec, id cha.MethodID) bool {
	m := l.h.Class(id.Class)
	return slices.ContainsFunc(r.abstract, func(a cha.MethodID) bool {
		if a.Name == id.Name && a.Desc == id.Desc && l.h.Extends(id.Class, a.Class.Name) {
			return true
		}
		of := l.h.Class(a.Class)
		return m != nil && of != nil && !l.hanging(m, nil) && slices.Contains(l.implementations(a, of.IsInterface()), id)
	})
}

// settleEarly decides on early roots whose supertypes are all known.
func (l *loop) settleEarly() {
	for i := range l.roots {
		r := &l.roots[i]
		r.early = slices.DeleteFunc(r.early, func(e earlyRoot) bool {
			m := l.h.Class(e.id.Class)
			switch {
			case m == nil: // unloaded
				return true
			case e.lambda == nil && l.hanging(m, nil), e.lambda != nil && l.unknown(e.lambda.Interfaces, nil):
				return false
			case l.implements(r, e.id):
				if !slices.Contains(r.ids, e.id) {
					r.ids = append(r.ids, e.id)
				}
				return true
			}
			another := func(o rootSpec) bool { return o.text != r.text && (o.isEarly(e.id) || slices.Contains(o.ids, e.id)) }
			if w := l.ledger.Lookup(keyOf(e.id)); w != nil && w.ID > 0 && !slices.ContainsFunc(l.roots, another) {
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
			case slices.Contains(r.ids, st.Method):
			case l.implements(r, st.Method):
				r.ids = append(r.ids, st.Method)
			case m != nil && slices.ContainsFunc(r.abstract, named) && l.hanging(m, nil) && !r.isEarly(st.Method):
				r.early = append(r.early, earlyRoot{id: st.Method})
			}
		}
	}
}
