package cha

import (
	"slices"
	"strings"
)

// Access flags that the analysis reads (JVMS tables 4.1-B and 4.6-A).
const (
	accPublic    = 0x0001
	accPrivate   = 0x0002
	accProtected = 0x0004
	accStatic    = 0x0008
	accFinal     = 0x0010
	accNative    = 0x0100
	accInterface = 0x0200
	accAbstract  = 0x0400
	accEnum      = 0x4000
)

// Names with a meaning to the JVM.
const (
	initName    = "<init>"
	clinitName  = "<clinit>"
	clinitDesc  = "()V"
	objectClass = "java/lang/Object"
)

// A ClassMirror is what the analysis knows of a class. Once added it belongs to
// the hierarchy: change it by adding another.
type ClassMirror struct {
	ID         ClassID
	Super      string   // name of the superclass; "" for java/lang/Object only
	Interfaces []string // names of the direct superinterfaces

	// Exact holds the direct supertypes with their defining loaders, as a
	// loaded class reports them. Nil while only names are known.
	Exact []ClassID

	// Source is the name of the file that the class was compiled from, without
	// its folder; "" if it doesn't say, or its bytes are not known.
	Source string

	Access      uint16
	Linked      bool // as of the last listing
	Initialized bool // as of the last listing
	Fixed       bool // the JVM can't redefine it (hidden, or it says so)
	Hidden      bool // JVMS §5.3: findable by no name
	NoBytes     bool // its bytes can't be had: not asked for again

	// Excluded classes are analysed, never instrumented. The hierarchy sets it
	// by its policy when the mirror is added.
	Excluded bool

	// Methods holds every method of the class; nil while its bytes are not
	// known, empty when it has none.
	Methods []Method

	// Lambdas are the classes that the JVM makes for the lambda expressions and
	// method references in Methods. The hierarchy adds a mirror for each.
	Lambdas []Lambda

	// Host is set on a mirror that the hierarchy added for a lambda: the class
	// that has it. Such a mirror has methods, which call the lambda's body from
	// Host, and an ID that no loaded class has.
	Host ClassID
}

// A Lambda is an object made by java.lang.invoke.LambdaMetafactory.
type Lambda struct {
	Interfaces []string
	Name       string   // of the method that it implements
	Descs      []string // the method's descriptor and those of its bridges
	Impl       Call     // what the method calls
}

// IsLambda reports whether the hierarchy made the mirror for a lambda.
func (m *ClassMirror) IsLambda() bool { return m.Host.Name != "" }

// madeByJDK are parts of the names of hidden classes (on JDK 8 anonymous ones) that the
// JDK makes at run time beside the program's: for lambdas, for which the hierarchy has
// mirrors of its own, and for handles of caller-sensitive methods.
var madeByJDK = []string{"$$Lambda", "$$InjectedInvoker", "java/lang/invoke/"}

// MadeByJDK reports whether the JDK made the class at run time. What such a class calls
// is in the arguments of bootstrap methods, or in a method handle.
func (m *ClassMirror) MadeByJDK() bool {
	return m.Hidden && slices.ContainsFunc(madeByJDK, func(part string) bool { return strings.Contains(m.ID.Name, part) })
}

// Scope returns the class from which the methods of a mirror call.
func (m *ClassMirror) Scope() ClassID {
	if m.IsLambda() {
		return m.Host
	}
	return m.ID
}

// IsInterface reports whether the class is an interface.
func (m *ClassMirror) IsInterface() bool { return m.Access&accInterface != 0 }

// IsEnum reports whether the class is an enum or the body of an enum constant.
func (m *ClassMirror) IsEnum() bool { return m.Access&accEnum != 0 }

// A Method is a method of a mirrored class.
type Method struct {
	Name, Desc string
	Access     uint16
	HasCode    bool
	Line       uint16   // of Source where its code begins; 0 if unknown
	Calls      []Call   // each once, in the order of their first appearance
	Likely     []bool   // of each of Calls: most invocations of the method make it, by the look of the code; may be nil
	Inits      []string // classes whose initialization the code can trigger (JVMS §5.5)

	// Intrinsic methods of the JDK may be replaced by a compiler's own code.
	Intrinsic bool

	// Filtered methods are analysed, not instrumented, unless they are roots.
	// The hierarchy sets it: see [Hierarchy.SetFilter].
	Filtered bool

	sym sym
}

// IsNative reports whether the method is native.
func (m *Method) IsNative() bool { return m.Access&accNative != 0 }

// IsAbstract reports whether the method is abstract.
func (m *Method) IsAbstract() bool { return m.Access&accAbstract != 0 }

// IsStatic reports whether the method is static.
func (m *Method) IsStatic() bool { return m.Access&accStatic != 0 }

// IsPrivate reports whether the method is private.
func (m *Method) IsPrivate() bool { return m.Access&accPrivate != 0 }

// IsInit reports whether the method is a constructor or class initializer.
func (m *Method) IsInit() bool { return strings.HasPrefix(m.Name, "<") }

// virtual reports whether the method can override or be overridden by name and
// descriptor.
func (m *Method) virtual() bool {
	return m.Access&(accStatic|accPrivate) == 0 && !m.IsInit()
}

// A CallKind is how a call finds its method.
type CallKind uint8

// Kinds of calls. Handle is a method handle constant, found by ldc or among
// bootstrap arguments: whoever gets it may call it. Dynamic is what an
// invokedynamic or dynamic constant runs besides such handles: Owner and Name
// are those of its bootstrap method, Desc is that of the call site.
const (
	Virtual CallKind = iota + 1
	Interface
	Special
	Static
	Handle
	Dynamic
)

var callKinds = [...]string{Virtual: "virtual", Interface: "interface", Special: "special", Static: "static", Handle: "handle", Dynamic: "dynamic"}

func (k CallKind) String() string { return callKinds[k] }

// A Call is a call instruction or method handle constant.
type Call struct {
	Kind              CallKind
	Ref               CallKind // of a Handle: how it calls
	Owner, Name, Desc string   // Owner may be an array descriptor, "[I"
}

// How returns the kind of a call, of a handle the kind that it stands for.
func (c *Call) How() CallKind {
	if c.Kind == Handle {
		return c.Ref
	}
	return c.Kind
}

// String returns "virtual java.util.List.size()I".
func (c Call) String() string {
	kind := c.Kind.String()
	if c.Kind == Handle {
		kind += "/" + c.Ref.String()
	}
	return kind + " " + MethodID{ClassID{Name: c.Owner}, c.Name, c.Desc}.String()
}
