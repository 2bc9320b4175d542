package verify

// A Hierarchy knows classes by internal name, as seen from the loader of the
// class that is verified.
type Hierarchy interface {
	// Class returns the superclass of a class, "" for java/lang/Object, and
	// whether it is an interface. It does not ask for arrays.
	Class(name string) (super string, isInterface, ok bool)
}

// Protected is a Hierarchy that also knows members.
type Protected interface {
	Hierarchy
	// Protected returns the class that declares the member which class
	// has, by itself or from a supertype, if that member is protected.
	Protected(class, name, desc string) (declarer string, ok bool)
}

// Names of classes that the rules mention.
const (
	nameObject       = "java/lang/Object"
	nameThrowable    = "java/lang/Throwable"
	nameCloneable    = "java/lang/Cloneable"
	nameSerializable = "java/io/Serializable"
)

// maxSupers bounds the walk up a hierarchy, which may have a circle if the
// answers come from bytes that no JVM has accepted.
const maxSupers = 1000

// subclass reports whether from is to or a subclass of it, and whether the
// hierarchy knew.
func subclass(h Hierarchy, from, to string) (is, known bool) {
	for range maxSupers {
		if from == to {
			return true, true
		}
		if from == "" {
			return false, true
		}
		super, _, ok := h.Class(from)
		if !ok {
			return false, false
		}
		from = super
	}
	return false, false
}

// assignable reports whether a reference of one class or array type may be
// used as another (§4.10.1.2). Where protected is set the question is about
// access to a protected member, for which interfaces don't count as Object.
func assignable(h Hierarchy, from, to string, protected bool) bool {
	for {
		switch {
		case from == to, to == nameObject:
			return true
		case to == "" || from == "":
			return false
		case to[0] != '[':
			return toClass(h, from, to, protected)
		case from[0] != '[':
			return false
		}
		var ok bool
		if from, ok = component(from); !ok {
			return false
		}
		if to, ok = component(to); !ok {
			return false
		}
		if len(from) == 1 || len(to) == 1 {
			if isPrimitive(from) || isPrimitive(to) {
				return from == to
			}
		}
		from, to = className(from), className(to)
	}
}

// noInterfaces are classes of which that is known without a hierarchy: an Object can't be passed as one of them
// (JVMS §4.10.1.2).
var noInterfaces = map[string]bool{"java/lang/String": true, "java/lang/Class": true, "java/lang/Throwable": true, "java/lang/StringBuilder": true}

func toClass(h Hierarchy, from, to string, protected bool) bool {
	_, isInterface, ok := h.Class(to)
	array := from[0] == '['
	switch {
	case !ok && from == nameObject && noInterfaces[to]:
		return false
	case !ok:
		return !array || to == nameCloneable || to == nameSerializable
	case isInterface && !(protected && from == nameObject):
		return !array || to == nameCloneable || to == nameSerializable
	case array:
		return false
	}
	is, known := subclass(h, from, to)
	return is || !known
}

// component returns the component type of an array type as a descriptor.
func component(array string) (string, bool) {
	return array[1:], len(array) > 1
}

// className returns the class that a descriptor names: internal form, or the
// descriptor itself for an array or a primitive type.
func className(desc string) string {
	if len(desc) > 2 && desc[0] == 'L' {
		return desc[1 : len(desc)-1]
	}
	return desc
}

func isPrimitive(desc string) bool {
	if len(desc) != 1 {
		return false
	}
	switch desc[0] {
	case 'B', 'C', 'D', 'F', 'I', 'J', 'S', 'Z':
		return true
	}
	return false
}
