package scheme

import "github.com/rivulet-profiler/rivulet/cha"

// A schemeA instruments everything reachable among the loaded classes at once
// (Dmitriev, "Design of JFluid", section 6.1). The load hook is no place for a closure, so a method of a
// class loaded later is trapped, and the closure from there is made when it is
// entered.
type schemeA struct{ core }

// NewA returns Scheme A over a hierarchy.
func NewA(h *cha.Hierarchy) Scheme { return &schemeA{newCore(h)} }

func (*schemeA) Name() string { return "A" }

// Roots plans the closure of all roots. The first time nothing is active yet,
// and no step needs a trap.
func (s *schemeA) Roots(roots []cha.MethodID) Plan {
	s.begin(deep)
	if !s.active {
		s.trap = false
		defer func() { s.active, s.trap = true, true }()
	}
	s.roots(roots)
	return s.end()
}

// Reach counts what Scheme A would instrument for roots, but hardly further than to
// most: whether a subgraph is large is known long before all of it is. Unknown is
// how many calls in it reach nothing yet, since the classes are not loaded: where
// those are many, what is within reach says little about the subgraph.
func Reach(h *cha.Hierarchy, roots []cha.MethodID, most int) (reached, unknown int) {
	s := newCore(h)
	s.begin(deep)
	s.roots(roots)
	for len(s.queue) > 0 && len(s.plan.Steps) < most {
		s.next()
	}
	return min(len(s.plan.Steps), most), s.unknown
}

// Entered plans the closure of m. Other threads may enter a method of it while
// the rest is not done, so each has a trap until then.
func (s *schemeA) Entered(m cha.MethodID) Plan {
	s.begin(deep)
	s.enter(m)
	return s.end()
}

// Found plans the methods and their closure.
func (s *schemeA) Found(ms []cha.MethodID) Plan {
	s.begin(deep)
	s.found(ms)
	return s.end()
}
