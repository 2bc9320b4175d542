package cha

import "strings"

// JDK reports whether a class belongs to the JDK and is excluded. Its code is
// taken for unknown even if it is known.
func (h *Hierarchy) JDK(m *ClassMirror) bool {
	k := h.Loader(m.ID.Loader).Kind
	return m.Excluded && (k == LoaderBoot || k == LoaderPlatform)
}

// Callbacks calls f for the methods that code of the JDK can call by
// overriding: those of other classes that override or implement a method which
// a supertype in the JDK declares, finalize included, and values() of enums,
// which the JDK calls by reflection. It looks at the given classes and their
// subtypes, at all classes if none is given, and may call f for methods that
// they inherit.
//
// Of a class that is loose, or has a supertype in the JDK of unknown methods,
// it takes every method whose descriptor the JDK could have written.
func (h *Hierarchy) Callbacks(f func(Hit), ids ...ClassID) {
	var xs []*node
	if len(ids) == 0 {
		for _, n := range h.classes {
			xs = append(xs, n)
		}
	} else {
		xs = h.descendants(h.nodes(ids)...)
	}
	seen := map[*Method]bool{}
	for _, x := range xs {
		if !x.jdk {
			h.callbacks(x, x.loose || x.early && len(ids) > 0, seen, f)
		}
	}
}

func (h *Hierarchy) callbacks(x *node, doubt bool, seen map[*Method]bool, f func(Hit)) {
	up := h.ancestors(x)
	for _, a := range up {
		doubt = doubt || a.jdk && a.opaque()
	}
	for _, a := range up {
		if a.jdk {
			continue
		}
		for i := range a.m.Methods {
			m := &a.m.Methods[i]
			if seen[m] {
				continue
			}
			if m.virtual() && (overridesJDK(up, m.sym) || doubt && h.Foreign(m.Desc)) || enumValues(a.m, m) {
				seen[m] = true
				f(Hit{a.m, m})
			}
		}
	}
}

func overridesJDK(up []*node, s sym) bool {
	for _, a := range up {
		if !a.jdk {
			continue
		}
		m := a.find(s)
		if m != nil && m.virtual() && m.Access&accFinal == 0 && m.Access&(accPublic|accProtected) != 0 {
			return true
		}
	}
	return false
}

// Foreign reports whether the JDK may declare a method with this descriptor: it
// knows none of the other classes.
func (h *Hierarchy) Foreign(desc string) bool {
	for d := desc; ; {
		i := strings.IndexByte(d, 'L')
		if i < 0 {
			return true
		}
		name, rest, _ := strings.Cut(d[i+1:], ";")
		d = rest
		known := h.byName[name]
		app := len(known) > 0
		for _, n := range known {
			app = app && !n.jdk
		}
		if app {
			return false
		}
	}
}

// enumValues reports whether m is the static method that Enum.valueOf, EnumSet
// and EnumMap call.
func enumValues(c *ClassMirror, m *Method) bool {
	return c.IsEnum() && m.IsStatic() && m.Name == "values" && strings.HasPrefix(m.Desc, "()[L")
}

// Extends reports whether a class of this name is the class or among its known
// supertypes.
func (h *Hierarchy) Extends(id ClassID, name string) bool {
	n := h.classes[id]
	if n == nil {
		return false
	}
	for _, a := range h.ancestors(n) {
		if a.m.ID.Name == name {
			return true
		}
	}
	return false
}
