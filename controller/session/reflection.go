package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// reflection follows calls whose target no code names: reflection, method handles,
// and call sites that a bootstrap method of the program links
// (docs/decisions/0014-reflection.md). The methods of the JDK through which all of
// them pass tell the class Reflection in the target what is about to be called. The
// thread waits at the first use inside the subgraph until that has probes. These
// classes of the JDK are no part of the analysis.
type reflection struct {
	doors
	on bool

	// discarded is the number of the change (changes) with which compiled code
	// that has inlined targets of handles was last thrown away.
	discarded int64
	inlined   []cha.MethodID // that such code may have inlined, until it is thrown away; where nobody waits for that
}

// handleClass has the methods through which compiled code reaches the target of any
// direct method handle. HotSpot's compiler C1 does not record that code depends on such
// a target which it has inlined, so the code stays when the target is redefined
// (measured on JDK 8, 11 and 25; not seen on 17 and 21). It does record that the code
// depends on the methods of this class, and throws it away when the class is redefined,
// be it by itself.
const handleClass = "java/lang/invoke/DirectMethodHandle"

// A reflectiveMethod is a method of the JDK that tells what is about to be called.
type reflectiveMethod struct {
	class string
	names []string // the last one that the class declares; of constructors, newInstance goes on to the second (JDK 12)
	hook  hookKind
}

// A hookKind says what is told, and where in the method.
type hookKind uint8

const (
	hookThis   hookKind = iota // at the entry: this
	hookFirst                  // at the entry: the first parameter of a static method
	hookResult                 // at each return: what is returned
	hookLinked                 // at each return of CallSite.makeSite: the call site, its bootstrap method, the calling class
)

// reflectiveMethods is the same on JDK 8 to 25. All invokers, invoke and invokeExact
// pass through checkExactType or checkGenericType, whoever calls them; each execution
// of an invokedynamic instruction whose call site may change its target through
// getCallSiteTarget; the linking of one through makeSite.
var reflectiveMethods = []reflectiveMethod{
	{"java/lang/reflect/Method", []string{"invoke"}, hookThis},
	{"java/lang/reflect/Constructor", []string{"newInstance", "newInstanceWithCaller"}, hookThis},
	{"java/lang/invoke/Invokers", []string{"checkExactType"}, hookFirst},
	{"java/lang/invoke/Invokers", []string{"checkGenericType"}, hookFirst},
	{"java/lang/invoke/Invokers", []string{"getCallSiteTarget"}, hookResult},
	{"java/lang/invoke/CallSite", []string{"makeSite"}, hookLinked},
}

// program is what a hook injects; class is the class Reflection in the target.
func (k hookKind) program(class string) probe.Program {
	reflected := probe.Call{Class: class, Name: "reflected", Desc: "(Ljava/lang/Object;)V"}
	call := probe.Step{Kind: probe.StepCall}
	result := probe.Step{Kind: probe.StepResult}
	switch k {
	case hookFirst:
		return probe.Program{Calls: []probe.Call{reflected}, Entry: probe.Sequence{{Kind: probe.StepParam, Slot: 0}, call}}
	case hookResult:
		return probe.Program{Calls: []probe.Call{reflected}, Exit: probe.Sequence{result, call}}
	case hookLinked:
		linked := probe.Call{Class: class, Name: "linked", Desc: "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)V"}
		return probe.Program{Calls: []probe.Call{linked}, Exit: probe.Sequence{
			result, {Kind: probe.StepParam, Slot: 0}, {Kind: probe.StepParam, Slot: 4}, call,
		}}
	default:
		return probe.Program{Calls: []probe.Call{reflected}, Entry: probe.Sequence{{Kind: probe.StepThis}, call}}
	}
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
	r := reflection{on: true, doors: doors{rewrites: map[string]rewriter{}}}
	r.rewrites[handleClass] = func(_ *loop, _ cha.ClassID, b []byte) ([]byte, error) { return b, nil }
	hooks := map[string][]reflectiveHook{}
	for _, m := range reflectiveMethods {
		in, err := probe.NewInjector(m.hook.program(s.bundle.Part("Reflection")))
		if err != nil {
			return err
		}
		hooks[m.class] = append(hooks[m.class], reflectiveHook{m, in})
	}
	for class, hs := range hooks {
		r.rewrites[class] = func(l *loop, id cha.ClassID, b []byte) ([]byte, error) {
			var err error
			for _, h := range hs {
				if b, err = h.rewrite(l, id, b); err != nil {
					return nil, err
				}
			}
			return b, nil
		}
	}
	return s.openDoors(ctx, &r.doors, func() { s.loop.reflection = r })
}

// A reflectiveHook is a row of reflectiveMethods with its program.
type reflectiveHook struct {
	reflectiveMethod
	in *probe.Injector
}

// rewrite puts the hook into a class.
func (h reflectiveHook) rewrite(l *loop, id cha.ClassID, b []byte) ([]byte, error) {
	cf, err := classfile.Parse(b)
	if err != nil {
		return nil, err
	}
	last := ""
	for _, name := range h.names {
		if slices.ContainsFunc(cf.Methods, func(m classfile.Member) bool { return m.Name == name }) {
			last = name
		}
	}
	static := h.hook != hookThis
	out, err := inject(l, id, b, h.in, func(k probe.MethodKey) (int32, bool) {
		m := cf.Method(k.Name, k.Desc)
		return 0, k.Name == last && m.Access.Has(classfile.AccStatic) == static && !m.Access.Has(classfile.AccNative)
	})
	if err == nil && out == nil {
		err = fmt.Errorf("it has no method %s to follow", h.names[0])
	}
	return out, err
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
			if l.calling.names != nil {
				l.calling.names.Ref(id.Name, id.Desc)
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
				l.addLate(id, -1)
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
	l.enqueue(&job{classes: []cha.ClassID{{Name: handleClass}}, all: true, done: func([]cha.ClassID) {
		w.jobs--
		w.woke = time.Now()
		if !l.changes.pending(cha.ClassID{Name: handleClass}) {
			r.inlined = nil
		}
		l.lateInForce()
	}})
}

// inlinedLate notes that compiled code may have inlined methods without their probes, and is
// not thrown away yet.
func (l *loop) inlinedLate() {
	for _, id := range l.reflection.inlined {
		l.addLate(id, -1)
	}
}

// discardInlined wants compiled code thrown away that may have inlined methods as targets
// of handles and lacks their probes, which are wanted by now. It reports whether there may be any.
func (l *loop) discardInlined(ids []cha.MethodID) bool {
	r := &l.reflection
	if !slices.ContainsFunc(ids, func(id cha.MethodID) bool { return l.changes.since(id.Class, r.discarded) }) {
		return false
	}
	r.discarded = l.changes.want(cha.ClassID{Name: handleClass})
	return true
}

// discardLast puts the class of discardInlined behind those whose probes the code lacks.
func discardLast(ids []cha.ClassID) []cha.ClassID {
	i := slices.Index(ids, cha.ClassID{Name: handleClass})
	if i < 0 {
		return ids
	}
	return append(slices.Delete(ids, i, i+1), cha.ClassID{Name: handleClass})
}
