package roots

import (
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/cha"
)

// An Early is a root if it implements an abstract one, which supertypes that are
// not known have yet to show.
type Early struct {
	ID     cha.MethodID
	Lambda *cha.Lambda // whose body it is; nil of a method of its own
}

// IsEarly tells whether a method is one of the early ones.
func (r *Root) IsEarly(id cha.MethodID) bool {
	return slices.ContainsFunc(r.Early, func(e Early) bool { return e.ID == id })
}

// Hanging reports whether a class has a supertype that is not known. All that are
// loaded are, and they are loaded before it is defined. What claims to be above itself will
// not be defined (JVMS §5.3.5).
func (c *Catalog) Hanging(m *cha.ClassMirror) bool { return c.hanging(m, nil) }

// hanging is Hanging; below is the path down from the class.
func (c *Catalog) hanging(m *cha.ClassMirror, below []*cha.ClassMirror) bool {
	return slices.Contains(below, m) || c.unknown(append([]string{m.Super}, m.Interfaces...), append(below, m))
}

// Unknown reports whether one of several classes, or a supertype of it, is not known.
func (c *Catalog) Unknown(names []string) bool { return c.unknown(names, nil) }

func (c *Catalog) unknown(names []string, below []*cha.ClassMirror) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if name == "" || strings.HasPrefix(name, "java/") {
			return false
		}
		known := c.h.Named(name)
		return len(known) == 0 || slices.ContainsFunc(known, func(k *cha.ClassMirror) bool { return c.hanging(k, below) })
	})
}

// Implements reports whether a method implements one that a root names, or is the body
// of a lambda that does.
func (c *Catalog) Implements(r *Root, id cha.MethodID) bool {
	m := c.h.Class(id.Class)
	return slices.ContainsFunc(r.Abstract, func(a cha.MethodID) bool {
		if a.Name == id.Name && a.Desc == id.Desc && c.h.Extends(id.Class, a.Class.Name) {
			return true
		}
		of := c.h.Class(a.Class)
		return m != nil && of != nil && !c.Hanging(m) && slices.Contains(c.Implementations(a, of.IsInterface()), id)
	})
}
