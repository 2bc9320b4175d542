package session

import (
	"slices"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// announce matches a class that is being loaded with what is wanted, and
// returns the other classes that have to change before it has objects.
func (l *loop) announce(id cha.ClassID, inside bool) []cha.ClassID {
	defer l.analyse()()
	also := l.lateRoots(id)
	var p scheme.Plan
	if s, ok := l.scheme.(scheme.Loader); ok && inside && !l.ledger.Half() {
		p = s.LoadedInside(id)
	} else {
		p = l.scheme.Loaded(id)
	}
	l.want(p)
	l.settleEarly()
	if l.s.watching != nil {
		l.inTime(scheme.Plan{Steps: p.Also}, nil)
		p.Also = nil
	}
	again := l.sites.Reconsider(id)
	for _, c := range again {
		l.changes.want(c)
	}
	also = append(append(also, l.want(scheme.Plan{Steps: p.Also})...), again...)
	return slices.DeleteFunc(also, func(c cha.ClassID) bool { return c == id })
}

// want enters a plan into the ledger and yields the classes that have to be
// retransformed for it.
func (l *loop) want(p scheme.Plan) []cha.ClassID {
	if l.final != nil { // the recording is over: a new root would be recorded into nobody's tree
		return nil
	}
	l.skipped = append(l.skipped, p.Skipped...)
	if w := l.s.watching; w != nil {
		w.watchThem(p.Watched)
	}
	l.noteRoots(p.Steps)
	var ids []cha.ClassID
	seen := map[cha.ClassID]bool{}
	for _, st := range p.Steps {
		m, added := l.ledger.Want(hotswap.ClassID(st.Method.Class), probe.MethodKey{Name: st.Method.Name, Desc: st.Method.Desc})
		mode := l.modeOf(st.Method, st.Root)
		fresh := st.Fresh || len(l.delayed) > 0 && l.callsAny(st.Method)
		if fresh {
			mode = wire.ModeFresh
		}
		if st.Root {
			mode |= wire.ModeRoot
		}
		if added || st.Root && l.kind.modes() && m.ID > 0 && m.Reason == "" && l.s.data.Mode(m.ID)&wire.ModeRoot == 0 { // others' probes begin no recording
			l.changes.want(st.Method.Class)
		}
		if added && m.ID > 0 && l.patience.bounded() {
			l.patience.owed[st.Method.Class] = append(l.patience.owed[st.Method.Class], st.Method)
		}
		if m.ID > 0 {
			l.kind.reserve(m)
		}
		if m.ID > 0 && l.kind.modes() {
			if added {
				l.setMode(m.ID, mode)
			} else if st.Root {
				mode = l.s.data.Mode(m.ID) &^ wire.ModeRoot
				switch {
				case fresh:
					mode = wire.ModeFresh
				case mode != wire.ModeFresh:
					mode = l.modeOf(st.Method, true)
				}
				l.setMode(m.ID, mode|wire.ModeRoot)
			}
		}
		// A method that another job asked for may not have its probes yet.
		if m.ID > 0 && m.Reason == "" && l.changes.pending(st.Method.Class) && !seen[st.Method.Class] {
			seen[st.Method.Class] = true
			ids = append(ids, st.Method.Class)
		}
	}
	return ids
}

// callsAny tells whether a method calls anything, as far as is known: only such a one
// is worth a trap, and a leaf's probe has none.
func (l *loop) callsAny(id cha.MethodID) bool {
	m := l.h.Method(id)
	return m != nil && len(m.Calls)+len(m.Inits) > 0
}

// settled notes that the bytes last offered for a class are in force.
func (l *loop) settled(id cha.ClassID) {
	if l.changes.settle(id, l.s.data.Redefined()) {
		if l.late.coming[id] {
			delete(l.late.coming, id)
			l.noteUnanswered(id)
		}
		delete(l.patience.owed, id)
	}
}

// revealed lets methods whose callees are instrumented be recorded without
// a wait. It reports whether a thread had entered one of them and gone on.
func (l *loop) revealed(ms []cha.MethodID) (late bool) {
	for _, id := range ms {
		if m := l.ledger.Lookup(hotswap.ClassID(id.Class), probe.MethodKey{Name: id.Name, Desc: id.Desc}); m != nil && m.ID > 0 {
			late = l.settle(m.ID) || late
		}
	}
	return late
}

// settle does so for one. It reports whether a thread had entered it and gone on.
func (l *loop) settle(id int32) (late bool) {
	mode := l.s.data.Mode(id)
	if mode&^wire.ModeRoot == wire.ModeFresh {
		l.setMode(id, mode&wire.ModeRoot|l.modeOf(methodID(l.ledger.Method(id)), mode&wire.ModeRoot != 0))
		return false
	}
	late = l.isGivenUp(id)
	delete(l.patience.fresh, id)
	return late
}
