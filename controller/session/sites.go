package session

import (
	"context"
	"maps"
	"slices"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// sites are the calls that have probes around them, or may get them.
type sites struct {
	which string                      // one of the Natives constants
	jdk   map[string]*cha.ClassMirror // classes of the JDK that are no part of the analysis

	// Calling classes, by the method that they call: one of which no native was known,
	// one that is not known, and a native that classes to come may override.
	other, unknown, sole map[nameDesc]map[cha.ClassID]bool

	partly map[cha.MethodID]bool // natives that some calls reach among others

	// What calls can run, by the hierarchy of this epoch. All callers of hashCode make
	// the same call, and to answer it is to look at all classes.
	epoch   uint64
	answers map[cha.CallKey]cha.Callee
}

// answer is [cha.Hierarchy.Callee], worked out once for calls that are the same.
func (s *sites) answer(h *cha.Hierarchy, from cha.ClassID, c cha.Call) cha.Callee {
	k, ok := h.Key(from, &c)
	if !ok {
		return cha.Callee{}
	}
	if s.answers == nil || s.epoch != h.Epoch() {
		s.answers, s.epoch = map[cha.CallKey]cha.Callee{}, h.Epoch()
	}
	a, ok := s.answers[k]
	if !ok {
		a = h.Callee(from, c)
		s.answers[k] = a
	}
	return a
}

const partlyReason = "native: recorded only where no other method could have been called"

type nameDesc struct{ name, desc string }

var callKinds = map[classfile.Op]cha.CallKind{
	classfile.OpInvokestatic:    cha.Static,
	classfile.OpInvokespecial:   cha.Special,
	classfile.OpInvokevirtual:   cha.Virtual,
	classfile.OpInvokeinterface: cha.Interface,
}

// site says what goes around a call in a method that gets probes, as
// [probe.TokenSites] wants to know.
func (l *loop) site(id hotswap.ClassID, p *probe.Point) (which int, arg int32) {
	kind := callKinds[p.Instr.Op]
	ref, err := p.Callee()
	if kind == 0 || err != nil || ref.Name == "<init>" {
		return probe.SiteNone, 0
	}
	if l.sites.which == "" || l.sites.which == NativesOff {
		return probe.SiteNone, 0
	}
	t, ok := l.callee(cha.ClassID(id), cha.Call{Kind: kind, Owner: ref.Class, Name: ref.Name, Desc: ref.Desc})
	if !ok || !l.sites.wants(t) || t.Method.Filtered {
		return probe.SiteNone, 0
	}
	m, added := l.ledger.Site(keyOf(t.ID()))
	if m == nil {
		return probe.SiteNone, 0
	}
	if added {
		l.s.data.SetMode(m.ID, l.modeOf(t.ID(), false))
	}
	return probe.SiteCallee, m.ID
}

// wants reports whether calls of a method get probes.
func (s *sites) wants(t cha.Hit) bool {
	if s.which == NativesAll && t.Method.Intrinsic {
		return true
	}
	return t.Method.IsNative() && !t.Method.Intrinsic
}

// callee returns the one method that a call can run, and takes note of calls
// about which a class to come may know better.
func (l *loop) callee(from cha.ClassID, c cha.Call) (cha.Hit, bool) {
	if t, ok := l.sites.ofJDK(&c); ok {
		return t, t.Method != nil
	}
	key := nameDesc{c.Name, c.Desc}
	if !l.h.HasCodeless(c.Name, c.Desc) { // nearly all calls
		note(&l.sites.other, key, from)
		return cha.Hit{}, false
	}
	a := l.sites.answer(l.h, from, c)
	switch {
	case a.Method == nil:
		note(&l.sites.unknown, key, from)
	case !a.Fixed && a.Method.IsNative():
		note(&l.sites.sole, key, from)
	}
	for _, n := range a.Natives {
		l.sites.partly[n.ID()] = true
	}
	return a.Hit, a.Method != nil
}

func note(m *map[nameDesc]map[cha.ClassID]bool, k nameDesc, from cha.ClassID) {
	if *m == nil {
		*m = map[nameDesc]map[cha.ClassID]bool{}
	}
	if (*m)[k] == nil {
		(*m)[k] = map[cha.ClassID]bool{}
	}
	(*m)[k][from] = true
}

// ofJDK finds the method of a call that names a class of the JDK which is no
// part of the analysis: it must declare the method, and no class may override
// it.
func (s *sites) ofJDK(c *cha.Call) (t cha.Hit, ok bool) {
	class := s.jdk[c.Owner]
	if class == nil {
		return t, false
	}
	t.Class = class
	final := class.Access&uint16(classfile.AccFinal) != 0 || closed(class)
	for i := range class.Methods {
		m := &class.Methods[i]
		if m.Name == c.Name && m.Desc == c.Desc && (final || m.IsStatic() || m.Access&uint16(classfile.AccFinal) != 0) {
			t.Method = m
		}
	}
	return t, true
}

// closed reports whether a class has no constructor that a subclass in another
// nest could call, such as Runtime.
func closed(class *cha.ClassMirror) bool {
	for i := range class.Methods {
		if m := &class.Methods[i]; m.Name == "<init>" && !m.IsPrivate() {
			return false
		}
	}
	return true
}

// reconsider returns the classes with calls that a class which is being loaded
// makes natives of, or makes more than natives; they are to change before it
// has objects.
func (l *loop) reconsider(id cha.ClassID) []cha.ClassID {
	class := l.h.Class(id)
	if class == nil || len(l.sites.other)+len(l.sites.unknown)+len(l.sites.sole) == 0 {
		return nil
	}
	changed := map[cha.ClassID]bool{}
	for i := range class.Methods {
		m := &class.Methods[i]
		key := nameDesc{m.Name, m.Desc}
		if m.IsNative() || m.Intrinsic {
			l.askAgain(key, changed)
			maps.Copy(changed, l.sites.unknown[key])
		}
		maps.Copy(changed, l.sites.sole[key])
	}
	delete(changed, id)
	for c := range changed {
		if !l.ledger.Wants(hotswap.ClassID(c)) {
			delete(changed, c)
			continue
		}
		l.changes.want(c)
	}
	return slices.SortedFunc(maps.Keys(changed), cha.ClassID.Compare)
}

// askAgain adds the classes with calls that can be of a native now, the first one of that
// name, or that are not known.
func (l *loop) askAgain(key nameDesc, changed map[cha.ClassID]bool) {
	callers := l.sites.other[key]
	delete(l.sites.other, key)
	for from := range callers {
		class := l.h.Class(from)
		if class == nil {
			continue
		}
		for i := range class.Methods {
			for _, c := range class.Methods[i].Calls {
				if c.Name != key.name || c.Desc != key.desc {
					continue
				}
				if t, ok := l.callee(from, c); !ok || l.sites.wants(t) {
					changed[from] = true
				}
			}
		}
	}
}

// learnSites gets to know the classes of the JDK whose methods may get probes
// where they are called.
func (s *Session) learnSites(ctx context.Context, which string) error {
	if which == "" {
		which = NativesOn
	}
	return s.wait(ctx, func(done func()) {
		l := &s.loop
		l.sites = sites{which: which, jdk: map[string]*cha.ClassMirror{}, partly: map[cha.MethodID]bool{}}
		if which == NativesOff {
			done()
			return
		}
		var ids []cha.ClassID
		for _, name := range cha.CodelessOwners(which == NativesAll) {
			if c := l.h.Class(cha.ClassID{Name: name}); c == nil || c.Methods == nil {
				ids = append(ids, cha.ClassID{Name: name})
				l.sites.jdk[name] = nil // until its bytes come
			}
		}
		l.fetched = done
		l.send(&link.Fetch{Classes: ids})
	})
}

// takes keeps the bytes of a class that learnSites asked for.
func (s *sites) takes(id cha.ClassID, b []byte) bool {
	if c, asked := s.jdk[id.Name]; id.Loader != 0 || !asked || c != nil {
		return false
	}
	if cf, err := classfile.Parse(b); err == nil && cf.Name() == id.Name {
		if m, err := cha.NewMirror(id, cf); err == nil {
			s.jdk[id.Name] = m
			return true
		}
	}
	delete(s.jdk, id.Name) // what calls it is no site
	return true
}
