package session

import (
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// A reveal is a fresh method that threads have entered and wait in, or methods
// that a thread has found by reflection and waits for.
type reveal struct {
	method cha.MethodID   // of a fresh one
	found  []cha.MethodID // else: what the thread is about to call
	plan   scheme.Plan
	boxes  []int         // of the threads that wait for the agent's part
	left   []cha.ClassID // what the threads have to do; valid when ready
	ready  bool
	more   []cha.ClassID // brought into reach by classes loaded while others were redefined for it
	rounds int           // that more has asked for

	gone bool           // who calls them has gone on already
	owed []cha.MethodID // had no probes when it began; where patience is bounded or the caller is gone

	since   int64 // when the first thread came, on the target's clock
	threads int   // that have waited
}

// due are the plans of roots whose classes were only just being loaded when they became
// known: other classes can't be touched from inside the load hook, so they wait for the
// next thread that can. Schemes take them for done, and count on them in every plan
// since: so they come first, whoever it is that is being waited for.
func (l *loop) due() (revealed []cha.MethodID) {
	delayed := l.delayed
	l.delayed = nil
	for _, p := range delayed {
		l.want(p)
		revealed = append(revealed, p.Revealed...)
	}
	return revealed
}

// onReveal makes the caller wait until the callees of a method that it has
// entered are instrumented. Every thread that enters meanwhile waits with it.
func (l *loop) onReveal(q *link.Reveal, box int) {
	id := q.Method
	m := l.ledger.Method(id)
	if m == nil || l.scheme == nil || l.s.data.Mode(id)&^wire.ModeRoot != wire.ModeFresh {
		l.link.Reply(box, &link.Left{})
		return
	}
	if rv := l.reveals[id]; rv != nil {
		if rv.ready {
			l.link.Reply(box, &link.Left{Classes: rv.left})
		} else {
			rv.boxes = append(rv.boxes, box)
			rv.threads++
		}
		return
	}
	l.beginReveal(id, box)
}

// beginReveal has the callees of a fresh method instrumented, for the sake of threads
// that wait with these boxes, if any.
func (l *loop) beginReveal(id int32, boxes ...int) *reveal {
	rv := &reveal{method: methodID(l.ledger.Method(id)), boxes: boxes, since: l.s.now(), threads: len(boxes)}
	l.reveals[id] = rv
	l.boost.Set(true)
	end := l.analyse()
	p := l.scheme.Entered(rv.method)
	end()
	l.carryOut(id, rv, p)
	return rv
}

// carryOut instruments what a plan says, and lets those go on who wait for it.
func (l *loop) carryOut(id int32, rv *reveal, p scheme.Plan) {
	rv.plan.Revealed = append(l.due(), p.Revealed...)
	l.want(p)
	l.discardInlined(rv.found)
	if l.patience.bounded() || rv.gone {
		rv.owed = l.owingMethods()
	}
	// Some callees may have been planned with other methods and not have their
	// probes yet: so everything has to be in force.
	if len(l.changes.owing) == 0 {
		l.finishReveal(id)
		return
	}
	ids := l.changes.due()
	l.s.log.Debug("reveal", "method", rv.method, "classes", len(ids), "steps", len(p.Steps), "revealed", len(p.Revealed))
	if l.stall.known && l.round == nil { // see stall
		rv.left, rv.ready = ids, true
		l.answer(rv, ids)
		return
	}
	l.onAgent(id, rv, ids)
}

// onAgent has the agent's thread redefine a reveal's classes, and the threads that
// wait for it those that it leaves.
func (l *loop) onAgent(id int32, rv *reveal, ids []cha.ClassID) {
	// What the agent's thread meets with locks that the waiting thread has is done when
	// that has gone on.
	l.enqueue(&job{classes: ids, all: l.patience.bounded(), done: func(left []cha.ClassID) {
		more := l.moreOf(rv)
		switch {
		case len(left) > 0:
			rv.left, rv.ready = left, true
			l.answer(rv, left)
		case len(more) > 0:
			l.onAgent(id, rv, more)
		default:
			l.finishReveal(id)
		}
	}})
}

// mostRounds is how often a reveal's classes are redefined once more, for the sake
// of classes that were loaded by that. Only a hook that fails needs so many.
const mostRounds = 8

// moreOf yields what has come into reach since a reveal was planned and is not in
// force yet.
func (l *loop) moreOf(rv *reveal) []cha.ClassID {
	rv.more = slices.DeleteFunc(rv.more, func(c cha.ClassID) bool { return !l.changes.pending(c) })
	slices.SortFunc(rv.more, cha.ClassID.Compare)
	rv.more = slices.Compact(rv.more)
	if rv.rounds++; rv.rounds > mostRounds && len(rv.more) > 0 {
		rv.more = nil
		l.s.data.Incomplete()
	}
	return slices.Clone(rv.more)
}

// onRevealed hears from a thread that has done the threads' part, or that asks what is
// left of it, since others had some of the classes: then it has done none.
func (l *loop) onRevealed(q *link.Revealed, box int) {
	for _, c := range q.Refused {
		l.refused(c.ID, c.Reason)
	}
	for _, c := range q.Done {
		l.settled(c)
	}
	rv := l.reveals[q.Method]
	if rv != nil {
		if len(q.Done) > 0 {
			l.stats.batches++
			l.stats.classes += len(q.Done)
			pause := l.endPauses(0)
			l.s.log.Debug("threads' part", "method", rv.method, "classes", len(q.Done), "pause", pause)
		}
		done := make(map[cha.ClassID]bool, len(q.Done))
		for _, c := range q.Done {
			done[c] = true
		}
		rv.left = slices.DeleteFunc(slices.Clone(rv.left), func(c cha.ClassID) bool { return done[c] || !l.changes.pending(c) })
		rv.left = append(rv.left, l.moreOf(rv)...)
		if len(rv.left) > 0 {
			l.link.Reply(box, &link.Left{Classes: rv.left})
			return
		}
		l.finishReveal(q.Method)
	}
	l.link.Reply(box, &link.Left{})
}

func (l *loop) finishReveal(id int32) {
	rv := l.reveals[id]
	if rv == nil {
		return
	}
	delete(l.reveals, id)
	if !l.patience.bounded() { // else the target says it
		l.stats.longestWait = max(l.stats.longestWait, time.Duration(l.s.now()-rv.since))
	}
	late := id > 0 && l.settle(id)
	late = l.revealed(rv.plan.Revealed) || late
	late = !l.answer(rv, nil) && id < 0 || rv.gone || late
	if late {
		l.gaveUp(rv.owed)
	}
	l.lateInForce()
	l.markReveal(rv)
}

// answer lets the threads go on that wait for a reveal. It reports false if one had not
// waited for that.
func (l *loop) answer(rv *reveal, left []cha.ClassID) bool {
	if len(left) > 0 {
		l.beginPauses()
	}
	all := true
	for _, b := range rv.boxes {
		all = l.link.Reply(b, &link.Left{Classes: left}) && all
	}
	rv.boxes = nil
	return all
}

func methodID(m *hotswap.Method) cha.MethodID {
	return cha.MethodID{Class: cha.ClassID(m.Class), Name: m.Key.Name, Desc: m.Key.Desc}
}

func keyOf(id cha.MethodID) (hotswap.ClassID, probe.MethodKey) {
	return hotswap.ClassID(id.Class), probe.MethodKey{Name: id.Name, Desc: id.Desc}
}
