package scheme

import "github.com/rivulet-profiler/rivulet/cha"

// A schemeB instruments the callees of a method when the method is entered for
// the first time (papers/002, 6.2).
type schemeB struct{ core }

// NewB returns Scheme B over a hierarchy.
func NewB(h *cha.Hierarchy) Scheme { return &schemeB{newCore(h)} }

func (*schemeB) Name() string { return "B" }

// Roots plans the roots alone.
func (s *schemeB) Roots(roots []cha.MethodID) Plan {
	s.begin(shallow)
	s.roots(roots)
	return s.end()
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
