package session

import (
	"fmt"
	"maps"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// A lateMethod was called, or may have been, before it had probes.
type lateMethod struct {
	id      cha.MethodID
	calls   int64         // that the JVM counted before, in the whole program; -1 where it did not count
	after   time.Duration // from the beginning of the recording to its probes
	inForce bool
}

// noteLate notes that methods get probes late. One that is asleep has not been called.
func (l *loop) noteLate(steps []scheme.Step, calls map[cha.MethodID]int64) {
	w := l.s.watching
	d, _ := l.scheme.(scheme.Watcher)
	for _, st := range steps {
		if d != nil && d.IsDeferred(st.Method) {
			continue // gets probes along with its class, and no called method can call it
		}
		n, woke := calls[st.Method]
		if !woke {
			n = -1
			if !st.Root && !w.isActive(st.Method) {
				continue
			}
		}
		l.addLate(st.Method, n)
	}
}

// addLate notes a late method, which has no probes yet.
func (l *loop) addLate(id cha.MethodID, calls int64) {
	p := &l.patience
	if p.late[id] == nil {
		x := &lateMethod{id: id, calls: calls}
		p.late[id] = x
		p.wait[id.Class] = append(p.wait[id.Class], x)
	}
}

// lateInForce notes when late methods have got their probes.
func (l *loop) lateInForce() {
	for class, xs := range l.patience.wait {
		if l.changes.pending(class) {
			continue
		}
		for _, x := range xs {
			x.after, x.inForce = time.Since(l.rec.armed), true
		}
		delete(l.patience.wait, class)
	}
}

// forgetLate takes nothing for late that has its probes by now: a recording begins.
func (l *loop) forgetLate() {
	l.lateInForce()
	l.patience.forget()
	l.inlinedLate()
	if d, ok := l.scheme.(scheme.Watcher); ok {
		d.Begun(func(id cha.MethodID) bool { return !l.changes.pending(id.Class) })
	}
	l.unanswered.begun(l.s.data.Unanswered(), len(l.changes.owing) == 0)
}

// forget takes no method for late that has its probes.
func (p *patience) forget() {
	maps.DeleteFunc(p.late, func(_ cha.MethodID, x *lateMethod) bool { return x.inForce })
}

// reportLate says in a report what was recorded late.
func (l *loop) reportLate(r *export.Report) {
	w, p := l.s.watching, &l.patience
	if w == nil && !p.bounded() && len(p.late) == 0 {
		return
	}
	r.Late = []export.Late{}
	var names []string
	for _, x := range p.sortedLate() {
		r.Late = append(r.Late, export.Late{Method: x.id.String(), After: x.after, Calls: x.calls})
		names = append(names, x.id.String())
	}
	switch n := l.s.data.GivenUp(); {
	case w == nil && !p.bounded() && !l.late.long: // a thread that gave up is in the tree's Incomplete
	case w == nil && !p.bounded():
		r.AddGap("the definition of classes took longer than a caller waits for it: their methods, and what they call, are recorded from some moment on", names)
	case len(names) > 0 && w != nil:
		r.AddGap("methods were called while recording that had been asleep, or within their reach: they are recorded from some moment on", names)
	case len(names) > 0 && n == 0:
		r.AddGap("classes were loaded, or came within reach, before their methods had probes: these, and what they call, are recorded from some moment on", names)
	case n > 0:
		r.AddGap(fmt.Sprintf("threads went on %s before what they were about to call had probes, since a root call waits for %v at most (--patience): such methods, and what they call, are recorded from some moment on", export.Plural(n, "time", "times"), p.most), names)
	}
	if w != nil && w.failed != nil {
		r.AddGap(fmt.Sprintf("methods that were asleep could not be watched to the end: %v", w.failed), nil)
	}
}
