package natives

import (
	"maps"
	"slices"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/spec"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// PartlyReason is what a report says of a native for which [Sites.Partly] is true.
const PartlyReason = "native: recorded only where no other method could have been called"

// Sites are the calls that have probes around them, or may get them. The zero value has none.
// They belong to the owner of the hierarchy and the ledger, and are not safe for concurrent use.
type Sites struct {
	h      *cha.Hierarchy
	ledger *hotswap.Ledger
	which  string                      // one of the Natives constants of package spec
	jdk    map[string]*cha.ClassMirror // classes of the JDK that are no part of the analysis

	// Calling classes, by the method that they call: one of which no native was known,
	// one that is not known, and a native that classes to come may override.
	other, unknown, single map[nameDesc]map[cha.ClassID]bool

	partly map[cha.MethodID]bool // natives that some calls reach among others

	// What calls can run, by the hierarchy of this epoch. All callers of hashCode make
	// the same call, and to answer it is to look at all classes.
	epoch   uint64
	answers map[cha.CallKey]cha.Callee
}

// New makes those of a recording; which is one of the Natives constants of package spec. The
// classes of the JDK that it yields may have methods to record where they are called:
// their files are for [Sites.Takes].
func New(which string, h *cha.Hierarchy, ledger *hotswap.Ledger) (s Sites, missing []cha.ClassID) {
	s = Sites{h: h, ledger: ledger, which: which, jdk: map[string]*cha.ClassMirror{}, partly: map[cha.MethodID]bool{}}
	if which == spec.NativesOff {
		return s, nil
	}
	for _, name := range cha.CodelessOwners(which == spec.NativesAll) {
		if c := h.Class(cha.ClassID{Name: name}); c == nil || c.Methods == nil {
			missing = append(missing, cha.ClassID{Name: name})
			s.jdk[name] = nil // until its bytes come
		}
	}
	return s, missing
}

// Partly tells whether some calls reach a native among other methods, and don't record it.
func (s *Sites) Partly(id cha.MethodID) bool { return s.partly[id] }

type nameDesc struct{ name, desc string }

var callKinds = map[classfile.Op]cha.CallKind{
	classfile.OpInvokestatic:    cha.Static,
	classfile.OpInvokespecial:   cha.Special,
	classfile.OpInvokevirtual:   cha.Virtual,
	classfile.OpInvokeinterface: cha.Interface,
}

// At returns the row of the one native that a call in a method that gets probes can run, nil where
// the call gets no probes. added says that the ledger did not have it.
func (s *Sites) At(id hotswap.ClassID, p *probe.Point) (m *hotswap.Method, added bool) {
	kind := callKinds[p.Instr.Op]
	ref, err := p.Callee()
	if kind == 0 || err != nil || ref.Name == "<init>" {
		return nil, false
	}
	if s.which == "" || s.which == spec.NativesOff {
		return nil, false
	}
	t, ok := s.callee(cha.ClassID(id), cha.Call{Kind: kind, Owner: ref.Class, Name: ref.Name, Desc: ref.Desc})
	if !ok || !s.wants(t) || t.Method.Filtered {
		return nil, false
	}
	of := t.ID()
	return s.ledger.Site(hotswap.ClassID(of.Class), probe.MethodKey{Name: of.Name, Desc: of.Desc})
}

// wants reports whether calls of a method get probes.
func (s *Sites) wants(t cha.Hit) bool {
	if s.which == spec.NativesAll && t.Method.Intrinsic {
		return true
	}
	return t.Method.IsNative() && !t.Method.Intrinsic
}

// answer is [cha.Hierarchy.Callee], worked out once for calls that are the same.
func (s *Sites) answer(from cha.ClassID, c cha.Call) cha.Callee {
	k, ok := s.h.Key(from, &c)
	if !ok {
		return cha.Callee{}
	}
	if s.answers == nil || s.epoch != s.h.Epoch() {
		s.answers, s.epoch = map[cha.CallKey]cha.Callee{}, s.h.Epoch()
	}
	a, ok := s.answers[k]
	if !ok {
		a = s.h.Callee(from, c)
		s.answers[k] = a
	}
	return a
}

// callee returns the one method that a call can run, and takes note of calls
// about which a class to come may know better.
func (s *Sites) callee(from cha.ClassID, c cha.Call) (cha.Hit, bool) {
	if t, ok := s.ofJDK(&c); ok {
		return t, t.Method != nil
	}
	key := nameDesc{c.Name, c.Desc}
	if !s.h.HasCodeless(c.Name, c.Desc) { // nearly all calls
		note(&s.other, key, from)
		return cha.Hit{}, false
	}
	a := s.answer(from, c)
	switch {
	case a.Method == nil:
		note(&s.unknown, key, from)
	case !a.Fixed && a.Method.IsNative():
		note(&s.single, key, from)
	}
	for _, n := range a.Natives {
		s.partly[n.ID()] = true
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
func (s *Sites) ofJDK(c *cha.Call) (t cha.Hit, ok bool) {
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

// Reconsider returns the classes with calls that a class which is being loaded
// makes natives of, or makes more than natives; they are to change before it
// has objects.
func (s *Sites) Reconsider(id cha.ClassID) []cha.ClassID {
	if len(s.other)+len(s.unknown)+len(s.single) == 0 {
		return nil
	}
	class := s.h.Class(id)
	if class == nil {
		return nil
	}
	changed := map[cha.ClassID]bool{}
	for i := range class.Methods {
		m := &class.Methods[i]
		key := nameDesc{m.Name, m.Desc}
		if m.IsNative() || m.Intrinsic {
			s.askAgain(key, changed)
			maps.Copy(changed, s.unknown[key])
		}
		maps.Copy(changed, s.single[key])
	}
	delete(changed, id)
	for c := range changed {
		if !s.ledger.Wants(hotswap.ClassID(c)) {
			delete(changed, c)
		}
	}
	return slices.SortedFunc(maps.Keys(changed), cha.ClassID.Compare)
}

// askAgain adds the classes with calls that can be of a native now, the first one of that
// name, or that are not known.
func (s *Sites) askAgain(key nameDesc, changed map[cha.ClassID]bool) {
	callers := s.other[key]
	delete(s.other, key)
	for from := range callers {
		class := s.h.Class(from)
		if class == nil {
			continue
		}
		for i := range class.Methods {
			for _, c := range class.Methods[i].Calls {
				if c.Name != key.name || c.Desc != key.desc {
					continue
				}
				if t, ok := s.callee(from, c); !ok || s.wants(t) {
					changed[from] = true
				}
			}
		}
	}
}

// Takes keeps the file of a class that was missing, and tells whether it was.
func (s *Sites) Takes(id cha.ClassID, b []byte) bool {
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
