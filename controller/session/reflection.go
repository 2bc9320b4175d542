package session

import (
	"context"
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/controller/patch"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// reflection follows calls whose target no code names: reflection, method handles,
// and call sites that a bootstrap method of the program links
// (docs/decisions/0014-reflection.md). The methods of the JDK through which all of
// them pass tell the class Reflection in the target what is about to be called. The
// thread waits at the first use inside the subgraph until that has probes. These
// classes of the JDK are no part of the analysis.
type reflection struct {
	jdkPatches
	on bool

	// discarded is the number of the change (changes) with which compiled code
	// that has inlined targets of handles was last thrown away.
	discarded int64
	inlined   []cha.MethodID // that such code may have inlined, until it is thrown away; where nobody waits for that
}

// Why a call site is listed.
const (
	foundLater  = "reflection: what is called through it is found at its first use"
	notFollowed = "reflection: what is called through it is recorded only if something else reveals it"
)

// unknownTarget is why a method that was found is not recorded.
const unknownTarget scheme.Reason = "found by reflection, in a class whose bytes can't be had"

// follows says what is not seen of calls that lead on to methods which no code names,
// "" if all is.
func (r *reflection) follows(cha.Call) string {
	if !r.on || r.problem != "" {
		return notFollowed
	}
	return ""
}

// followReflection changes the classes, before the gate opens.
func (s *Session) followReflection(ctx context.Context) error {
	edit, err := patch.Reflection(s.bundle.Part("Reflection"))
	if err != nil {
		return err
	}
	r := reflection{on: true, jdkPatches: jdkPatches{Edit: edit}}
	return s.patchJDK(ctx, &r.jdkPatches, func() { s.loop.reflection = r })
}

// onTargets has methods instrumented that a thread is about to call in a way that no
// code tells.
func (l *loop) onTargets(q *link.Targets, box int) {
	ids := q.Methods
	if q.Number >= 0 || l.scheme == nil || l.final != nil {
		l.link.Reply(box, &link.Left{})
		return
	}
	for _, id := range ids {
		l.s.log.Debug("reflection", "target", id)
		if l.ofJDK(id.Class) { // what overrides it may have been left out, since nobody names it
			if l.jdkCalls.names != nil {
				l.jdkCalls.names.Ref(id.Name, id.Desc)
			}
		} else if l.h.Method(id) == nil {
			l.skipped = append(l.skipped, scheme.Skip{Method: id, Reason: unknownTarget})
		}
	}
	if l.s.watching != nil {
		l.link.Reply(box, &link.Left{})
		end := l.analyse()
		p := l.scheme.Found(ids)
		p.Append(l.moreCallbacks())
		end()
		about := map[cha.MethodID]int64{} // to be called, with probes or without
		for _, id := range ids {
			about[id] = -1
			if l.probed(id) && l.changes.lacked(id.Class, q.Redefined) { // planned before, and called without probes
				l.patience.addLate(id, -1)
			}
		}
		l.inTime(p, about)
		l.discardInTime(ids)
		return
	}
	rv := &reveal{found: ids, boxes: []int{box}, since: l.s.now(), threads: 1, gone: q.Gone}
	l.reveals[q.Number] = rv
	end := l.analyse()
	p := l.scheme.Found(ids)
	p.Append(l.moreCallbacks())
	end()
	l.carryOut(q.Number, rv, p)
}

// discardInTime throws such code away behind what was found, while nobody waits. What it
// had inlined until then was not recorded.
func (l *loop) discardInTime(ids []cha.MethodID) {
	if !l.discardInlined(ids) {
		return
	}
	r := &l.reflection
	for _, id := range ids {
		if l.probed(id) {
			r.inlined = append(r.inlined, id)
		}
	}
	if l.armed {
		l.inlinedLate()
	}
	w := l.s.watching
	w.jobs++
	l.enqueue(&job{classes: []cha.ClassID{{Name: patch.HandleClass}}, all: true, done: func([]cha.ClassID) {
		w.jobs--
		w.woke = time.Now()
		if !l.changes.pending(cha.ClassID{Name: patch.HandleClass}) {
			r.inlined = nil
		}
		l.lateInForce()
	}})
}

// inlinedLate notes that compiled code may have inlined methods without their probes, and is
// not thrown away yet.
func (l *loop) inlinedLate() {
	for _, id := range l.reflection.inlined {
		l.patience.addLate(id, -1)
	}
}

// discardInlined wants compiled code thrown away that may have inlined methods as targets
// of handles and lacks their probes, which are wanted by now. It reports whether there may be any.
func (l *loop) discardInlined(ids []cha.MethodID) bool {
	r := &l.reflection
	if !slices.ContainsFunc(ids, func(id cha.MethodID) bool { return l.changes.since(id.Class, r.discarded) }) {
		return false
	}
	r.discarded = l.changes.want(cha.ClassID{Name: patch.HandleClass})
	return true
}

// discardLast puts the class of discardInlined behind those whose probes the code lacks.
func discardLast(ids []cha.ClassID) []cha.ClassID {
	i := slices.Index(ids, cha.ClassID{Name: patch.HandleClass})
	if i < 0 {
		return ids
	}
	return append(slices.Delete(ids, i, i+1), cha.ClassID{Name: patch.HandleClass})
}
