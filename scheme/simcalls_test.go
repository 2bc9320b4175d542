package scheme

import (
	"slices"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/cha/chatest"
)

// run runs a method inside the root.
func (s *sim) run(m *chatest.Method, depth int) {
	if s.left--; s.left < 0 || depth > 10 || m.Access&0x0500 != 0 {
		return
	}
	if m.Class.JDK() {
		if m.Class.Super != nil && m.Name != "<clinit>" {
			s.callBack(depth)
		}
		return
	}
	id := m.ID()
	s.logf("run %v/%d", id, id.Class.Loader)
	s.ran[id] = true
	if invoked, ok := s.watched[id]; ok && !invoked {
		s.watched[id] = true
		s.moved = append(s.moved, id)
	}
	_, watched := s.watched[id]
	fresh, ok := s.instrumented[id]
	switch {
	case !ok && s.blind == 0 && !watched:
		s.fail("%s: %v/%d is neither instrumented nor watched", s.s.Name(), id, id.Class.Loader)
	case !ok && s.blind == 0 && s.woken[id]:
		s.fail("%v woke, and has no probes", id)
	case !ok:
		s.missed++
	}
	if watched && !s.woken[id] {
		s.blind++
		defer func() { s.blind-- }()
	}
	if ok && s.narrow && !s.known[id] {
		s.called = append(s.called, id)
		if !s.given[id] { // else it is a root
			s.blind++
			defer func() { s.blind-- }()
		}
	}
	if s.r.IntN(10) == 0 && (s.blind == 0 || s.narrow) {
		s.wake()
	}
	if fresh {
		p := s.s.Entered(id)
		if !slices.Contains(p.Revealed, id) {
			s.fail("%v is not revealed", id)
		}
		s.do(p, nil)
	}
	for range 2 {
		for _, i := range s.r.Perm(len(m.Calls)) {
			s.call(m, m.Calls[i], depth)
			if s.r.IntN(20) == 0 {
				s.list()
			}
		}
	}
}

func (s *sim) call(m *chatest.Method, c cha.Call, depth int) {
	o := s.w.Find(m.Class.ID.Loader, c.Owner)
	s.load(o)
	s.logf("call %v from %v", c, m.ID())
	if c.Name == "<init>" {
		if !o.Subtype(m.Class) && !m.Class.Subtype(o) {
			s.init(o, depth)
		}
		s.run(o.Declared(c.Name, c.Desc), depth+1)
		return
	}
	r := s.w.Resolve(o, c.Name, c.Desc)
	switch {
	case r == nil || r.Static() != (c.How() == cha.Static):
	case r.Static():
		s.init(o, depth)
		s.run(r, depth+1)
	case c.How() == cha.Special:
		for _, t := range s.w.Special(m.Class, o, c.Name, c.Desc) {
			s.run(t, depth+1)
		}
	default:
		s.send(o, r, depth)
	}
}

// send calls a virtual method on an object that some other thread made.
func (s *sim) send(o *chatest.Class, r *chatest.Method, depth int) {
	if s.r.IntN(3) == 0 && s.sendLambda(o, r, depth) {
		return
	}
	xs := slices.DeleteFunc(slices.Clone(s.w.Classes), func(x *chatest.Class) bool {
		return x.Interface() || x.Abstract() || !x.Subtype(o)
	})
	if len(xs) == 0 {
		return
	}
	x := xs[s.r.IntN(len(xs))]
	s.load(x)
	s.initOutside(x)
	for _, t := range s.w.Select(x, r) {
		s.run(t, depth+1)
	}
}

// sendLambda calls a virtual method on a lambda, if there is one of the type.
func (s *sim) sendLambda(o *chatest.Class, r *chatest.Method, depth int) bool {
	var ls []*chatest.Lambda
	for _, c := range s.w.Classes {
		for _, l := range c.Lambdas {
			if l.Interface.Subtype(o) {
				ls = append(ls, l)
			}
		}
	}
	if len(ls) == 0 {
		return false
	}
	l := ls[s.r.IntN(len(ls))]
	s.load(l.Host)
	s.load(l.Interface)
	s.initOutside(l.Host)
	s.logf("lambda of %v as %v", l.Impl.ID(), l.Interface.ID)
	switch {
	case r.Private():
		s.run(r, depth+1)
	case r.Name == l.Name && r.Desc == l.Desc:
		s.run(l.Impl, depth+1)
	default:
		if m := s.w.Classes[0].Declared(r.Name, r.Desc); m != nil {
			return true
		}
		for _, m := range s.w.SelectDefault(l.Interface, r.Name, r.Desc) {
			s.run(m, depth+1)
		}
	}
	return true
}

// callBack is what a method of the JDK may do.
func (s *sim) callBack(depth int) {
	if s.r.IntN(2) == 0 {
		return
	}
	for _, i := range s.r.Perm(len(s.w.Classes)) {
		t := s.w.Classes[i]
		if !t.JDK() || !s.defined[t] || len(t.Methods) == 0 {
			continue
		}
		m := t.Methods[s.r.IntN(len(t.Methods))]
		if !m.Private() && !m.Static() && m.Name[0] == 'm' && m.Access&(chatest.Public|chatest.Protected) != 0 {
			s.logf("call back %v", m.ID())
			s.send(t, m, depth)
			return
		}
	}
}

// init initializes a class inside the root.
func (s *sim) init(c *chatest.Class, depth int) {
	if s.initialized[c] {
		return
	}
	s.initialized[c] = true
	if c.Super != nil {
		s.init(c.Super, depth)
	}
	for _, i := range c.Interfaces {
		s.init(i, depth)
	}
	if m := c.Declared("<clinit>", "()V"); m != nil {
		s.run(m, depth+1)
	}
}

func (s *sim) initOutside(c *chatest.Class) {
	s.initialized[c] = true
	if c.Super != nil {
		s.initOutside(c.Super)
	}
	for _, i := range c.Interfaces {
		s.initOutside(i)
	}
}
