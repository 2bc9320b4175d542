package cha

// A ref is a method as a class declares it.
type ref struct {
	n *node
	m *Method
}

// A resolution is what a method reference resolves to (JVMS §5.4.3.3,
// §5.4.3.4). Several methods, or a doubt, come from classes that are not known
// well; a sure resolution without methods throws NoSuchMethodError.
type resolution struct {
	ms   []ref
	sure bool // nothing unknown can change the answer
}

// one returns the method of a resolution that is beyond doubt, else nil.
func (r *resolution) one() *Method {
	if r.sure && len(r.ms) == 1 {
		return r.ms[0].m
	}
	return nil
}

// maxChain bounds a climb, since classes that are only announced may form a
// circle (the JVM will refuse them). No program has a chain this long.
const maxChain = 1 << 12

// climb visits a class and its superclasses upwards until visit returns true.
// It reports whether it went wherever the JVM can go: false when it passed a
// superclass that is not known for sure.
func climb(n *node, visit func(*node) (stop bool)) (sure bool) {
	for range maxChain {
		if visit(n) {
			return true
		}
		to, known := n.superclasses()
		if !known {
			climbDoubtful(to, visit, nil)
			return false
		}
		if len(to) == 0 {
			return true
		}
		n = to[0]
	}
	return false
}

func climbDoubtful(ns []*node, visit func(*node) bool, seen []*node) {
	for _, n := range ns {
		for _, s := range seen {
			if s == n {
				return
			}
		}
		if !visit(n) {
			to, _ := n.superclasses()
			climbDoubtful(to, visit, append(seen, n))
		}
	}
}

// resolve resolves a method reference in class or interface o.
func (h *Hierarchy) resolve(o *node, s sym) resolution {
	var r resolution
	known := true
	sure := climb(o, func(c *node) bool {
		m := c.find(s)
		if m == nil {
			known = known && !c.opaque()
			return false
		}
		if o.m.IsInterface() && c != o && (m.Access&accPublic == 0 || m.IsStatic()) {
			return false // of Object, an interface has the public instance methods (§5.4.3.4)
		}
		r.ms = append(r.ms, ref{c, m})
		return true
	})
	r.sure = sure && known
	if len(r.ms) > 0 && sure {
		return r
	}
	defaults, opaque := h.maximal(o, s)
	r.sure = r.sure && !opaque && !o.loose
	if r.sure {
		// One maximally-specific method with code, else any: all that are
		// left are public and neither static nor private, so any will do.
		for _, d := range defaults {
			if !d.m.IsAbstract() {
				defaults = []ref{d}
				break
			}
		}
		defaults = defaults[:min(1, len(defaults))]
	}
	r.ms = append(r.ms, defaults...)
	return r
}

// maximal returns the maximally-specific superinterface methods of n (JVMS
// §5.4.3.3), its own included if it is an interface, and whether an interface
// on the way has unknown methods. If n is loose it returns all.
func (h *Hierarchy) maximal(n *node, s sym) (ms []ref, opaque bool) {
	for _, a := range h.ancestors(n) {
		if !a.m.IsInterface() {
			continue
		}
		if m := a.find(s); m != nil && m.virtual() {
			ms = append(ms, ref{a, m})
		}
		opaque = opaque || a.opaque()
	}
	if len(ms) < 2 || n.loose {
		return ms, opaque
	}
	general := map[*node]bool{}
	for _, r := range ms {
		for _, a := range h.ancestors(r.n)[1:] {
			general[a] = true
		}
	}
	kept := ms[:0]
	for _, r := range ms {
		if !general[r.n] {
			kept = append(kept, r)
		}
	}
	return kept, opaque
}
