package cha

// A Callee is what a call can run.
type Callee struct {
	// Hit is the one method that the call can run now; without a method if there
	// are several, or unknown ones, or none.
	Hit
	// Fixed says that no class to come can change that: the call names a static,
	// private or final method, or one of a final class, or a superclass's (JVMS
	// §5.4.6, §6.5).
	Fixed bool
	// Natives are the native methods among several that the call can run.
	Natives []Hit
}

// HasCodeless reports whether some class has a method of that name and descriptor that is
// native, or an intrinsic: else no call can run one, and there is no use in asking [Hierarchy.Callee]
// for it.
func (h *Hierarchy) HasCodeless(name, desc string) bool {
	s, ok := h.syms[nameDesc{name, desc}]
	return ok && h.codeless[s] > 0
}

// Callee returns what a call in class from can run, without abstract methods,
// which throw.
func (h *Hierarchy) Callee(from ClassID, c Call) Callee {
	var a Callee
	several := false
	h.Reach(from, c, func(x Hit) {
		switch {
		case x.Method != nil && x.Method.IsAbstract():
			return
		case x.Method == nil || a.Method != nil && a.Method != x.Method:
			several = true
		}
		if x.Method != nil {
			a.Hit = x
			if x.Method.IsNative() {
				a.Natives = append(a.Natives, x)
			}
		}
	})
	if several {
		return Callee{Natives: a.Natives}
	}
	a.Natives = nil
	owners, sure := h.owners(from, &c)
	if a.Method == nil || !sure || len(owners) != 1 {
		return a
	}
	a.Fixed = true
	if how := c.How(); how == Virtual || how == Interface {
		r := h.resolve(owners[0], h.sym(c.Name, c.Desc))
		a.Fixed = h.fixed(&c, owners[0], &r, func(*node, *Method) {})
	}
	return a
}
