package scheme

import "github.com/rivulet-profiler/rivulet/cha"

// A Rerooter is a scheme whose roots can be replaced. All of this package's are.
type Rerooter interface {
	Scheme

	// Reroot makes these methods the roots, in place of those before. Steps are what
	// was not planned so far, and the roots, also those that were planned. What only
	// the roots before reach stays planned, and its calls stay watched.
	Reroot(roots []cha.MethodID) Plan
}

// uproot forgets which methods are roots.
func (c *core) uproot() {
	for _, m := range c.methods {
		m.root = false
	}
	clear(c.pending)
	c.rootWatch = c.h.NewWatch()
}

// Reroot implements Rerooter.
func (s *schemeA) Reroot(roots []cha.MethodID) Plan { s.uproot(); return s.Roots(roots) }

// Reroot implements Rerooter.
func (s *schemeB) Reroot(roots []cha.MethodID) Plan { s.uproot(); return s.Roots(roots) }

// Reroot implements Rerooter.
func (s *schemeC) Reroot(roots []cha.MethodID) Plan { s.uproot(); return s.Roots(roots) }

// Reroot implements Rerooter.
func (s *schemeD) Reroot(roots []cha.MethodID) Plan {
	s.tell(func(r *calledReach) { r.uproot() })
	s.uproot()
	return s.Roots(roots)
}
