package scheme

import (
	"slices"

	"github.com/rivulet-profiler/rivulet/cha"
)

// A Watcher is a scheme in which no thread of the target ever waits. It instruments
// what is within reach and active, and names what is within reach and asleep. Whoever
// carries out its plans watches these methods from outside, by the JVM's own counters,
// and says which of them woke.
//
// The closure rule: every method that an instrumented and awake method can call is
// instrumented, or is watched. So as long as no watched method wakes, no call of the
// subgraph is missed. When one wakes, what it calls may have been missed until its
// plan is done.
type Watcher interface {
	Scheme

	// Observe says which methods are active: invoked since observing began, or running
	// in a form that the JVM does not count (compiled without counters, or inlined).
	// It must be called before Roots. It is asked during later calls of the scheme,
	// and may say of more methods that they are active, never of fewer.
	Observe(active func(m cha.MethodID) bool)

	// Woke says that watched methods were invoked, or have become active. After Called,
	// those that no called method can call are deferred: they are left as they are.
	Woke(ms []cha.MethodID) Plan

	// Called says that instrumented methods were called below a root, since the roots were
	// given or at any time since; whoever calls it goes on to do so, and has no method
	// called below a root for longer than it says. Steps are methods that were deferred.
	Called(ms []cha.MethodID) Plan

	// Begun says that counting begins anew: a deferred method whose probes are in force will
	// not have been called before.
	Begun(inForce func(m cha.MethodID) bool)

	// Deferred is how many methods are deferred, and IsDeferred whether one is. A method
	// that is deferred may have probes.
	Deferred() int
	IsDeferred(m cha.MethodID) bool
}

// A schemeD is Scheme A, restricted to what is active. A method that is asleep is not
// followed. It gets probes all the same where its class is changed anyway: one more method
// costs next to nothing then, and its own calls are counted from the first one.
type schemeD struct {
	core
	active  func(m cha.MethodID) bool
	awake   map[cha.MethodID]bool
	asleep  map[cha.ClassID][]cha.MethodID // watched, without probes; by class
	watched map[cha.MethodID]bool

	toldOf   []cha.MethodID        // by Found
	reached  *calledReach          // since Called
	deferred map[cha.MethodID]bool // awake, and not within it; true if its probes come before any call that counts
}

// NewD returns Scheme D over a hierarchy. Until it is told by Observe, it takes no
// method but roots for active. It implements Watcher and Selector.
func NewD(h *cha.Hierarchy) Scheme {
	s := &schemeD{
		core:     newCore(h),
		active:   func(cha.MethodID) bool { return false },
		awake:    map[cha.MethodID]bool{},
		asleep:   map[cha.ClassID][]cha.MethodID{},
		watched:  map[cha.MethodID]bool{},
		deferred: map[cha.MethodID]bool{},
	}
	s.trap, s.prune = false, true
	s.withheld = map[cha.MethodID]bool{}
	s.rests = s.leave
	return s
}

func (*schemeD) Name() string { return "D" }

// Observe implements Watcher.
func (s *schemeD) Observe(active func(m cha.MethodID) bool) { s.active = active }

// Select implements Selector.
func (s *schemeD) Select(may func(name, desc string) bool) { s.may = may }

// Named implements Selector.
func (s *schemeD) Named() Plan {
	s.begin(deep)
	s.tell(func(r *calledReach) { r.may = s.may; r.named() })
	s.named()
	return s.end()
}

// Roots plans the closure of the roots among what is active.
func (s *schemeD) Roots(roots []cha.MethodID) Plan {
	s.begin(deep)
	s.tell(func(r *calledReach) { r.roots(roots) })
	s.roots(roots)
	return s.end()
}

// Entered plans what a method calls that has a trap all the same, as late roots have.
func (s *schemeD) Entered(m cha.MethodID) Plan {
	s.begin(deep)
	s.awake[m] = true
	delete(s.deferred, m)
	s.follows([]cha.MethodID{m})
	s.enter(m)
	return s.end()
}

// Found plans the methods: they are about to be invoked.
func (s *schemeD) Found(ms []cha.MethodID) Plan {
	s.begin(deep)
	s.toldOf = append(s.toldOf, ms...)
	for _, id := range ms {
		s.awake[id] = true
		delete(s.deferred, id)
	}
	s.tell(func(r *calledReach) { r.found(ms) })
	s.found(ms)
	return s.end()
}

// Loaded implements Scheme. What the class brings into reach elsewhere is planned
// only if it is active.
func (s *schemeD) Loaded(id cha.ClassID) Plan { return s.load(id, false) }

// LoadedInside implements Loader.
func (s *schemeD) LoadedInside(id cha.ClassID) Plan { return s.load(id, true) }

// load plans a class that is being loaded. If any of it is within reach, all of its
// methods get probes: now they cost next to nothing, and later a redefinition.
func (s *schemeD) load(id cha.ClassID, inside bool) Plan {
	s.begin(deep)
	s.loading = id
	s.tell(func(r *calledReach) { r.classes(id); r.initializer(id) })
	s.classes(id)
	s.initializer(id)
	s.drain()
	class := s.h.Class(id)
	if (inside || len(s.plan.Steps) > 0) && class != nil && !class.Excluded && !class.Fixed {
		for i := range class.Methods {
			if m := &class.Methods[i]; m.HasCode && !m.Filtered {
				s.step(cha.Hit{Class: class, Method: m}, false)
			}
		}
	}
	return s.end()
}

// Listed implements Scheme.
func (s *schemeD) Listed(ids []cha.ClassID) Plan {
	s.begin(deep)
	again := func(c *core) {
		if len(ids) > 0 {
			c.classes(ids...)
		}
		for _, id := range ids {
			c.again(id)
		}
	}
	s.tell(func(r *calledReach) { again(&r.core) })
	again(&s.core)
	return s.end()
}

// Woke implements Watcher.
func (s *schemeD) Woke(ms []cha.MethodID) Plan {
	s.begin(deep)
	for _, id := range ms {
		if s.awake[id] {
			continue
		}
		s.awake[id] = true
		class, m := s.h.Class(id.Class), s.h.Method(id)
		if class == nil || m == nil { // unloaded
			continue
		}
		// Who is called by what was called is most likely called by that.
		if class.Excluded || m.Filtered || s.reached != nil && s.reached.within[id] {
			s.follows([]cha.MethodID{id})
		}
		if !s.defers(cha.Hit{Class: class, Method: m}) {
			s.rouse(id)
		}
	}
	return s.end()
}

// Deferred implements Watcher.
func (s *schemeD) Deferred() int { return len(s.deferred) }

// IsDeferred implements Watcher.
func (s *schemeD) IsDeferred(m cha.MethodID) bool {
	_, there := s.deferred[m]
	return there
}

// rouse has a method instrumented and followed.
func (s *schemeD) rouse(id cha.MethodID) {
	s.awake[id] = true
	if early, there := s.deferred[id]; there && !early && s.method(id).planned {
		s.plan.Roused = append(s.plan.Roused, id)
	}
	delete(s.deferred, id)
	class, m := s.h.Class(id.Class), s.h.Method(id)
	switch {
	case class == nil || m == nil: // unloaded
	case class.Excluded || m.Filtered:
		s.enqueue(id, s.method(id))
	default:
		s.step(cha.Hit{Class: class, Method: m}, false)
	}
}

// leave reports whether a method within reach is left asleep, and notes that it is
// to be watched.
func (s *schemeD) leave(t cha.Hit) bool {
	id := t.ID()
	if s.awake[id] {
		return s.IsDeferred(id)
	}
	if s.active(id) {
		s.awake[id] = true
		return s.defers(t)
	}
	if s.watched[id] {
		return true
	}
	s.watched[id] = true
	s.plan.Watched = append(s.plan.Watched, id)
	if !t.Class.Excluded && !t.Method.Filtered {
		s.spare(t)
	}
	return true
}

// spare has a method that is not followed get probes only if its class is changed anyway, by
// this plan or a later one.
func (s *schemeD) spare(t cha.Hit) {
	id := t.ID()
	if s.loading == id.Class { // its bytes are at hand
		s.give(id)
	} else {
		s.asleep[id.Class] = append(s.asleep[id.Class], id)
	}
}

// give has a method that is asleep get probes.
func (s *schemeD) give(id cha.MethodID) {
	m := s.method(id)
	if m.planned {
		return
	}
	m.planned = true
	to := &s.plan.Steps
	if s.loading != (cha.ClassID{}) && s.loading != id.Class {
		to = &s.plan.Also
	}
	*to = append(*to, Step{Method: id})
}

// end follows what the plan has brought, and takes along what is asleep in the classes
// that it changes.
func (s *schemeD) end() Plan {
	s.drain()
	for _, steps := range [][]Step{slices.Clone(s.plan.Steps), slices.Clone(s.plan.Also)} {
		for _, st := range steps {
			id := st.Method.Class
			ids := s.asleep[id]
			delete(s.asleep, id)
			for _, m := range ids {
				s.give(m)
			}
		}
	}
	return s.plan
}
