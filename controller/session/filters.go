package session

import (
	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/filter"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// setFilter has the hierarchy know which methods are to be left without probes: those
// that the user hides, and those of agents.
func (l *loop) setFilter(f filter.Set, found []agentCode) {
	l.filter, l.opened.filter, l.agents = f, f, agents{found, l.loaders}
	if f.Empty() && len(found) == 0 {
		l.h.SetFilter(nil)
		return
	}
	l.h.SetFilter(func(c *cha.ClassMirror, m *cha.Method) bool {
		return l.agents.puts(c.ID, m.Name) ||
			!f.Empty() && !f.Method(c.ID.String(), m.Name, m.Desc, l.ofJDK(c.ID))
	})
}

// ofJDK reports whether a class belongs to the JDK, opened or not.
func (l *loop) ofJDK(id cha.ClassID) bool { return ofJDK(l.h, id) }

func ofJDK(h *cha.Hierarchy, id cha.ClassID) bool { return cha.ExcludeJDK(id, h.Loader(id.Loader)) }

// account says in a report what the filter has hidden, and from whom. The loop
// must have ended.
func (l *loop) account(r *export.Report) {
	if l.filter.Empty() {
		return
	}
	a := &export.Filter{Rules: l.filter.Strings()}
	for _, k := range l.skipped {
		if k.Reason == scheme.Filtered && !l.agents.hides(k) && !l.probed(k.Method) {
			a.Hidden++
		}
	}
	r.Filter = a
	hidden := map[int32]int{}
	for _, f := range cct.FlatOf(r.Tree.Roots()) {
		if m := l.ledger.Method(f.Method); m != nil {
			hidden[f.Method] = l.hiddenBelow(methodID(m))
		}
	}
	names := r.Lookup
	r.Lookup = func(id int32) (cct.Method, bool) {
		m, ok := names(id)
		m.Hidden = hidden[id]
		return m, ok
	}
}

// hiddenBelow counts the methods without probes, by the filter, that a method
// can call directly: their time is in its own.
func (l *loop) hiddenBelow(id cha.MethodID) int {
	m := l.h.Method(id)
	if m == nil {
		return 0
	}
	seen := map[cha.MethodID]bool{}
	for _, c := range m.Calls {
		for _, t := range l.h.Targets(id.Class, c) {
			if k := l.h.Method(t); k != nil && k.Filtered && !l.probed(t) {
				seen[t] = true
			}
		}
	}
	return len(seen)
}

// probed reports whether a method has probes: a filtered one that is a root.
func (l *loop) probed(id cha.MethodID) bool {
	m := l.ledger.Lookup(keyOf(id))
	return m != nil && m.Reason == ""
}
