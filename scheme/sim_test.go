package scheme

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/cha/chatest"
)

// A sim runs a random program in a simulated JVM that loads classes lazily and
// in every order, and obeys a scheme. It fails when an application method runs
// inside the root that is not instrumented, or is still fresh.
type sim struct {
	t    *testing.T
	r    *rand.Rand
	w    *chatest.World
	h    *cha.Hierarchy
	s    Scheme
	log  []string
	left int // calls to be made

	announced, defined, initialized map[*chatest.Class]bool

	instrumented map[cha.MethodID]bool // true while fresh
	given        map[cha.MethodID]bool // true as a root
	late         []Step                // for classes that are announced and not defined
	ran          map[cha.MethodID]bool

	// Of a Watcher.
	active  map[cha.MethodID]bool // before the roots were given
	watched map[cha.MethodID]bool // true once it was invoked
	moved   []cha.MethodID        // watched and invoked, and the scheme does not know it
	woken   map[cha.MethodID]bool // the scheme does
	blind   int                   // frames of methods that the scheme believes asleep
	missed  int                   // invocations without probes

	// Of a Watcher that is told which methods are called.
	narrow bool
	known  map[cha.MethodID]bool // it was told
	called []cha.MethodID        // and will be
}

func (s *sim) logf(format string, args ...any) { s.log = append(s.log, fmt.Sprintf(format, args...)) }

func (s *sim) fail(format string, args ...any) {
	s.t.Helper()
	for _, c := range s.w.Classes {
		sup := ""
		if c.Super != nil {
			sup = fmt.Sprint(c.Super.ID, "/", c.Super.ID.Loader)
		}
		var is, ms []string
		for _, i := range c.Interfaces {
			is = append(is, fmt.Sprint(i.ID, "/", i.ID.Loader))
		}
		for _, m := range c.Methods {
			ms = append(ms, fmt.Sprintf("%s%s:%#x", m.Name, m.Desc, m.Access))
		}
		s.t.Logf("%v/%d %#x < %s %v: %v", c.ID, c.ID.Loader, c.Access, sup, is, ms)
	}
	for _, l := range s.log {
		s.t.Log(l)
	}
	s.t.Fatalf(format, args...)
}

// do carries out a plan.
func (s *sim) do(p Plan, loading *chatest.Class) {
	for _, st := range p.Steps {
		if loading != nil && st.Method.Class != loading.ID {
			s.fail("%v is a step of the load of %v", st.Method, loading.ID)
		}
		s.step(st, loading)
	}
	for _, st := range p.Also {
		s.step(st, nil)
	}
	for _, m := range p.Revealed {
		if _, ok := s.instrumented[m]; ok {
			s.instrumented[m] = false
		}
	}
	for _, m := range p.Watched {
		if _, twice := s.watched[m]; twice || s.active[m] {
			s.fail("%v is watched twice, or is active", m)
		}
		s.watched[m] = s.ran[m] // as its counter says
		if s.ran[m] {
			s.moved = append(s.moved, m)
		}
	}
}

// wake tells a Watcher what has moved, as it does time and again.
func (s *sim) wake() {
	d, ok := s.s.(Watcher)
	if ok && s.narrow {
		s.logf("called %v", s.called)
		s.do(d.Called(s.called), nil)
		for _, m := range s.called {
			s.known[m] = true
		}
		s.called = nil
	}
	if ok {
		s.background()
	}
	for ok && len(s.moved) > 0 {
		ms := s.moved
		s.moved = nil
		for _, m := range ms {
			s.woken[m] = true
		}
		s.logf("woke %v", ms)
		s.do(d.Woke(ms), nil)
	}
}

// background runs some of the watched methods outside of the roots.
func (s *sim) background() {
	for _, c := range s.w.Classes {
		for _, m := range c.Methods {
			if invoked, watched := s.watched[m.ID()]; watched && !invoked && s.r.IntN(8) == 0 {
				s.watched[m.ID()], s.ran[m.ID()] = true, true
				s.moved = append(s.moved, m.ID())
			}
		}
	}
}

func (s *sim) step(st Step, loading *chatest.Class) {
	c := s.w.ByID[st.Method.Class]
	if c.JDK() {
		s.fail("step %v", st.Method)
	}
	if root, again := s.given[st.Method]; again && (root || !st.Root) {
		s.fail("%v is given twice", st.Method)
	}
	s.given[st.Method] = st.Root
	s.logf("step %v/%d %+v defined %v", c.ID, c.ID.Loader, st, s.defined[c])
	if c != loading && !s.defined[c] {
		s.late = append(s.late, st)
		return
	}
	s.instrumented[st.Method] = st.Fresh
}

// serve gives the hierarchy the bytes that it asks for.
func (s *sim) serve() (ids []cha.ClassID) {
	for need := s.h.NeedBytes(); len(need) > 0; need = s.h.NeedBytes() {
		for _, id := range need {
			s.h.Add(s.w.ByID[id].Mirror())
			ids = append(ids, id)
		}
	}
	return ids
}

// load loads a class with its supertypes, which the hook may announce later.
func (s *sim) load(c *chatest.Class) {
	if s.announced[c] {
		return
	}
	hookFirst := s.r.IntN(2) == 0
	if !hookFirst {
		s.supers(c)
	}
	s.announced[c] = true
	m := c.Mirror()
	if c.JDK() {
		m.Methods = nil
	}
	s.h.Add(m)
	if s.r.IntN(3) > 0 {
		s.serve()
	}
	s.logf("loaded %v/%d", c.ID, c.ID.Loader)
	inside := s.r.IntN(2) == 0
	var p Plan
	if l, ok := s.s.(Loader); ok && inside {
		p = l.LoadedInside(c.ID)
	} else {
		p = s.s.Loaded(c.ID)
	}
	s.do(p, c)
	if hookFirst {
		s.supers(c)
	}
	s.defined[c] = true
}

func (s *sim) supers(c *chatest.Class) {
	if c.Super != nil {
		s.load(c.Super)
	}
	for _, i := range c.Interfaces {
		s.load(i)
	}
}

// list lists some of the classes.
func (s *sim) list() {
	var ids []cha.ClassID
	for _, c := range s.w.Classes {
		if s.defined[c] && s.r.IntN(2) == 0 {
			s.h.Add(c.Exact())
			ids = append(ids, c.ID)
		}
	}
	ids = append(ids, s.serve()...)
	s.logf("listed %v", ids)
	s.do(s.s.Listed(ids), nil)
	late := s.late
	s.late = nil
	for _, st := range late {
		if s.defined[s.w.ByID[st.Method.Class]] {
			s.instrumented[st.Method] = st.Fresh
		} else {
			s.late = append(s.late, st)
		}
	}
}

func simulate(t *testing.T, seed uint64, narrow bool, make func(*cha.Hierarchy) Scheme) (planned, ran, spared int) {
	r := rand.New(rand.NewPCG(seed, 2))
	w := chatest.Random(r, 30, true)
	h := cha.New()
	for _, l := range w.Loaders {
		h.AddLoader(l)
	}
	s := &sim{
		t: t, r: r, w: w, h: h, left: 300,
		announced: map[*chatest.Class]bool{}, defined: map[*chatest.Class]bool{}, initialized: map[*chatest.Class]bool{},
		instrumented: map[cha.MethodID]bool{}, given: map[cha.MethodID]bool{}, ran: map[cha.MethodID]bool{},
		active: map[cha.MethodID]bool{}, watched: map[cha.MethodID]bool{}, woken: map[cha.MethodID]bool{},
		narrow: narrow, known: map[cha.MethodID]bool{},
	}
	s.s = make(h)
	if d, ok := s.s.(Watcher); ok {
		d.Observe(func(m cha.MethodID) bool { return s.active[m] || s.ran[m] })
	}
	for range r.IntN(20) { // loaded before the profiler came
		s.load(w.Classes[r.IntN(len(w.Classes))])
	}
	s.list()
	var all []*chatest.Method
	for _, c := range w.Classes {
		for _, m := range c.Methods {
			if !c.JDK() && m.Access&0x0500 == 0 && len(m.Calls) > 1 {
				all = append(all, m)
			}
		}
	}
	if len(all) == 0 {
		return 0, 0, 0
	}
	share := r.IntN(3) // in thirds, of what is loaded
	for _, c := range w.Classes {
		for _, m := range c.Methods {
			if s.defined[c] && r.IntN(3) < share {
				s.active[m.ID()] = true
			}
		}
	}
	for range 1 + r.IntN(2) {
		root := all[r.IntN(len(all))]
		s.do(s.s.Roots([]cha.MethodID{root.ID()}), nil)
		for range 3 {
			s.load(root.Class)
			s.initOutside(root.Class)
			s.left = 100
			s.run(root, 0)
			s.wake()
		}
	}
	if d, ok := s.s.(Watcher); ok {
		spared = d.Deferred()
	}
	return len(s.instrumented), len(s.ran), spared
}

// TestComplete checks that no call of the subgraph is missed, in any order of
// class loading, whatever a guide says.
func TestComplete(t *testing.T) {
	guided := func(eager bool) func(*cha.Hierarchy) Scheme {
		return func(h *cha.Hierarchy) Scheme {
			s := NewC(h)
			s.(Guided).Guide(func(m cha.MethodID) bool { return crc32.ChecksumIEEE([]byte(m.Class.Name+m.Name))%3 > 0 }, eager)
			return s
		}
	}
	for name, make := range map[string]func(*cha.Hierarchy) Scheme{"A": NewA, "B": NewB, "C": NewC, "D": NewD, "D told": NewD, "guided": guided(false), "eager": guided(true)} {
		t.Run(name, func(t *testing.T) {
			planned, ran, spared := 0, 0, 0
			for seed := range uint64(500) {
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					p, n, d := simulate(t, seed, name == "D told", make)
					planned, ran, spared = planned+p, ran+n, spared+d
				})
				if t.Failed() {
					return
				}
			}
			t.Logf("%d methods instrumented, %d called, %d deferred", planned, ran, spared)
			if told := name == "D told"; told != (spared > 0) {
				t.Errorf("%d methods were deferred to the end", spared)
			}
		})
	}
}
