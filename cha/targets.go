package cha

import (
	"slices"
	"strings"
)

// A Hit is a method that a call can reach.
type Hit struct {
	Class  *ClassMirror
	Method *Method // nil: see Reach
}

// ID names the method; only for a Hit that has one.
func (t Hit) ID() MethodID { return MethodID{t.Class.ID, t.Method.Name, t.Method.Desc} }

// Targets returns the methods with code that a call in class from can reach,
// sorted; in place of a lambda's own method, its body. See the package comment
// for what that means.
func (h *Hierarchy) Targets(from ClassID, c Call) []MethodID {
	return h.collect(from, c, func(m *Method) bool { return m.HasCode })
}

// Codeless returns the methods without code that a call in class from can
// reach, sorted: native ones, and abstract ones, which throw.
func (h *Hierarchy) Codeless(from ClassID, c Call) []MethodID {
	return h.collect(from, c, func(m *Method) bool { return !m.HasCode })
}

func (h *Hierarchy) collect(from ClassID, c Call, want func(*Method) bool) []MethodID {
	var ids []MethodID
	seen := map[*ClassMirror]bool{} // a lambda may call through its own interface
	var add func(Hit)
	add = func(t Hit) {
		switch {
		case t.Method == nil || seen[t.Class]:
		case t.Class.IsLambda():
			seen[t.Class] = true
			h.Reach(t.Class.Host, t.Method.Calls[0], add)
		case want(t.Method):
			ids = append(ids, t.ID())
		}
	}
	h.Reach(from, c, add)
	slices.SortFunc(ids, MethodID.Compare)
	return slices.Compact(ids)
}

// Implementations returns the methods with code that a virtual call of a method
// can select, sorted: the method itself and all that override it.
func (h *Hierarchy) Implementations(m MethodID) []MethodID {
	return h.Targets(m.Class, Call{Kind: Virtual, Owner: m.Class.Name, Name: m.Name, Desc: m.Desc})
}

// Reach calls f for each method, with code or without, that a call in class
// from can reach, and without a method for each class that may have one: its
// bytes are not known, so it may declare it, or, if they are, a supertype is not
// known, so it may inherit it. It may call f more than once for the same.
func (h *Hierarchy) Reach(from ClassID, c Call, f func(Hit)) {
	h.reach(from, &c, h.sym(c.Name, c.Desc), func(n *node, m *Method) { f(Hit{n.m, m}) })
}

func (h *Hierarchy) reach(from ClassID, c *Call, s sym, v visit) {
	if c.polymorphic() {
		return
	}
	switch c.How() {
	case Virtual, Interface:
		h.reachVirtual(from, c, s, v)
	case Special:
		h.reachSpecial(from, c, s, v)
	case Static:
		owners, _ := h.owners(from, c)
		for _, o := range owners {
			h.reachStatic(o, s, v)
		}
	}
}

// owners returns the classes that a call's owner may be; sure if no other class
// can ever be it.
func (h *Hierarchy) owners(from ClassID, c *Call) (owners []*node, sure bool) {
	return h.named(from.Loader, ownerName(c))
}

// ownerName is the class whose methods a call means. Arrays have those of
// Object (JVMS §5.4.3.3).
func ownerName(c *Call) string {
	if strings.HasPrefix(c.Owner, "[") {
		return objectClass
	}
	return c.Owner
}

func (h *Hierarchy) reachVirtual(from ClassID, c *Call, s sym, v visit) {
	owners, _ := h.owners(from, c)
	for _, o := range owners {
		r := h.resolve(o, s)
		if h.fixed(c, o, &r, v) {
			continue
		}
		for _, x := range h.descendants(o) {
			h.receive(o, x, s, &r, v)
		}
	}
	if h.looseCount == 0 {
		return
	}
	if all, chain := h.looseFor(from, c, s); all || chain {
		for _, d := range h.declared[s] {
			loose, looseChain := h.looseBelow(d)
			if all && loose || chain && looseChain {
				v(d, d.find(s))
			}
		}
	}
}

// fixed visits the methods of a virtual call that the receiver has no part in,
// and reports whether that was all.
func (h *Hierarchy) fixed(c *Call, o *node, r *resolution, v visit) bool {
	if !r.sure {
		for _, t := range r.ms {
			v(t.n, t.m)
		}
		return false
	}
	m := r.one()
	switch {
	case m == nil: // NoSuchMethodError
		return true
	case m.IsStatic(): // IncompatibleClassChangeError
		return true
	case m.IsPrivate() || m.Access&accFinal != 0 || strings.HasPrefix(c.Owner, "[") || o.m.Access&accFinal != 0:
		v(r.ms[0].n, m)
		return true
	}
	return false
}

// receive visits what a virtual call with owner o selects on receiver x. An
// interface can be no receiver: it stands for unknown classes that implement it.
func (h *Hierarchy) receive(o, x *node, s sym, r *resolution, v visit) {
	switch {
	case !x.m.IsInterface():
		h.selectFrom(x, s, r, v)
	case o.m.IsInterface():
		h.selectDefault(x, s, v)
	}
}

// looseFor says which loose classes may be receivers of a virtual call: all, or
// those with a loose superclass.
func (h *Hierarchy) looseFor(from ClassID, c *Call, s sym) (all, chain bool) {
	owners, sure := h.owners(from, c)
	if !sure {
		return true, false
	}
	for _, o := range owners {
		r := h.resolve(o, s)
		switch {
		case r.sure && h.fixed(c, o, &r, func(*node, *Method) {}):
		case o.m.IsInterface():
			all = true
		default:
			chain = true
		}
	}
	return all, chain
}

func (h *Hierarchy) reachStatic(o *node, s sym, v visit) {
	r := h.resolve(o, s)
	for _, t := range r.ms {
		if t.m.IsStatic() {
			v(t.n, t.m)
		}
	}
	if !r.sure {
		climb(o, func(c *node) bool {
			if c.opaque() {
				v(c, nil)
			}
			return false
		})
		h.inherits(o, v)
	}
}

// reachSpecial follows JVMS §6.5 invokespecial: a call of a superclass's method
// looks from the direct superclass up, whatever class it names.
func (h *Hierarchy) reachSpecial(from ClassID, c *Call, s sym, v visit) {
	owners, _ := h.owners(from, c)
	if c.Name == initName {
		for _, o := range owners {
			if m := o.find(s); m != nil || o.opaque() {
				v(o, m)
			}
		}
		return
	}
	f := h.classes[from]
	if f == nil {
		for _, o := range owners {
			h.lookUp(o, s, v)
		}
		return
	}
	supers, known := f.superclasses()
	fromSuper := len(owners) == 0
	for _, o := range owners {
		above := false
		if r := h.resolve(o, s); r.sure && len(r.ms) == 0 {
			continue // NoSuchMethodError
		}
		if o != f && !o.m.IsInterface() {
			for _, p := range supers {
				sure := climb(p, func(b *node) bool { above = above || b == o; return above })
				known = known && sure
			}
			fromSuper = fromSuper || above || !known
		}
		if !above || !known {
			h.lookUp(o, s, v)
		}
	}
	if fromSuper {
		for _, p := range supers {
			h.lookUp(p, s, v)
		}
	}
}

// lookUp visits the instance method that c declares or inherits.
func (h *Hierarchy) lookUp(c *node, s sym, v visit) {
	found := false
	sure := climb(c, func(b *node) bool {
		m := b.find(s)
		switch {
		case m == nil:
			if b.opaque() {
				v(b, nil)
			}
			return false
		case m.IsStatic() || c.m.IsInterface() && b != c && m.Access&accPublic == 0:
			return false
		}
		v(b, m)
		found = true
		return true
	})
	if !found || !sure {
		h.selectDefault(c, s, v)
		h.inherits(c, v)
	}
}
