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
	lookWide  = 1    // targets of a call that is followed because it is likely
	lookCheap = 1    // methods that revealing another one may add
	lookMost  = 20   // those of one plan together
	lookFar   = 4000 // methods that one plan looks at while a thread waits
	lookFree  = 100  // where there is nothing to instrument, to spare threads their stops
)

// A schemeC is Scheme B with a view: when a method is entered, it also reveals
// what it is going to call, by the look of the code and by what the JVM has invoked
// before, and what costs next to nothing. And it leaves out initializers of classes that
// are initialized (JVMS §5.5: they don't run again), and callbacks that nothing in the
// JDK names. It records what B does.
type schemeC struct {
	core
	views   map[cha.MethodID]*view
	reached map[cha.CallKey]*callees
	round   int
	free    bool // only what adds nothing
	invoked func(m cha.MethodID) bool
	eager   bool // calls of invoked methods need not be likely
}

// A view is what a method was seen to call when it was first looked at. It may
// lack classes that were loaded since: it says what is likely, no more.
type view struct {
	id       cha.MethodID
	m        *method // nil until it is known
	round    int     // of looking ahead, in which it was last seen
	expanded bool
	calls    []*targets
}

// A targets is what a call was seen to reach in application classes. All methods that
// make the same call share it: of equals and its like there are thousands.
type targets struct {
	*callees
	sure, other   []*view // of all: those that most invocations of the call's method call
	asSure, asMay int     // rounds in which sure was last put among what is sure, and among what is not
	rest          int     // round in which other was
}

// A callees is what a call was seen to reach, whether it is likely or not.
type callees struct {
	epoch   uint64 // of the hierarchy
	ids     []cha.MethodID
	all     []*view     // without what the filter hides
	split   [2]*targets // of an unlikely and of a likely call; nil until asked for
	planned bool        // all of all are
}

// NewC returns Scheme C over a hierarchy.
func NewC(h *cha.Hierarchy) Scheme {
	s := &schemeC{core: newCore(h), views: map[cha.MethodID]*view{}, reached: map[cha.CallKey]*callees{}}
	s.prune = true
	s.withheld = map[cha.MethodID]bool{}
	return s
}

// Select implements Selector.
func (s *schemeC) Select(may func(name, desc string) bool) { s.may = may }

// Guide implements Guided.
func (s *schemeC) Guide(invoked func(m cha.MethodID) bool, eager bool) {
	s.invoked, s.eager = invoked, eager
}

// Named implements Selector. Nobody waits for what is called now.
func (s *schemeC) Named() Plan {
	s.begin(shallow)
	s.named()
	return s.end()
}

func (*schemeC) Name() string { return "C" }

// LoadedInside implements Loader. All of the class's methods get probes: now they
// cost next to nothing, and later a redefinition.
func (s *schemeC) LoadedInside(id cha.ClassID) Plan {
	s.begin(shallow)
	s.loading = id
	s.classes(id)
	s.initializer(id)
	s.drain()
	class := s.h.Class(id)
	if class == nil || class.Excluded || class.Fixed {
		return s.plan
	}
	for i := range class.Methods {
		if m := &class.Methods[i]; m.HasCode && !m.Filtered {
			s.step(cha.Hit{Class: class, Method: m}, false)
		}
	}
	return s.end()
}

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
	s.lookAhead(near, math.MaxInt)
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

// look looks ahead from methods that a thread waits for. If there is nothing that it
// has to wait for, nothing is added.
func (s *schemeC) look(near []cha.MethodID) {
	s.free = s.plan.Empty()
	far := lookFar
	if s.free {
		far = lookFree
	}
	s.lookAhead(near, far)
	s.free = false
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
// that calls from the given ones are sure to lead to, then others on the way, the
// nearest first. In a large subgraph, that is revealed for the most part, it gives
// up after so many methods: another thread may be where the rest is.
func (s *schemeC) lookAhead(near []cha.MethodID, far int) {
	s.round++
	var sure, other []*view
	for _, id := range near {
		sure = append(sure, s.view(id))
	}
	added := 0
	for seen := 0; len(sure)+len(other) > 0 && seen < far; {
		var v *view
		likely := len(sure) > 0
		if likely {
			v, sure = sure[0], sure[1:]
		} else {
			v, other = other[0], other[1:]
		}
		m := s.method(v)
		if m == nil || v.round == s.round {
			continue
		}
		s.expand(v)
		if m.planned && !m.revealed {
			if !likely || s.free {
				n := s.price(v)
				if n > lookCheap || added+n > lookMost || n > 0 && s.free {
					continue
				}
				added += n
			}
			s.enqueue(v.id, m)
			s.drain()
		}
		v.round = s.round
		seen++
		for _, c := range v.calls {
			switch {
			case likely:
				sure = s.unvisited(sure, c.sure, &c.asSure)
			case c.asSure != s.round:
				other = s.unvisited(other, c.sure, &c.asMay)
			}
		}
		for _, c := range v.calls {
			other = s.unvisited(other, c.other, &c.rest)
		}
	}
}

// unvisited appends the views that this round has not seen, once in a round.
func (s *schemeC) unvisited(to, from []*view, last *int) []*view {
	if *last == s.round {
		return to
	}
	*last = s.round
	for _, v := range from {
		if v.round != s.round {
			to = append(to, v)
		}
	}
	return to
}

// idle reports whether no code of a method's class had run when the JVM was last
// asked. In a program that runs it may never be.
func (s *schemeC) idle(id cha.MethodID) bool {
	c := s.h.Class(id.Class)
	return c != nil && c.Exact != nil && !c.Initialized
}

// price returns the number of methods that get probes when the method of a view
// is revealed, or some number above lookCheap. One in a class that is not initialized is
// too dear: the threads that wait have to change it themselves.
func (s *schemeC) price(v *view) int {
	more := 0
	for _, c := range v.calls {
		if c.planned {
			continue
		}
		before := more
		for _, t := range c.all {
			if m := s.method(t); m != nil && m.planned {
				continue
			}
			if c := s.h.Class(t.id.Class); c != nil && !c.Initialized {
				return math.MaxInt
			}
			if more++; more > lookCheap {
				return more
			}
		}
		c.planned = more == before
	}
	return more
}

// view returns the view of a method, which may not be expanded.
func (s *schemeC) view(id cha.MethodID) *view {
	v := s.views[id]
	if v == nil {
		v = &view{id: id}
		s.views[id] = v
	}
	return v
}

// method returns what is known of a view's method, or nil.
func (s *schemeC) method(v *view) *method {
	if v.m == nil {
		v.m = s.methods[v.id]
	}
	return v.m
}

// expand looks at a method's calls.
func (s *schemeC) expand(v *view) {
	if v.expanded {
		return
	}
	v.expanded = true
	m, c := s.h.Method(v.id), s.h.Class(v.id.Class)
	if m == nil || c == nil {
		return
	}
	for i := range m.Calls {
		if k, ok := s.h.Key(c.Scope(), &m.Calls[i]); ok {
			if t := s.targets(k, c.Scope(), &m.Calls[i], m.Likely == nil || m.Likely[i]); len(t.ids) > 0 {
				v.calls = append(v.calls, t)
			}
		}
	}
}

// targets returns what a call reaches by the present hierarchy.
func (s *schemeC) targets(k cha.CallKey, from cha.ClassID, call *cha.Call, likely bool) *targets {
	r := s.reached[k]
	if r == nil || r.epoch != s.h.Epoch() {
		r = &callees{epoch: s.h.Epoch()}
		s.reached[k] = r
		for _, t := range s.h.Targets(from, *call) {
			if c := s.h.Class(t.Class); c == nil || c.Excluded {
				continue
			}
			r.ids = append(r.ids, t)
			if !s.h.Method(t).Filtered {
				r.all = append(r.all, s.view(t))
			}
		}
	}
	i := 0
	if likely {
		i = 1
	}
	if r.split[i] == nil {
		ts := &targets{callees: r}
		sure := s.sure(r.ids, likely)
		for _, t := range r.ids {
			to := &ts.other
			if sure(t) {
				to = &ts.sure
			}
			*to = append(*to, s.view(t))
		}
		r.split[i] = ts
	}
	return r.split[i]
}

// sure says which targets of a call most invocations of its method call. Of a call
// that is likely, these are the ones that have been invoked, however many; an eager
// scheme takes other calls with one such target for likely. Where none of them has
// been, or that isn't known, a likely call has to have one target that could be.
func (s *schemeC) sure(ts []cha.MethodID, likely bool) func(cha.MethodID) bool {
	if s.invoked != nil {
		n := 0
		for _, t := range ts {
			if s.invoked(t) {
				n++
			}
		}
		if n > 0 && (likely || s.eager && n == 1) {
			return s.invoked
		}
	}
	all := likely && len(ts) <= lookWide && !slices.ContainsFunc(ts, s.idle)
	return func(cha.MethodID) bool { return all }
}
