package session

import (
	"context"
	"fmt"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// reflection is how calls by reflection are followed: the JDK's methods through
// which all of them go say at their entry what they are about to call. The
// thread waits at its first use inside the subgraph until that is instrumented
// (jvmside: Reflection.reflected). These classes are no part of the analysis.
type reflection struct {
	doors
	on       bool
	injector *probe.Injector
}

// reflectiveMethods are those methods, by class of the boot loader. Of a
// constructor's, newInstance goes on to the second where there is one (JDK 12).
var reflectiveMethods = map[string][]string{
	"java/lang/reflect/Method":      {"invoke"},
	"java/lang/reflect/Constructor": {"newInstance", "newInstanceWithCaller"},
}

// reflectedHook is what they call.
func (s *Session) reflectedHook() probe.Call {
	return probe.Call{Class: s.bundle.Part("Reflection"), Name: "reflected", Desc: "(Ljava/lang/Object;)V"}
}

// Why a call site is listed.
const (
	foundLater   = "reflection: what is called through it is found at its first use"
	notFollowed  = "reflection: what is called through it is recorded only if something else reveals it"
	notInitiated = "reflection: the initializer of a class that was loaded already is recorded only if something else reveals it"
)

// unknownTarget is why a method that was found is not recorded.
const unknownTarget scheme.Reason = "found by reflection, in a class whose bytes can't be had"

// follows says what is not seen of a call that leads on to methods which no code
// names, "" if all is.
func (r *reflection) follows(c cha.Call) string {
	switch {
	case !r.on || r.problem != "":
		return notFollowed
	case c.Owner == "java/lang/Class" && c.Name == "forName":
		return notInitiated
	}
	return ""
}

// followReflection changes the classes, before the gate opens.
func (s *Session) followReflection(ctx context.Context) error {
	in, err := probe.NewInjector(probe.Program{
		Calls: []probe.Call{s.reflectedHook()},
		Entry: probe.Sequence{{Kind: probe.StepThis}, {Kind: probe.StepCall, Call: 0}},
	})
	if err != nil {
		return err
	}
	r := reflection{on: true, injector: in, doors: doors{rewrites: map[string]rewriter{}}}
	for name := range reflectiveMethods {
		r.rewrites[name] = r.rewrite
	}
	return s.openDoors(ctx, &r.doors, func() { s.loop.reflection = r })
}

// rewrite puts the calls of reflected into a class.
func (r reflection) rewrite(l *loop, id cha.ClassID, b []byte) ([]byte, error) {
	cf, err := classfile.Parse(b)
	if err != nil {
		return nil, err
	}
	names := reflectiveMethods[id.Name]
	last := ""
	for _, name := range names {
		for i := range cf.Methods {
			if cf.Methods[i].Name == name {
				last = name
			}
		}
	}
	out, err := inject(l, id, b, r.injector, func(k probe.MethodKey) (int32, bool) {
		m := cf.Method(k.Name, k.Desc)
		return 0, k.Name == last && !m.Access.Has(classfile.AccStatic) && !m.Access.Has(classfile.AccNative)
	})
	if err == nil && out == nil {
		err = fmt.Errorf("it has no method %s to follow", names[0])
	}
	return out, err
}

// onTargets has methods instrumented that a thread is about to call by
// reflection or a method handle.
func (l *loop) onTargets(r *wire.Reader, box int) error {
	number := int32(r.U32())
	var ids []cha.MethodID
	for n := r.Count(10); n > 0; n-- {
		ids = append(ids, cha.MethodID{Class: cha.ClassID{Loader: r.U32(), Name: r.Str()}, Name: r.Str(), Desc: r.Str()})
	}
	if r.Err() != nil {
		return r.Err()
	}
	if number >= 0 || l.scheme == nil || l.final != nil {
		l.mail.reply(box, leftReply(nil))
		return nil
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
	rv := &reveal{boxes: []int{box}, since: l.s.now(), threads: 1}
	l.reveals[number] = rv
	end := l.analyse()
	p := l.scheme.Found(ids)
	p.Append(l.moreCallbacks())
	end()
	l.carryOut(number, rv, p)
	return nil
}
