package session

import (
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
	"github.com/rivulet-profiler/rivulet/scheme"
)

const (
	lateFirst = 2 * time.Millisecond
	lateMost  = time.Second
)

// late are classes that another one brought into reach when a thread inside the
// subgraph loaded it, and that were not initialized then. The thread may have been
// linking one of them, with a lock that redefining it needs, so it was let go on,
// with a trap in the other's constructors. Whoever is inside and makes an object of
// that has them redefined first; for objects that others make they are redefined as
// soon as they are initialized. See docs/decisions/0003-who-retransforms.md.
type late struct {
	classes []cha.ClassID
	pause   time.Duration // until they are tried again
	tried   time.Time
	trying  bool
	coming  map[cha.ClassID]bool // of these, whose definition takes longer than a caller waits
	long    bool                 // there were such
}

func (w *late) add(ids []cha.ClassID) {
	if len(ids) > 0 {
		w.classes = append(w.classes, ids...)
		w.pause, w.tried = lateFirst, time.Now()
	}
}

// definedLate lets callers go on without a class whose definition takes long: its methods
// are recorded from when it is there.
func (l *loop) definedLate(id cha.ClassID) {
	l.s.log.Info("the definition of a class takes longer than a caller waits", "class", id)
	l.noteUnanswered(id)
	l.changes.postpone(id)
	if l.late.coming == nil {
		l.late.coming = map[cha.ClassID]bool{}
	}
	l.late.coming[id], l.late.long = true, true
	l.late.add([]cha.ClassID{id})
}

// checkLate has the agent's thread redefine the late classes that are initialized
// by now.
func (l *loop) checkLate() {
	w := &l.late
	if len(w.classes) == 0 || w.trying || l.round != nil || l.final != nil || time.Since(w.tried) < w.pause {
		return
	}
	w.classes = slices.DeleteFunc(w.classes, func(c cha.ClassID) bool { return !l.changes.pending(c) })
	slices.SortFunc(w.classes, cha.ClassID.Compare)
	w.classes = slices.Compact(w.classes)
	if len(w.classes) == 0 {
		return
	}
	w.trying = true
	l.enqueue(&job{classes: slices.Clone(w.classes), done: func([]cha.ClassID) {
		l.lateInForce()
		w.trying, w.tried = false, time.Now()
		w.pause = min(2*w.pause, lateMost)
	}})
}

// trapped gives the constructors of a class that is being loaded a trap: a thread
// inside the subgraph that is about to make an object waits until everything wanted
// is in force. It reports false where there can't be one.
func (l *loop) trapped(id cha.ClassID) bool {
	class := l.h.Class(id)
	if class == nil || class.Excluded || class.Fixed || l.final != nil {
		return false
	}
	var p scheme.Plan
	for i := range class.Methods {
		m := &class.Methods[i]
		switch {
		case m.IsInit() && m.Filtered:
			return false
		case m.IsInit():
			p.Steps = append(p.Steps, scheme.Step{Method: cha.MethodID{Class: id, Name: m.Name, Desc: m.Desc}, Fresh: true})
		}
	}
	l.want(p)
	for _, st := range p.Steps {
		m := l.ledger.Lookup(hotswap.ClassID(id), probe.MethodKey{Name: st.Method.Name, Desc: st.Method.Desc})
		if m == nil || m.ID <= 0 || m.Reason != "" {
			return false
		}
		l.setMode(m.ID, l.s.data.Mode(m.ID)&wire.ModeRoot|wire.ModeFresh)
	}
	return len(p.Steps) > 0
}
