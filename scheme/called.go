package scheme

import "github.com/rivulet-profiler/rivulet/cha"

// A calledReach is what methods can call that were called below a root: the closure of
// the roots in which a method with probes is followed only once it was called. Code without
// probes is followed where it is awake, since nothing says whether it was called.
//
// It holds no more than what Scheme D has followed: a method that D has not followed is in
// no tree, or D is told of it.
type calledReach struct {
	core
	awake  func(m cha.MethodID) bool
	called map[cha.MethodID]bool
	within map[cha.MethodID]bool // what followed methods can call: true by a call of theirs, false only as a callback of the JDK
	fresh  []cha.MethodID        // what has come into within since take
}

// newCalledReach has what D has been told up to now.
func newCalledReach(d *schemeD) *calledReach {
	r := &calledReach{core: newCore(d.h), awake: d.isAwake, called: map[cha.MethodID]bool{}, within: map[cha.MethodID]bool{}}
	r.trap, r.prune = false, true
	r.withheld = map[cha.MethodID]bool{}
	r.rests = r.leave
	r.may = d.may
	r.begin(deep)
	var roots []cha.MethodID
	for id, m := range d.methods {
		if m.root {
			roots = append(roots, id)
		}
	}
	for id := range d.pending {
		roots = append(roots, id)
	}
	r.roots(roots)
	r.found(d.toldOf)
	r.drain()
	return r
}

// leave reports whether a method within reach is not to be followed.
func (r *calledReach) leave(t cha.Hit) bool {
	id := t.ID()
	r.add(id, !r.back)
	if t.Class.Excluded || t.Method.Filtered {
		return !r.awake(id)
	}
	return !r.called[id]
}

// add notes that a method is within reach, by a call or for a callback.
func (r *calledReach) add(id cha.MethodID, call bool) {
	by, there := r.within[id]
	if !there {
		r.fresh = append(r.fresh, id)
	}
	r.within[id] = by || call
}

// has tells whether a method is within reach.
func (r *calledReach) has(id cha.MethodID) bool {
	_, there := r.within[id]
	return there
}

// follows says that methods were called, or are awake and have no probes.
func (r *calledReach) follows(ms []cha.MethodID) {
	for _, id := range ms {
		class, m := r.h.Class(id.Class), r.h.Method(id)
		if class == nil || m == nil { // unloaded
			continue
		}
		switch {
		case !class.Excluded && !m.Filtered:
			r.called[id] = true
			r.add(id, true)
		case !r.has(id):
			continue
		}
		r.enqueue(id, r.method(id))
	}
	r.drain()
}

// take returns what has come within reach since the last time.
func (r *calledReach) take() []cha.MethodID {
	ms := r.fresh
	r.fresh = nil
	return ms
}

// isAwake is D's knowledge of a method, which is active or was.
func (s *schemeD) isAwake(id cha.MethodID) bool { return s.awake[id] || s.active(id) }

// Called implements Watcher.
func (s *schemeD) Called(ms []cha.MethodID) Plan {
	s.begin(deep)
	if s.reached == nil {
		s.reached = newCalledReach(s)
	}
	for _, id := range ms {
		if !s.awake[id] || s.IsDeferred(id) {
			s.rouse(id)
		}
	}
	s.follows(ms)
	return s.end()
}

// follows has the reach of called methods go on from these, and rouses the deferred methods that
// come into it.
func (s *schemeD) follows(ms []cha.MethodID) {
	if s.reached != nil {
		s.reached.follows(ms)
		s.undefer()
	}
}

// tell has the reach of called methods know what D is told, too.
func (s *schemeD) tell(f func(r *calledReach)) {
	if s.reached == nil {
		return
	}
	s.reached.begin(deep)
	f(s.reached)
	s.reached.drain()
	s.undefer()
}

// undefer rouses the deferred methods that called ones can call by now.
func (s *schemeD) undefer() {
	for ms := s.reached.take(); len(ms) > 0; ms = s.reached.take() {
		for _, id := range ms {
			if s.IsDeferred(id) {
				s.rouse(id)
			}
		}
	}
}

// Begun implements Watcher.
func (s *schemeD) Begun(inForce func(m cha.MethodID) bool) {
	for id := range s.deferred {
		if s.method(id).planned && inForce(id) {
			s.deferred[id] = true
		}
	}
}

// defers reports whether a method that is awake is left alone since no called method can
// call it, as far as is known; and notes that.
func (s *schemeD) defers(t cha.Hit) bool {
	id := t.ID()
	if s.reached == nil || s.reached.has(id) {
		return false
	}
	s.deferred[id] = s.method(id).planned
	if !t.Class.Excluded && !t.Method.Filtered && !s.method(id).planned {
		s.spare(t)
	}
	return true
}
