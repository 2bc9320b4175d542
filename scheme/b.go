package scheme

import "github.com/rivulet-profiler/rivulet/cha"

// A schemeB instruments the callees of a method when the method is entered for
// the first time (Dmitriev, "Design of JFluid", section 6.2).
type schemeB struct{ core }

// NewB returns Scheme B over a hierarchy.
func NewB(h *cha.Hierarchy) Scheme { return &schemeB{newCore(h)} }

func (*schemeB) Name() string { return "B" }

// Roots plans the roots alone, and all callbacks if anything below the roots
// can lead to one: there are many of them, and later a caller would wait.
func (s *schemeB) Roots(roots []cha.MethodID) Plan {
	s.open(roots)
	return s.end()
}

// open begins a plan of roots and callbacks.
func (c *core) open(roots []cha.MethodID) {
	c.begin(shallow)
	c.roots(roots)
	if !c.callbacks && callsBack(c.h, roots) {
		c.setCallbacks()
	}
}

// callsBack reports whether a method below the roots, or one of them, calls the
// JDK in a way that can call back.
func callsBack(h *cha.Hierarchy, roots []cha.MethodID) bool {
	c := newCore(h)
	c.scout = true
	c.begin(deep)
	c.roots(roots)
	for len(c.queue) > 0 && !c.callbacks {
		c.next()
	}
	return c.callbacks
}

// Entered plans the direct callees of m.
func (s *schemeB) Entered(m cha.MethodID) Plan {
	s.begin(shallow)
	s.enter(m)
	return s.end()
}

// Found plans the methods.
func (s *schemeB) Found(ms []cha.MethodID) Plan {
	s.begin(shallow)
	s.found(ms)
	return s.end()
}
