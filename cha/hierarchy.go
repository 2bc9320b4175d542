package cha

import (
	"slices"
	"strings"
)

// A Policy says whether a class is excluded from instrumentation.
type Policy func(id ClassID, defines Loader) bool

// ExcludeJDK is the policy of a new hierarchy: classes of the boot and platform
// loaders are excluded, and the accessors that reflection of JDK 8 to 21
// generates in loaders of their own, which the JVM does not verify.
func ExcludeJDK(id ClassID, l Loader) bool {
	return l.Kind == LoaderBoot || l.Kind == LoaderPlatform ||
		strings.HasPrefix(id.Name, "jdk/internal/reflect/") || strings.HasPrefix(id.Name, "sun/reflect/")
}

// A Filter says whether a method of a class that the policy does not exclude is
// to be left without probes.
type Filter func(c *ClassMirror, m *Method) bool

// A Hierarchy is the set of known classes. The zero value is not ready; use
// [New].
type Hierarchy struct {
	policy   Policy
	filter   Filter
	epoch    uint64
	loaders  map[uint32]Loader
	classes  map[ClassID]*node
	byName   map[string][]*node
	bySuper  map[string][]*node // nodes that name this class as a direct supertype
	syms     map[nameDesc]sym
	declared [][]*node // by sym: classes that declare a virtual method
	codeless []int32   // by sym: how many methods are native, or the JVM may have other code for
	names    map[string]string
	need     map[ClassID]struct{}
	stamp    uint32

	looseCount int
}

type nameDesc struct{ name, desc string }

// A sym numbers a name and descriptor. 0 is none.
type sym uint32

// New returns an empty hierarchy that knows the boot loader.
func New() *Hierarchy {
	return &Hierarchy{
		policy:   ExcludeJDK,
		loaders:  map[uint32]Loader{0: {Name: "boot", Kind: LoaderBoot}},
		classes:  map[ClassID]*node{},
		byName:   map[string][]*node{},
		bySuper:  map[string][]*node{},
		syms:     map[nameDesc]sym{},
		declared: make([][]*node, 1),
		codeless: make([]int32, 1),
		names:    map[string]string{},
		need:     map[ClassID]struct{}{},
	}
}

// SetPolicy replaces the policy. It counts for mirrors added afterwards, so
// call it first.
func (h *Hierarchy) SetPolicy(p Policy) { h.policy = p }

// SetFilter replaces the filter, nil for none, for all known mirrors and those
// to come. The methods of lambdas are never filtered: they are no code of
// anybody's.
func (h *Hierarchy) SetFilter(f Filter) {
	h.filter = f
	h.epoch++
	for _, n := range h.classes {
		h.sift(n.m)
	}
}

func (h *Hierarchy) sift(m *ClassMirror) {
	for i := range m.Methods {
		m.Methods[i].Filtered = h.filter != nil && !m.Excluded && !m.IsLambda() && h.filter(m, &m.Methods[i])
	}
}

// AddLoader makes a loader known. Until then a loader is taken for one of kind
// LoaderOther, so add it before its classes.
func (h *Hierarchy) AddLoader(l Loader) { h.loaders[l.ID] = l }

// Loader returns what is known of a loader.
func (h *Hierarchy) Loader(id uint32) Loader {
	if l, ok := h.loaders[id]; ok {
		return l
	}
	return Loader{ID: id}
}

// Epoch changes with every change of the hierarchy. An answer holds for the
// epoch in which it was given.
func (h *Hierarchy) Epoch() uint64 { return h.epoch }

// Len returns the number of known classes, lambdas included.
func (h *Hierarchy) Len() int { return len(h.classes) }

// Class returns the mirror of a class, nil if it is not known.
func (h *Hierarchy) Class(id ClassID) *ClassMirror {
	if n := h.classes[id]; n != nil {
		return n.m
	}
	return nil
}

// Named returns the mirrors of all classes of a name, whatever their loader.
func (h *Hierarchy) Named(name string) []*ClassMirror {
	var ms []*ClassMirror
	for _, n := range h.byName[name] {
		ms = append(ms, n.m)
	}
	return ms
}

// Classes calls f for each known class, in no order, until it returns false.
// Lambdas are left out.
func (h *Hierarchy) Classes(f func(*ClassMirror) bool) {
	for _, n := range h.classes {
		if !n.m.IsLambda() && !f(n.m) {
			return
		}
	}
}

// Method returns a method of a known class, nil if there is none.
func (h *Hierarchy) Method(id MethodID) *Method {
	n := h.classes[id.Class]
	s := h.syms[nameDesc{id.Name, id.Desc}]
	if n == nil || s == 0 {
		return nil
	}
	return n.find(s)
}

// Add makes a class known, or known better: what a second mirror of the same
// class leaves open (Methods, Exact) is kept from the first, and Linked and
// Initialized are never taken back. Mirrors of arrays are ignored.
func (h *Hierarchy) Add(m *ClassMirror) {
	if m.ID.Name == "" || m.ID.Name[0] == '[' {
		return
	}
	h.epoch++
	n := h.classes[m.ID]
	fresh := n == nil
	if fresh {
		n = &node{}
	} else {
		m.merge(n.m)
		h.undeclare(n)
		h.unlink(n)
	}
	h.intern(m)
	if !m.IsLambda() {
		m.Excluded = h.policy(m.ID, h.Loader(m.ID.Loader))
	}
	h.sift(m)
	n.m, n.jdk = m, h.JDK(m)
	h.declare(n)
	if fresh {
		h.classes[m.ID] = n
		h.byName[m.ID.Name] = append(h.byName[m.ID.Name], n)
	}
	h.link(n)
	changed := []*node{n}
	for _, r := range h.bySuper[m.ID.Name] {
		if fresh && h.relink(r) {
			changed = append(changed, r)
		}
	}
	for _, x := range h.descendants(changed...) {
		h.settle(x)
	}
	h.addLambdas(n)
}

// Remove forgets a class that was unloaded. Its subtypes, which the JVM has
// unloaded too, should be removed as well.
func (h *Hierarchy) Remove(id ClassID) {
	n := h.classes[id]
	if n == nil {
		return
	}
	h.epoch++
	h.removeLambdas(n, 0)
	below := h.descendants(n)
	if n.loose {
		h.looseCount--
	}
	h.undeclare(n)
	h.unlink(n)
	delete(h.classes, id)
	delete(h.need, id)
	h.byName[id.Name] = without(h.byName[id.Name], n)
	if len(h.byName[id.Name]) == 0 {
		delete(h.byName, id.Name)
	}
	for _, r := range h.bySuper[id.Name] {
		h.relink(r)
	}
	for _, x := range below[1:] {
		h.settle(x)
	}
}

// merge keeps from old what m leaves open.
func (m *ClassMirror) merge(old *ClassMirror) {
	if m.Methods == nil {
		m.Methods, m.Lambdas, m.Source = old.Methods, old.Lambdas, old.Source
	}
	if m.Exact == nil {
		m.Exact = old.Exact
	}
	m.Linked = m.Linked || old.Linked
	m.Initialized = m.Initialized || old.Initialized
	m.NoBytes = m.NoBytes || old.NoBytes
}

// intern makes equal strings of all mirrors share memory, so that no mirror
// holds on to its class file, and numbers the methods.
func (h *Hierarchy) intern(m *ClassMirror) {
	h.share(&m.ID.Name, &m.Super, &m.Source)
	for i := range m.Interfaces {
		h.share(&m.Interfaces[i])
	}
	for i := range m.Exact {
		h.share(&m.Exact[i].Name)
	}
	for i := range m.Methods {
		d := &m.Methods[i]
		h.share(&d.Name, &d.Desc)
		d.sym = h.sym(d.Name, d.Desc)
		for j := range d.Calls {
			c := &d.Calls[j]
			h.share(&c.Owner, &c.Name, &c.Desc)
		}
		for j := range d.Inits {
			h.share(&d.Inits[j])
		}
	}
	for i := range m.Lambdas {
		l := &m.Lambdas[i]
		h.share(&l.Name, &l.Impl.Owner, &l.Impl.Name, &l.Impl.Desc)
		for j := range l.Interfaces {
			h.share(&l.Interfaces[j])
		}
		for j := range l.Descs {
			h.share(&l.Descs[j])
		}
	}
}

func (h *Hierarchy) share(ss ...*string) {
	for _, s := range ss {
		if t, ok := h.names[*s]; ok {
			*s = t
			continue
		}
		*s = string([]byte(*s)) // not a piece of a class file
		h.names[*s] = *s
	}
}

// sym numbers a name and descriptor.
func (h *Hierarchy) sym(name, desc string) sym {
	nd := nameDesc{name, desc}
	s, ok := h.syms[nd]
	if !ok {
		s = sym(len(h.declared))
		h.syms[nd] = s
		h.declared = append(h.declared, nil)
		h.codeless = append(h.codeless, 0)
	}
	return s
}

func without(ns []*node, n *node) []*node {
	if i := slices.Index(ns, n); i >= 0 {
		ns[i] = ns[len(ns)-1]
		ns[len(ns)-1] = nil
		ns = ns[:len(ns)-1]
	}
	return ns
}
