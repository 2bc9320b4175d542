package scheme

import (
	"strings"

	"github.com/rivulet-profiler/rivulet/cha"
)

// An effect is what a call of the JDK can do to application code besides
// calling the methods that cha finds for it.
type effect struct {
	any    bool       // call anything that overrides a method of the JDK
	calls  []cha.Call // call these
	inside bool       // the call itself stays in the JDK: cha finds no application method for it
}

// Final classes whose objects hold no application code.
var values = set("java/lang/String", "java/lang/StringBuilder", "java/lang/StringBuffer",

	"java/lang/Math", "java/lang/StrictMath", "java/lang/System",
	"java/lang/Integer", "java/lang/Long", "java/lang/Short", "java/lang/Byte",
	"java/lang/Character", "java/lang/Boolean", "java/lang/Float", "java/lang/Double")

// Methods that call nothing back although a parameter may be any object, or
// their class may be extended. Most of them are called from everywhere.
var quiet = set(
	"java/lang/Object.<init>()V", "java/lang/Object.getClass()Ljava/lang/Class;",
	"java/lang/Object.clone()Ljava/lang/Object;",
	"java/lang/Object.notify()V", "java/lang/Object.notifyAll()V",
	"java/lang/Enum.<init>(Ljava/lang/String;I)V", "java/lang/Enum.ordinal()I",
	"java/lang/Enum.name()Ljava/lang/String;", "java/lang/Record.<init>()V",
	"java/lang/Thread.currentThread()Ljava/lang/Thread;",
	"java/lang/System.arraycopy(Ljava/lang/Object;ILjava/lang/Object;II)V",
	"java/lang/System.identityHashCode(Ljava/lang/Object;)I",
	"java/util/Objects.requireNonNull(Ljava/lang/Object;)Ljava/lang/Object;",
	"java/util/Objects.requireNonNull(Ljava/lang/Object;Ljava/lang/String;)Ljava/lang/Object;",
	// Finals of the value classes that look at the class of their argument first.
	"java/lang/String.equals(Ljava/lang/Object;)Z", "java/lang/Integer.equals(Ljava/lang/Object;)Z",
	"java/lang/Long.equals(Ljava/lang/Object;)Z", "java/lang/Short.equals(Ljava/lang/Object;)Z",
	"java/lang/Byte.equals(Ljava/lang/Object;)Z", "java/lang/Character.equals(Ljava/lang/Object;)Z",
	"java/lang/Boolean.equals(Ljava/lang/Object;)Z", "java/lang/Float.equals(Ljava/lang/Object;)Z",
	"java/lang/Double.equals(Ljava/lang/Object;)Z",
)

// Methods of System that may call the program although they get but a string: its class
// loaders, its libraries' JNI_OnLoad, what makes its loggers. Taken for harmless all the
// same are properties that a program has put in place of the JDK's, and its charsets.
var loud = set("load", "loadLibrary", "getLogger")

// Bootstrap methods whose call sites only make an object of their arguments.
// The others of the JDK run toString, equals or hashCode of them, now or later.
const lambdas = "java/lang/invoke/LambdaMetafactory"

// Bootstrap methods themselves only make code, for arguments from the constant
// pool.
var bootstraps = set(lambdas, "java/lang/invoke/StringConcatFactory", "java/lang/invoke/ConstantBootstraps",

	"java/lang/runtime/ObjectMethods", "java/lang/runtime/SwitchBootstraps")

// Throwable's constructors call fillInStackTrace, which exceptions override to
// save its time.
var fillInStackTrace = cha.Call{
	Kind: cha.Virtual, Owner: "java/lang/Throwable",
	Name: "fillInStackTrace", Desc: "()Ljava/lang/Throwable;",
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// effectOf returns what a call does that goes to the JDK by name. A call to an
// application class, which may inherit a method of the JDK, has no effect here:
// see leadsOut.
func effectOf(h *cha.Hierarchy, from cha.ClassID, c *cha.Call) effect {
	switch {
	case c.Kind == cha.Dynamic:
		return effect{any: c.Owner != lambdas && !plain(c.Desc), inside: true}
	case strings.HasPrefix(c.Owner, "["):
		return effect{any: c.Name != "clone" && c.Name != "getClass"}
	case !jdkName(h, from, c.Owner):
		return effect{}
	}
	// A call of super.m() may name a class of the JDK and still find a method of
	// an application class between (JVMS §6.5 invokespecial).
	exact := values[c.Owner] || c.Name == "<init>" || c.How() == cha.Static
	switch {
	case harmless(c):
		return effect{inside: exact}
	case c.Name == "<init>" && plain(c.Desc) && extends(h, c.Owner, fillInStackTrace.Owner):
		return effect{calls: []cha.Call{fillInStackTrace}, inside: true}
	}
	return effect{any: true, inside: exact}
}

// leadsOut reports whether a call that reaches class t of the JDK, though it
// may name another, can call back.
func leadsOut(h *cha.Hierarchy, c *cha.Call, t *cha.ClassMirror) bool {
	at := *c
	at.Owner = t.ID.Name
	return !harmless(c) && !harmless(&at)
}

// harmless reports whether a call of the JDK can't call back, since no argument
// can carry application code or since nothing is done with it.
func harmless(c *cha.Call) bool {
	switch {
	case c.Owner == "java/lang/System" && loud[c.Name]:
		return false
	case values[c.Owner] && plain(c.Desc):
		return true
	case bootstraps[c.Owner]:
		return true
	}
	return quiet[c.Owner+"."+c.Name+c.Desc]
}

// plain reports whether all parameters are primitives, arrays of them, or of
// the value classes.
func plain(desc string) bool {
	for i := 1; i < len(desc) && desc[i] != ')'; i++ {
		if desc[i] != 'L' {
			continue
		}
		end := strings.IndexByte(desc[i:], ';')
		if end < 0 || !values[desc[i+1:i+end]] {
			return false
		}
		i += end
	}
	return true
}

// opaque reports whether a scheme looks no further than this: a class of the
// JDK, or an excluded one whose code is not known.
func opaque(h *cha.Hierarchy, t cha.Hit) bool {
	return t.Class.Excluded && (t.Method == nil || h.JDK(t.Class))
}

// jdkName reports whether a name can only mean an excluded class of the JDK to
// classes of a loader.
func jdkName(h *cha.Hierarchy, from cha.ClassID, name string) bool {
	known := h.Named(name)
	if len(known) == 0 {
		return strings.HasPrefix(name, "java/")
	}
	for _, m := range known {
		if !h.JDK(m) {
			return false
		}
	}
	return strings.HasPrefix(name, "java/") || h.Loader(from.Loader).Kind != cha.LoaderOther
}

func extends(h *cha.Hierarchy, name, super string) bool {
	for _, m := range h.Named(name) {
		if h.Extends(m.ID, super) {
			return true
		}
	}
	return false
}

// setCallbacks plans all callbacks, and those of classes to come.
func (c *core) setCallbacks() {
	c.callbacks = true
	if c.scout {
		return
	}
	c.h.Callbacks(c.callback)
}

func (c *core) callback(t cha.Hit) {
	if c.may != nil && !c.may(t.Method.Name, t.Method.Desc) {
		c.withheld[t.ID()] = true
		return
	}
	c.calledBack(t)
}

// calledBack plans a method that excluded code may call.
func (c *core) calledBack(t cha.Hit) {
	was := c.back
	c.back = true
	c.hit(nil, t)
	c.back = was
}

// named plans the callbacks that were withheld and need not be any more.
func (c *core) named() {
	for id := range c.withheld {
		if c.may != nil && !c.may(id.Name, id.Desc) {
			continue
		}
		delete(c.withheld, id)
		if class, m := c.h.Class(id.Class), c.h.Method(id); class != nil && m != nil {
			c.calledBack(cha.Hit{Class: class, Method: m})
		}
	}
}

// anything plans all callbacks: JNI code may call what it likes.
func (c *core) anything() {
	c.may = nil
	c.named()
	if !c.callbacks {
		c.setCallbacks()
	}
}
