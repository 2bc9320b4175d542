package scheme

import "github.com/rivulet-profiler/rivulet/cha"

// A timed plans the roots and nothing beneath them, for light region timing
// (Dmitriev, "Design of JFluid", section 5): there is nothing to reveal, so no step has a trap.
type timed struct{ core }

// NewTimed returns the scheme over a hierarchy that instruments exactly the
// roots: of an abstract one all implementations, later ones too.
func NewTimed(h *cha.Hierarchy) Scheme {
	s := &timed{newCore(h)}
	s.trap, s.lambdas = false, true
	return s
}

func (*timed) Name() string { return "time" }

// Roots plans the roots.
func (s *timed) Roots(roots []cha.MethodID) Plan {
	s.begin(shallow)
	s.roots(roots)
	return s.only()
}

// Entered plans nothing: no method is fresh.
func (*timed) Entered(cha.MethodID) Plan { return Plan{} }

// Found plans nothing: what roots call is not timed.
func (*timed) Found([]cha.MethodID) Plan { return Plan{} }

// Loaded implements Scheme.
func (s *timed) Loaded(id cha.ClassID) Plan {
	s.begin(shallow)
	s.loading = id
	s.classes(id)
	return s.only()
}

// Listed implements Scheme.
func (s *timed) Listed(ids []cha.ClassID) Plan {
	s.begin(shallow)
	if len(ids) > 0 {
		s.classes(ids...)
	}
	return s.only()
}

// only returns the plan without following the calls of what is in it.
func (s *timed) only() Plan {
	s.queue = s.queue[:0]
	return s.plan
}
