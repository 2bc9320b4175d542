package chatest

// Subtype reports whether c is d or below it.
func (c *Class) Subtype(d *Class) bool {
	if c == d {
		return true
	}
	for _, s := range c.supers() {
		if s.Subtype(d) {
			return true
		}
	}
	return false
}

// Declared returns the method that a class itself declares.
func (c *Class) Declared(name, desc string) *Method {
	for _, m := range c.Methods {
		if m.Name == name && m.Desc == desc {
			return m
		}
	}
	return nil
}

// superinterfaces returns all superinterfaces of c, c itself not included.
func (w *World) superinterfaces(c *Class) []*Class {
	var is []*Class
	for _, i := range w.Classes {
		if i.Interface() && i != c && c.Subtype(i) {
			is = append(is, i)
		}
	}
	return is
}

// maximallySpecific returns the maximally-specific superinterface methods of c
// (§5.4.3.3), those declared in interfaces of the set.
func maximallySpecific(is []*Class, name, desc string) []*Method {
	var ms []*Method
	for _, i := range is {
		m := i.Declared(name, desc)
		if m == nil || m.Private() || m.Static() {
			continue
		}
		most := true
		for _, j := range is {
			n := j.Declared(name, desc)
			if n != nil && !n.Private() && !n.Static() && j != i && j.Subtype(i) {
				most = false
			}
		}
		if most {
			ms = append(ms, m)
		}
	}
	return ms
}

// Resolve resolves a method reference in o (§5.4.3.3, §5.4.3.4).
func (w *World) Resolve(o *Class, name, desc string) *Method {
	if o.Interface() {
		if m := o.Declared(name, desc); m != nil {
			return m
		}
		if m := w.Classes[0].Declared(name, desc); m != nil && m.Access&Public != 0 && !m.Static() {
			return m
		}
	} else {
		for c := o; c != nil; c = c.Super {
			if m := c.Declared(name, desc); m != nil {
				return m
			}
		}
	}
	ms := maximallySpecific(w.superinterfaces(o), name, desc)
	var concrete []*Method
	for _, m := range ms {
		if !m.Abstract() {
			concrete = append(concrete, m)
		}
	}
	switch {
	case len(concrete) == 1:
		return concrete[0]
	case len(ms) > 0:
		return ms[0]
	}
	return nil
}

// canOverride is §5.4.5 for methods of classes.
func canOverride(c, a *Method) bool {
	switch {
	case c == a:
		return true
	case c.Name != a.Name || c.Desc != a.Desc || c.Private() || c.Static() || c.Name == "<init>":
		return false
	case a.Access&(Public|Protected) != 0:
		return true
	case a.Private():
		return false
	case runtimePackage(c.Class) == runtimePackage(a.Class):
		return true
	}
	for b := c.Class.Super; b != nil && b != a.Class; b = b.Super {
		m := b.Declared(c.Name, c.Desc)
		if m != nil && !m.Static() && canOverride(c, m) && canOverride(m, a) {
			return true
		}
	}
	return false
}

type pkg struct {
	loader uint32
	name   string
}

func runtimePackage(c *Class) pkg { return pkg{c.ID.Loader, c.ID.Package()} }

// Select selects the method that a call which resolved to r runs on an object
// of class x (§5.4.6). Several stand for a conflict, none for an error.
func (w *World) Select(x *Class, r *Method) []*Method {
	if r.Private() {
		return []*Method{r}
	}
	for c := x; c != nil; c = c.Super {
		if m := c.Declared(r.Name, r.Desc); m != nil && !m.Static() && canOverride(m, r) {
			return []*Method{m}
		}
	}
	return concrete(maximallySpecific(w.superinterfaces(x), r.Name, r.Desc))
}

func concrete(ms []*Method) []*Method {
	var out []*Method
	for _, m := range ms {
		if !m.Abstract() {
			out = append(out, m)
		}
	}
	return out
}

// SelectDefault is what a call through interface i runs on an object whose class
// implements i, does not declare the method, and is not known.
func (w *World) SelectDefault(i *Class, name, desc string) []*Method {
	return concrete(maximallySpecific(append(w.superinterfaces(i), i), name, desc))
}

// Special is §6.5 invokespecial in class from, for names other than <init>.
func (w *World) Special(from, o *Class, name, desc string) []*Method {
	r := w.Resolve(o, name, desc)
	if r == nil {
		return nil
	}
	c := o
	if !o.Interface() && from != o && from.Subtype(o) {
		c = from.Super
	}
	for s := c; s != nil; s = s.Super {
		m := s.Declared(name, desc)
		if m != nil && !m.Static() && (!c.Interface() || s == c || m.Access&Public != 0) {
			return []*Method{m}
		}
	}
	is := w.superinterfaces(c)
	if c.Interface() {
		is = append(is, c)
	}
	return concrete(maximallySpecific(is, name, desc))
}
