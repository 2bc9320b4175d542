package cha

import (
	"cmp"
	"slices"
	"strings"
)

// A node is a class among its relatives.
type node struct {
	m     *ClassMirror
	links []link  // to the superclass, if any, then the superinterfaces
	subs  []*node // direct subtypes: the other end of links
	table []slot  // methods by sym
	jdk   bool    // see JDK

	lambdas []*node // made for the class
	early   bool    // a lambda that would be loose if it were a class

	loose      bool // a supertype is not known, or not for sure
	looseChain bool // the same of a superclass
	stamp      uint32

	below      uint64 // epoch in which the next two were found
	below1     bool   // a descendant or the class itself is loose
	belowChain bool   // the same of looseChain
}

type slot struct {
	sym sym
	i   int32
}

// A link is a reference to a direct supertype. The reference is by name, so it
// may have no end yet, or several possible ones.
type link struct {
	name  string
	super bool // the superclass
	sure  bool // to is the one right class
	to    []*node
}

// find returns the method that the class itself declares.
func (n *node) find(s sym) *Method {
	lo, hi := 0, len(n.table)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if n.table[mid].sym < s {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(n.table) && n.table[lo].sym == s {
		return &n.m.Methods[n.table[lo].i]
	}
	return nil
}

// opaque reports whether the methods of the class are not known.
func (n *node) opaque() bool { return n.m.Methods == nil }

// superclasses returns the possible direct superclasses; known is false when
// there may be another.
func (n *node) superclasses() (to []*node, known bool) {
	if len(n.links) == 0 || !n.links[0].super {
		return nil, true
	}
	return n.links[0].to, n.links[0].sure
}

// declare indexes the methods of a class.
func (h *Hierarchy) declare(n *node) {
	n.table = make([]slot, len(n.m.Methods))
	for i := range n.m.Methods {
		m := &n.m.Methods[i]
		n.table[i] = slot{m.sym, int32(i)}
		if m.virtual() {
			h.declared[m.sym] = append(h.declared[m.sym], n)
		}
		if m.IsNative() || m.Intrinsic {
			h.codeless[m.sym]++
		}
	}
	slices.SortFunc(n.table, func(a, b slot) int { return cmp.Compare(a.sym, b.sym) })
}

func (h *Hierarchy) undeclare(n *node) {
	for i := range n.m.Methods {
		m := &n.m.Methods[i]
		if m.virtual() {
			h.declared[m.sym] = without(h.declared[m.sym], n)
		}
		if m.IsNative() || m.Intrinsic {
			h.codeless[m.sym]--
		}
	}
}

// link makes the links of a class and registers it as one that has them.
func (h *Hierarchy) link(n *node) {
	n.links = make([]link, 0, 1+len(n.m.Interfaces))
	if n.m.Super != "" {
		n.links = append(n.links, link{name: n.m.Super, super: true})
	}
	for _, name := range n.m.Interfaces {
		n.links = append(n.links, link{name: name})
	}
	for i := range n.links {
		name := n.links[i].name
		h.bySuper[name] = append(h.bySuper[name], n)
	}
	h.relink(n)
}

func (h *Hierarchy) unlink(n *node) {
	for i := range n.links {
		l := &n.links[i]
		for _, t := range l.to {
			t.subs = without(t.subs, n)
		}
		h.bySuper[l.name] = without(h.bySuper[l.name], n)
	}
	n.links = nil
}

// relink finds the ends of a class's links again and reports a change.
func (h *Hierarchy) relink(n *node) bool {
	changed := false
	for i := range n.links {
		l := &n.links[i]
		to, sure := h.supertype(n.m, l.name)
		if sure == l.sure && slices.Equal(to, l.to) {
			continue
		}
		for _, t := range l.to {
			t.subs = without(t.subs, n)
		}
		for _, t := range to {
			t.subs = append(t.subs, n)
		}
		l.to, l.sure, changed = slices.Clone(to), sure, true
	}
	return changed
}

// supertype finds a direct supertype of m.
func (h *Hierarchy) supertype(m *ClassMirror, name string) (to []*node, sure bool) {
	for _, id := range m.Exact {
		if id.Name == name {
			if n := h.classes[id]; n != nil {
				return []*node{n}, true
			}
			return nil, false
		}
	}
	return h.named(m.ID.Loader, name)
}

// named finds the class that a name means to classes of a loader (JVMS
// §5.4.3.1). What the loader defines itself is sure, since a loader's answer
// for a name never changes (§5.3.2). The JDK's own loaders answer from among
// themselves. Any other loader may have delegated to anyone, or may yet define
// the class itself: every class of that name is possible.
func (h *Hierarchy) named(loader uint32, name string) (to []*node, sure bool) {
	all := h.byName[name]
	if len(all) == 0 {
		return nil, false
	}
	if n := h.classes[ClassID{loader, name}]; n != nil {
		return []*node{n}, true
	}
	if strings.HasPrefix(name, "java/") { // only the boot and platform loaders define them
		return all, len(all) == 1
	}
	if !h.Loader(loader).Kind.builtin() {
		return all, false
	}
	for _, n := range all {
		if h.Loader(n.m.ID.Loader).Kind.builtin() {
			to = append(to, n)
		}
	}
	return to, len(to) == 1
}

// ancestors returns n and all its supertypes, each once, n first.
func (h *Hierarchy) ancestors(n *node) []*node {
	h.stamp++
	n.stamp = h.stamp
	up := append(make([]*node, 0, 8), n)
	for i := 0; i < len(up); i++ {
		for j := range up[i].links {
			for _, t := range up[i].links[j].to {
				if t.stamp != h.stamp {
					t.stamp = h.stamp
					up = append(up, t)
				}
			}
		}
	}
	return up
}

// descendants returns the nodes and all their subtypes, each once.
func (h *Hierarchy) descendants(ns ...*node) []*node {
	h.stamp++
	var down []*node
	add := func(ns []*node) {
		for _, n := range ns {
			if n.stamp != h.stamp {
				n.stamp = h.stamp
				down = append(down, n)
			}
		}
	}
	add(ns)
	for i := 0; i < len(down); i++ {
		add(down[i].subs)
	}
	return down
}

// settle finds out anew whether a class is loose, and whose bytes it needs.
func (h *Hierarchy) settle(n *node) {
	was := n.loose
	n.loose, n.looseChain = false, false
	up := h.ancestors(n)
	for _, a := range up {
		for i := range a.links {
			n.loose = n.loose || !a.links[i].sure
		}
		if !n.jdk {
			h.needs(a)
		}
	}
	n.early = false
	if n.m.IsLambda() {
		n.early, n.loose = n.loose, false
	}
	if n.loose {
		n.looseChain = h.chainLoose(n)
	}
	if n.loose != was {
		h.looseCount += map[bool]int{true: 1, false: -1}[n.loose]
	}
}

// chainLoose reports whether a superclass of n is not known for sure.
func (h *Hierarchy) chainLoose(n *node) bool {
	for range len(h.classes) { // ends even on a circle of doubtful links
		to, sure := n.superclasses()
		if !sure {
			return true
		}
		if len(to) == 0 {
			return false
		}
		n = to[0]
	}
	return true
}

// looseBelow reports whether n or one of its subtypes is loose, and whether one
// has a loose superclass.
func (h *Hierarchy) looseBelow(n *node) (loose, chain bool) {
	if n.below != h.epoch {
		n.below, n.below1, n.belowChain = h.epoch, false, false
		for _, d := range h.descendants(n) {
			n.below1 = n.below1 || d.loose
			n.belowChain = n.belowChain || d.looseChain
			if n.belowChain {
				break
			}
		}
	}
	return n.below1, n.belowChain
}
