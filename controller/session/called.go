package session

import (
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// calledShare is how much of the time reading the tree for the methods that were called
// takes, where nothing woke: one part in.
const calledShare = 20

// calledMethods are those that the tree has shown, or that may be called without being in
// it. Who looks at the target owns it: watch, then who ended that.
type calledMethods struct {
	seen  map[int32]struct{} // ids of rows that have nodes
	all   bool               // calls found no room in the tree: any row may be called
	again time.Time          // not before, where nothing woke
}

// look reads the tree. It returns the rows that are new.
func (c *calledMethods) look(s *Session) (fresh []int32) {
	s.mapped.RLock()
	defer s.mapped.RUnlock()
	if s.data.Memory() == nil {
		return nil
	}
	if c.seen == nil {
		c.seen = map[int32]struct{}{}
	}
	began := time.Now()
	fresh, complete, err := cct.Called(s.data.Memory(), c.seen)
	c.all = c.all || !complete && err == nil
	c.again = time.Now().Add((calledShare - 1) * time.Since(began))
	return fresh
}

// called tells the scheme which methods have been called, and returns what it plans then.
// So its deferred methods come in as soon as a method is called that can call them.
func (l *loop) called(fresh []int32, all bool) scheme.Plan {
	w := l.s.watching
	var ms []cha.MethodID
	for _, id := range fresh {
		if m := l.ledger.Method(id); m != nil && m.Type == "" {
			ms = append(ms, methodID(m))
		}
	}
	for id := int32(1); id < l.ledger.Len(); id++ { // nothing shows that these are called
		m := l.ledger.Method(id)
		if _, told := w.mute[id]; told || m.Type != "" || !all && m.Reason == "" && l.s.data.Mode(id)&^wire.ModeRoot != wire.ModeOff {
			continue
		}
		w.mute[id] = struct{}{}
		ms = append(ms, methodID(m))
	}
	defer l.analyse()()
	return l.scheme.(scheme.Watcher).Called(ms)
}

// deferred is how many methods are awake that no called method can call.
func (l *loop) deferred() int { return l.scheme.(scheme.Watcher).Deferred() }

// lateAtEnd notes what would have got probes by now, had the recording not ended.
func (l *loop) lateAtEnd(p scheme.Plan, calls map[cha.MethodID]int64) {
	w, d, late := l.s.watching, l.scheme.(scheme.Watcher), l.patience.late
	note := func(id cha.MethodID, n int64) {
		if x := late[id]; (x == nil || x.asleep) && !d.IsDeferred(id) {
			late[id] = &lateMethod{id: id, calls: n, after: time.Since(l.rec.armed)}
		}
	}
	for id, n := range calls {
		note(id, n)
	}
	for _, st := range append(p.Steps, p.Also...) {
		if st.Root || w.isActive(st.Method) {
			note(st.Method, -1)
		}
	}
	for _, id := range p.Roused {
		note(id, -1)
	}
}
