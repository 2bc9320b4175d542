package cha

// A visit is told of a method that a call may select. A nil method means that
// n may have the one: its own methods are not known, or a supertype is not.
type visit func(n *node, m *Method)

// selectFrom visits what a call that resolved to r selects for a receiver of
// class x (JVMS §5.4.6).
func (h *Hierarchy) selectFrom(x *node, s sym, r *resolution, v visit) {
	found := false
	sure := climb(x, func(c *node) bool {
		m := c.find(s)
		switch {
		case m == nil:
			if c.opaque() {
				v(c, nil)
			}
			return false
		case !m.virtual() || !h.overrides(c, s, r):
			return false
		}
		v(c, m)
		found = true
		return true
	})
	if !found || !sure {
		h.selectDefault(x, s, v)
		h.inherits(x, v)
	}
}

// inherits visits n as one that may inherit the method from a supertype that is
// not known.
func (h *Hierarchy) inherits(n *node, v visit) {
	if n.loose {
		v(n, nil)
	}
}

// selectDefault visits the maximally-specific superinterface methods of x that
// are not abstract. If x is an interface, it stands for classes that implement
// it and that do not declare the method.
func (h *Hierarchy) selectDefault(x *node, s sym, v visit) {
	if !x.loose && len(h.declared[s]) == 0 && !h.opaqueInterface(x) {
		return
	}
	ms, opaque := h.maximal(x, s)
	for _, d := range ms {
		if !d.m.IsAbstract() {
			v(d.n, d.m)
		}
	}
	if opaque {
		for _, a := range h.ancestors(x) {
			if a.opaque() && a.m.IsInterface() {
				v(a, nil)
			}
		}
	}
}

func (h *Hierarchy) opaqueInterface(x *node) bool {
	for _, a := range h.ancestors(x) {
		if a.opaque() && a.m.IsInterface() {
			return true
		}
	}
	return false
}

// overrides reports whether the virtual method that c declares can override
// the resolved method, or is it (JVMS §5.4.5).
func (h *Hierarchy) overrides(c *node, s sym, r *resolution) bool {
	m := r.one()
	if m == nil || m.Access&(accPublic|accProtected) != 0 {
		return true
	}
	return overridesPackagePrivate(c, r.ms[0].n, s, 0)
}

// overridesPackagePrivate decides for a package-private method of class a: only
// the run-time package counts (§5.3), unless a method between them overrides it
// and is overridden in turn.
func overridesPackagePrivate(c, a *node, s sym, depth int) bool {
	if c == a || samePackage(c, a) || depth > maxChain {
		return true
	}
	yes, reached := false, false
	sure := climb(c, func(b *node) bool {
		if b == a {
			reached = true
			return true
		}
		if b == c {
			return false
		}
		m := b.find(s)
		if m != nil && m.virtual() && (m.Access&(accPublic|accProtected) != 0 || samePackage(c, b)) {
			yes = overridesPackagePrivate(b, a, s, depth+1)
		} else if b.opaque() {
			yes = true
		}
		return yes
	})
	return yes || !sure || !reached
}

// samePackage reports whether two classes are in the same run-time package.
func samePackage(a, b *node) bool {
	return a.m.ID.Loader == b.m.ID.Loader && a.m.ID.Package() == b.m.ID.Package()
}
