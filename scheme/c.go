package scheme

import (
	"math"
	"slices"

	"github.com/rivulet-profiler/rivulet/cha"
)

// How many classes a plan of Scheme C may add by looking ahead: lookRoots when
// roots are planned, lookFirst when a method is entered for the first time, twice
// as many at each further time, lookMost at most. A redefinition of one class costs
// a JVM between a twentieth and a fiftieth of what the pause around it costs.
const (
	lookRoots = 400
	lookFirst = 50
	lookMost  = 400
	lookFar   = 10 // methods visited for each class of the budget
	lookWide  = 3  // targets of a call that are looked into before others
)

// A schemeC is Scheme B with a view: when a method is entered, it also reveals
// methods below it, nearest first, as far as a budget of classes goes. Each
// plan that does not suffice doubles the next one's budget, so that a program
// with a large subgraph is stopped some dozen times, and not for each level of
// its calls. It instruments what B does and some more, and records the same.
type schemeC struct {
	core
	looks int // plans that looked ahead so far
	views map[cha.MethodID]*view
}

// A view is what a method was seen to call when it was first looked at. It may
// lack classes that were loaded since: it says what is likely, no more.
type view struct {
	all    []cha.MethodID // of application classes
	narrow []cha.MethodID // those that calls with few targets reach
	wide   []cha.MethodID // the others
}

// NewC returns Scheme C over a hierarchy.
func NewC(h *cha.Hierarchy) Scheme {
	return &schemeC{core: newCore(h), views: map[cha.MethodID]*view{}}
}

func (*schemeC) Name() string { return "C" }

// Roots plans the roots, all callbacks as B does, and what is near: nobody
// waits.
func (s *schemeC) Roots(roots []cha.MethodID) Plan {
	s.open(roots)
	s.drain()
	var near []cha.MethodID
	for _, st := range s.plan.Steps {
		if st.Root {
			near = append(near, st.Method)
		}
	}
	s.lookAhead(near, lookRoots, true)
	return s.end()
}

// Entered plans the direct callees of m, and what is near.
func (s *schemeC) Entered(m cha.MethodID) Plan {
	s.begin(shallow)
	s.enter(m)
	s.drain()
	s.look([]cha.MethodID{m})
	return s.end()
}

// look looks ahead from methods that a thread waits for, if it has to wait.
func (s *schemeC) look(near []cha.MethodID) {
	if !s.plan.Empty() {
		s.lookAhead(near, min(lookMost, lookFirst<<min(s.looks, 8)), false)
		s.looks++
	}
}

// Found plans the methods, and what is near.
func (s *schemeC) Found(ms []cha.MethodID) Plan {
	s.begin(shallow)
	s.found(ms)
	s.drain()
	s.look(ms)
	return s.end()
}

// lookAhead reveals methods that are planned and not yet entered, in the order
// of their distance from the given ones, while their callees are in classes
// that the plan changes anyway or that the budget is good for. all includes
// classes that are not initialized: threads that wait would have to change them
// themselves, and they may never be called.
func (s *schemeC) lookAhead(near []cha.MethodID, budget int, all bool) {
	far := lookFar * budget
	changed := map[cha.ClassID]bool{}
	for _, st := range s.plan.Steps {
		changed[st.Method.Class] = true
	}
	steps := len(s.plan.Steps)
	seen := map[cha.MethodID]bool{}
	var later []cha.MethodID
	for next := near; len(next)+len(later) > 0 && len(seen) < far; next = next[1:] {
		if len(next) == 0 {
			next, later = later, nil
		}
		id := next[0]
		if seen[id] {
			continue
		}
		seen[id] = true
		m := s.methods[id]
		if m == nil {
			continue
		}
		v := s.view(id)
		if m.planned && !m.revealed {
			if s.price(v, changed, all) > budget {
				continue
			}
			s.enqueue(id, m)
			s.drain()
			for _, st := range s.plan.Steps[steps:] {
				if !changed[st.Method.Class] {
					changed[st.Method.Class] = true
					budget--
				}
			}
			steps = len(s.plan.Steps)
		}
		next, later = append(next, v.narrow...), append(later, v.wide...)
	}
}

// price returns the number of classes, not counting those that are changed
// anyway, that have to change before the method of a view needs no trap.
func (s *schemeC) price(v *view, changed map[cha.ClassID]bool, all bool) int {
	more := map[cha.ClassID]bool{}
	for _, t := range v.all {
		if m := s.methods[t]; m != nil && m.planned || changed[t.Class] {
			continue
		}
		if c := s.h.Class(t.Class); !all && c != nil && !c.Initialized {
			return math.MaxInt
		}
		more[t.Class] = true
	}
	return len(more)
}

// view looks at a method's calls.
func (s *schemeC) view(id cha.MethodID) *view {
	if v := s.views[id]; v != nil {
		return v
	}
	v := &view{}
	s.views[id] = v
	m, c := s.h.Method(id), s.h.Class(id.Class)
	if m == nil || c == nil {
		return v
	}
	for i := range m.Calls {
		ts := slices.DeleteFunc(s.h.Targets(c.Scope(), m.Calls[i]), func(t cha.MethodID) bool {
			c := s.h.Class(t.Class)
			return c == nil || c.Excluded
		})
		for _, t := range ts {
			if !s.h.Method(t).Filtered {
				v.all = append(v.all, t)
			}
		}
		if len(ts) <= lookWide {
			v.narrow = append(v.narrow, ts...)
		} else {
			v.wide = append(v.wide, ts...)
		}
	}
	return v
}
