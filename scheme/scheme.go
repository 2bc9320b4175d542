// Package scheme decides which methods are instrumented, and when, so that a
// call subgraph is recorded whole (M. Dmitriev, "Design of JFluid", SMLI TR-2003-125,
// section 6).
//
// A [Scheme] is told what happens in the target and answers with a [Plan]. It
// rests on package cha: every method that a represented call can reach is
// planned before its caller runs on, so no call of the subgraph is missed, on
// these conditions:
//
//   - Plans are carried out in the order in which they were given.
//   - The thread that enters a fresh method waits until the plan that
//     [Scheme.Entered] returns is done, and so does every other thread that
//     enters it meanwhile.
//   - Each class is added to the hierarchy and then told to Loaded before any of
//     its code runs. What cha.Hierarchy.NeedBytes and Missing ask for is best
//     added in between: what is not known costs useless steps.
//   - Each class that was not announced, or becomes known better later (exact
//     supertypes, methods, other bytes), is added and told to Listed.
//   - [Plan.Also] is done before an object of the loading class can exist.
//
// # Callbacks
//
// Excluded classes of the JDK are not looked into. Instead, from the first call
// that could lead out of them again, or into native code of the application,
// every application method that overrides or implements one of theirs counts as
// reachable: compare, run, toString, hashCode, finalize and so on, whoever it
// was that called. A [Selector] leaves out those that nothing in the JDK can
// name. See callback.go for calls that can't. Classes excluded in other loaders are followed as if they were not,
// except that they are not instrumented; so are filtered methods, except for those
// that are roots.
//
// # What cannot be seen
//
// Reflection, method handles found by name, service loaders, deserialization
// and JNI lead to methods that no code names. They are recorded only if they are
// in the subgraph for another reason, or if somebody tells [Scheme.Found] of the
// real target before it is called, as a session does. [Reflective] lists the calls.
// What the JVM itself calls (ClassLoader.loadClass of an application's loader,
// when code inside the subgraph needs a class) is planned only once a callback
// is possible.
//
// Schemes are pure and not safe for concurrent use; they change nothing in the
// hierarchy, which must not change during a call.
package scheme

import "github.com/rivulet-profiler/rivulet/cha"

// A Step is a method to be instrumented. A method is given once; a second time
// only if it turns out to be a root.
type Step struct {
	Method cha.MethodID
	Root   bool
	// Fresh asks for a trap at the first call: the method's callees are not all
	// instrumented yet. It stays until a plan lists the method in Revealed, which
	// may be the same plan.
	Fresh bool
}

// A Reason says why a reachable method is not instrumented.
type Reason string

// Reasons.
const (
	Native   Reason = "native"
	Abstract Reason = "abstract"
	Fixed    Reason = "its class can't be redefined"
	Excluded Reason = "excluded by loader or filter"                                                                   // of roots only
	Unknown  Reason = "its class has no such method"                                                                   // of roots only
	Lambda   Reason = "made of a lambda or a method reference; give the method with its body, lambda$...$0, as a root" // of timed roots only
	Opaque   Reason = "the code of its class can't be had: what it calls is recorded only if something else reveals it"
	Filtered Reason = "hidden by the filter" // its time is its callers'
)

// A Skip is a reachable method that is not instrumented. It is given once.
type Skip struct {
	Method cha.MethodID
	Reason Reason
}

// A Plan says what is to be instrumented.
type Plan struct {
	Steps []Step

	// Also is for plans of Loaded only: methods of other classes that the class
	// being loaded brings into reach, as when it inherits the implementation of
	// an interface from a class that doesn't implement it, or is the missing link
	// between two others. A class among them may be one that is still being
	// loaded below this one, hooked already but not defined.
	Also []Step

	// Revealed lists methods whose callees are all instrumented once the steps
	// are done: they need no trap from then on.
	Revealed []cha.MethodID

	Skipped []Skip

	// Watched lists methods within reach that are asleep, of a [Watcher] only. A
	// method is given once. It may have probes, too.
	Watched []cha.MethodID

	// Roused lists methods that were deferred until now, of a [Watcher] only, and have got
	// probes since for another reason: they may have been called before that.
	Roused []cha.MethodID
}

// Empty reports whether there is nothing to instrument.
func (p *Plan) Empty() bool { return len(p.Steps) == 0 && len(p.Also) == 0 }

// Append has what another plan says done after this one.
func (p *Plan) Append(q Plan) {
	p.Steps, p.Also = append(p.Steps, q.Steps...), append(p.Also, q.Also...)
	p.Revealed, p.Skipped = append(p.Revealed, q.Revealed...), append(p.Skipped, q.Skipped...)
	p.Watched, p.Roused = append(p.Watched, q.Watched...), append(p.Roused, q.Roused...)
}

// A Scheme reveals a call subgraph.
type Scheme interface {
	// Name returns the scheme's letter.
	Name() string

	// Roots makes methods roots. It may be called again. A method of a class
	// that is not known yet becomes a root when its class is loaded or listed;
	// of an abstract one, all implementations are, later ones too.
	Roots(roots []cha.MethodID) Plan

	// Entered says that a fresh method was called for the first time; its caller
	// waits.
	Entered(m cha.MethodID) Plan

	// Found says that methods, or what overrides them, are called inside the
	// subgraph in a way that the code does not tell, by reflection say. The
	// caller waits.
	Found(ms []cha.MethodID) Plan

	// Loaded says that the load hook announced a class, whose mirror was added,
	// and that none of its code has run. Steps are methods of this class, to be
	// instrumented in the bytes that are being loaded.
	Loaded(id cha.ClassID) Plan

	// Listed says that classes turned out to be loaded without having been
	// announced, or have become known better.
	Listed(ids []cha.ClassID) Plan
}

// A Loader is a scheme that makes use of who loads a class.
type Loader interface {
	Scheme

	// LoadedInside is Loaded for a class that a thread inside the subgraph loads.
	LoadedInside(id cha.ClassID) Plan
}

// A Selector is a scheme that leaves callbacks out which the JDK can't call.
type Selector interface {
	Scheme

	// Select says which methods code of the JDK may call, by name and descriptor;
	// nil, as at first, is any. It is asked during calls of the scheme. What it
	// has once allowed it allows for good.
	Select(may func(name, desc string) bool)

	// Named says that it may call more methods than before, from the moment on
	// when the plan is carried out.
	Named() Plan
}

// A Guided is a scheme that looks ahead by what the JVM has done so far. A guide can
// be wrong: it costs probes that are never called, or a stop.
type Guided interface {
	Scheme

	// Guide says which methods have been invoked in this JVM, called before Roots. nil,
	// as at first, is unknown. With eager, a redefinition costs more than the probes
	// that it saves.
	Guide(invoked func(m cha.MethodID) bool, eager bool)
}

// Reflective returns the calls of a method that lead to methods which no scheme can
// see: reflection and the like, and call sites that are linked by a bootstrap method
// other than the JDK's.
func Reflective(h *cha.Hierarchy, id cha.MethodID) []cha.Call {
	m := h.Method(id)
	if m == nil {
		return nil
	}
	calls := cha.Reflective(m)
	for _, c := range m.Calls {
		if c.Kind == cha.Dynamic && !bootstraps[c.Owner] {
			calls = append(calls, c)
		}
	}
	return calls
}
