package session

import (
	"cmp"
	"fmt"
	"maps"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// A lateMethod was called, or may have been, before it had probes.
type lateMethod struct {
	id      cha.MethodID
	calls   int64         // that the JVM counted before, in the whole program; -1 where it did not count
	after   time.Duration // from the beginning of the recording to its probes
	inForce bool

	// It was asleep when it was planned. Who calls it between the last look at its counter and
	// the redefinition of its class is not seen, since the counter is new then.
	asleep bool
}

// noteLate notes that methods get probes late. One that is asleep has not been called, as far
// as anybody has looked.
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
				l.patience.addAsleep(st.Method)
				continue
			}
		}
		l.patience.addLate(st.Method, n)
	}
}

// addLate notes a late method, which has no probes yet.
func (p *patience) addLate(id cha.MethodID, calls int64) {
	if x := p.late[id]; x != nil && x.asleep {
		x.asleep, x.calls = false, calls
		return
	}
	p.add(&lateMethod{id: id, calls: calls})
}

// addAsleep notes a method that gets probes while it is asleep: it is late if it turns out to
// have been called.
func (p *patience) addAsleep(id cha.MethodID) {
	p.add(&lateMethod{id: id, calls: -1, asleep: true})
}

func (p *patience) add(x *lateMethod) {
	if p.late[x.id] == nil {
		p.late[x.id] = x
		p.wait[x.id.Class] = append(p.wait[x.id.Class], x)
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

// A lateness is what a report says of methods that were recorded late. It does not change.
type lateness struct {
	methods []lateMethod
	rows    map[cha.MethodID]int32 // of those that were asleep: in the tree, if they were called
	reason  string                 // why, where there are any
	alone   string                 // what a report says where there are none; "" nothing
	failed  string                 // why not all was watched to the end; "" if it was
}

// lateness is nil where no method is late and nobody watched.
func (l *loop) lateness() *lateness {
	w, p := l.s.watching, &l.patience
	if w == nil && !p.bounded() && len(p.late) == 0 {
		return nil
	}
	out := &lateness{rows: map[cha.MethodID]int32{}}
	for _, x := range p.sortedLate() {
		out.methods = append(out.methods, *x)
		if m := l.ledger.Lookup(keyOf(x.id)); x.asleep && m != nil {
			out.rows[x.id] = m.ID
		}
	}
	n := l.s.data.GivenUp()
	if n > 0 && (w != nil || p.bounded()) {
		out.alone = fmt.Sprintf("threads went on %s before what they were about to call had probes, since a root call waits for %v at most (--patience): such methods, and what they call, are recorded from some moment on", export.Plural(n, "time", "times"), p.most)
	}
	switch {
	case w == nil && !p.bounded() && !l.late.long: // a thread that gave up is in the tree's Incomplete
	case w == nil && !p.bounded():
		out.alone = "the definition of classes took longer than a caller waits for it: their methods, and what they call, are recorded from some moment on"
	case w != nil:
		out.reason = "methods were called while recording that had been asleep, or within their reach: they are recorded from some moment on"
	case n == 0:
		out.reason = "classes were loaded, or came within reach, before their methods had probes: these, and what they call, are recorded from some moment on"
	}
	out.reason = cmp.Or(out.reason, out.alone)
	if w != nil && w.failed != nil {
		out.failed = fmt.Sprintf("methods that were asleep could not be watched to the end: %v", w.failed)
	}
	return out
}

// report says in a report, which has its tree, what was recorded late.
func (x *lateness) report(r *export.Report) {
	if x == nil {
		return
	}
	r.Late = []export.Late{}
	called := map[int32]bool{}
	for n := range cct.All(r.Tree.Roots()) {
		called[n.Method] = true
	}
	var names []string
	for _, m := range x.methods {
		if row, there := x.rows[m.id]; m.asleep && !(there && called[row]) {
			continue
		}
		r.Late = append(r.Late, export.Late{Method: m.id.String(), After: m.after, Calls: m.calls})
		names = append(names, m.id.String())
	}
	reason := x.reason
	if len(names) == 0 {
		reason = x.alone
	}
	if reason != "" {
		r.AddGap(reason, names)
	}
	if x.failed != "" {
		r.AddGap(x.failed, nil)
	}
}
