package scheme

import (
	"math"
	"slices"

	"github.com/rivulet-profiler/rivulet/cha"
)

// How far a plan of Scheme C looks ahead. What most invocations of a method call
// anyway is followed without bound, since B would stop for it a moment later;
// other methods only as far as hardly any more get probes.
const (
	lookWide  = 1  // targets of a call that is followed because it is likely
	lookCheap = 1  // methods that revealing another one may add
	lookMost  = 20 // those of one plan together
)

// A schemeC is Scheme B with a view: when a method is entered, it also reveals
// what it is going to call, by the look of the code, and what costs next to
// nothing. And it leaves out initializers of classes that are initialized (JVMS
// §5.5: they don't run again). It records what B does.
type schemeC struct {
	core
	views map[cha.MethodID]*view
}

// A view is what a method was seen to call when it was first looked at. It may
// lack classes that were loaded since: it says what is likely, no more.
type view struct {
	all   []cha.MethodID // of application classes
	sure  []cha.MethodID // those that most invocations call
	other []cha.MethodID
}

// NewC returns Scheme C over a hierarchy.
func NewC(h *cha.Hierarchy) Scheme {
	s := &schemeC{core: newCore(h), views: map[cha.MethodID]*view{}}
	s.prune = true
	return s
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
	s.lookAhead(near)
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
		s.lookAhead(near)
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

// lookAhead reveals methods that are planned and not yet entered: first those
// that calls from the given ones are sure to lead to, then others on the way.
func (s *schemeC) lookAhead(near []cha.MethodID) {
	seen := map[cha.MethodID]bool{}
	sure, other := near, []cha.MethodID(nil)
	added := 0
	for len(sure)+len(other) > 0 {
		var id cha.MethodID
		likely := len(sure) > 0
		if likely {
			id, sure = sure[0], sure[1:]
		} else {
			id, other = other[0], other[1:]
		}
		m := s.methods[id]
		if m == nil || seen[id] {
			continue
		}
		v := s.view(id)
		if m.planned && !m.revealed {
			if !likely {
				n := s.price(v)
				if n > lookCheap || added+n > lookMost {
					continue
				}
				added += n
			}
			s.enqueue(id, m)
			s.drain()
		}
		seen[id] = true
		if likely {
			sure = append(sure, v.sure...)
		} else {
			other = append(other, v.sure...)
		}
		other = append(other, v.other...)
	}
}

// idle reports whether no code of a method's class had run when the JVM was last
// asked. In a program that runs it may never be.
func (s *schemeC) idle(id cha.MethodID) bool {
	c := s.h.Class(id.Class)
	return c != nil && c.Exact != nil && !c.Initialized
}

// price returns the number of methods that get probes when the method of a view
// is revealed. One in a class that is not initialized is too dear: the threads
// that wait have to change it themselves.
func (s *schemeC) price(v *view) int {
	more := 0
	for _, t := range v.all {
		if m := s.methods[t]; m != nil && m.planned {
			continue
		}
		if c := s.h.Class(t.Class); c != nil && !c.Initialized {
			return math.MaxInt
		}
		more++
	}
	return more
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
		likely := m.Likely == nil || m.Likely[i]
		if likely && len(ts) <= lookWide && !slices.ContainsFunc(ts, s.idle) {
			v.sure = append(v.sure, ts...)
		} else {
			v.other = append(v.other, ts...)
		}
	}
	return v
}
