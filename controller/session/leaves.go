package session

import (
	"maps"
	"slices"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// leafHooks name the class of the leaves' probe in the target, and its methods.
func (s *Session) leafHooks() (class, count, thrown string) {
	class, count, thrown = s.bundle.Part("Leaf"), "count", "thrown"
	if s.called {
		count = "countCall"
	}
	return class, count, thrown
}

// mayBeLeaf tells whether a method, if it is a leaf, needs no times of its own.
func (l *loop) mayBeLeaf(class hotswap.ClassID, key probe.MethodKey) bool {
	m := l.ledger.Lookup(class, key)
	return m != nil && !l.isRoot(class, key) && !l.timedByRule(methodID(m))
}

// timedByRule tells whether a method was given a clock of its own.
func (l *loop) timedByRule(id cha.MethodID) (is bool) {
	for _, r := range l.rec.Modes {
		if matches(r, id) {
			is = modes[r.Mode] == wire.ModeTick || modes[r.Mode] == wire.ModePrecise
		}
	}
	return is
}

func (l *loop) isLeaf(id cha.MethodID) bool {
	m := l.ledger.Lookup(keyOf(id))
	return m != nil && m.Leaf
}

// setLeaves gives the methods of a class that was just rewritten the mode that
// goes with their probes. A leaf calls nothing, so it needs no first call. One
// that is none any more, since it got another agent's code, does.
func (l *loop) setLeaves(id cha.ClassID) {
	if !l.s.leaves {
		return
	}
	l.ledger.Rows(hotswap.ClassID(id), func(m *hotswap.Method) {
		if m.ID <= 0 || m.Reason != "" {
			return
		}
		id, was := methodID(m), l.s.data.Mode(m.ID) == wire.ModeLeaf
		switch {
		case m.Leaf == was:
		case m.Leaf || l.timedByRule(id):
			l.setMode(m.ID, l.modeOf(id, false))
		default:
			l.setMode(m.ID, wire.ModeFresh)
		}
	})
}

// timeLeaves has leaves that a rule gives a clock get the probes for it: their
// classes are retransformed, as no other switch of modes needs. It returns how many
// they are, except for those that were off, and calls done when they have them.
func (l *loop) timeLeaves(done func()) (n int) {
	ids := map[cha.ClassID]bool{}
	for id := int32(1); id < l.ledger.Len(); id++ {
		m := l.ledger.Method(id)
		class := cha.ClassID(m.Class)
		if !m.Leaf || !l.timedByRule(methodID(m)) || l.changes.pending(class) && !ids[class] {
			continue
		}
		if l.s.data.Mode(id) == wire.ModeLeaf {
			n++
		}
		l.changes.want(class)
		ids[class] = true
	}
	if len(ids) == 0 {
		done()
		return 0
	}
	classes := slices.SortedFunc(maps.Keys(ids), cha.ClassID.Compare)
	l.enqueue(&job{classes: classes, all: true, done: func([]cha.ClassID) { done() }})
	return n
}
