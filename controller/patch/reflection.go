package patch

import (
	"fmt"
	"slices"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// HandleClass has the methods through which compiled code reaches the target of any
// direct method handle. HotSpot's compiler C1 does not record that code depends on such
// a target which it has inlined, so the code stays when the target is redefined
// (measured on JDK 8, 11 and 25; not seen on 17 and 21). It does record that the code
// depends on the methods of this class, and throws it away when the class is redefined,
// be it by itself.
const HandleClass = "java/lang/invoke/DirectMethodHandle"

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

// Reflection follows calls whose target no code names (docs/decisions/0014-reflection.md): the methods
// of the JDK through which all of them pass tell a class of the target, by its name there, what is about to be
// called. [HandleClass] is among the classes, unchanged. It gives an error only if a program of its own is wrong.
func Reflection(class string) (Edit, error) {
	e := Edit{Classes: map[string]Rewriter{}}
	e.Classes[HandleClass] = func(_ Target, _ cha.ClassID, b []byte) ([]byte, error) { return b, nil }
	hooks := map[string][]reflectiveHook{}
	for _, m := range reflectiveMethods {
		in, err := probe.NewInjector(m.hook.program(class))
		if err != nil {
			return Edit{}, err
		}
		hooks[m.class] = append(hooks[m.class], reflectiveHook{m, in})
	}
	for name, hs := range hooks {
		e.Classes[name] = func(t Target, id cha.ClassID, b []byte) ([]byte, error) {
			var err error
			for _, h := range hs {
				if b, err = h.rewrite(t, id, b); err != nil {
					return nil, err
				}
			}
			return b, nil
		}
	}
	return e, nil
}

// A reflectiveHook is a row of reflectiveMethods with its program.
type reflectiveHook struct {
	reflectiveMethod
	in *probe.Injector
}

// rewrite puts the hook into a class.
func (h reflectiveHook) rewrite(t Target, id cha.ClassID, b []byte) ([]byte, error) {
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
	out, err := inject(t, id, b, h.in, func(k probe.MethodKey) (int32, bool) {
		m := cf.Method(k.Name, k.Desc)
		return 0, k.Name == last && m.Access.Has(classfile.AccStatic) == static && !m.Access.Has(classfile.AccNative)
	})
	if err == nil && out == nil {
		err = fmt.Errorf("it has no method %s to follow", h.names[0])
	}
	return out, err
}
