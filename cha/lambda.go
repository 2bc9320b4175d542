package cha

import (
	"fmt"
	"slices"
)

// Lambdas are classes like others to the analysis, so that a call through an
// interface reaches the bodies of all lambdas of this type, whoever made the
// object: the expression itself may lie outside of what the caller looks at.
// The JVM makes the real classes at the first execution of the expression; they
// are hidden, and nothing tells which belongs to which. So the hierarchy makes a
// mirror for each expression.
//
// A lambda whose interface is not known is not loose: there is no object of it
// before the interface is loaded, hence known. But its body may be in a class
// that is being loaded just now and won't be seen again, so that when the class
// is asked about, the lambda answers like a loose class.

// addLambdas replaces the mirrors of a class's lambdas.
func (h *Hierarchy) addLambdas(n *node) {
	if n.m.IsLambda() {
		return
	}
	if n.jdk {
		h.removeLambdas(n, 0)
		return
	}
	for i := range n.m.Lambdas {
		m := n.m.lambda(i)
		h.Add(m)
		if i == len(n.lambdas) {
			n.lambdas = append(n.lambdas, h.classes[m.ID])
		}
	}
	h.removeLambdas(n, len(n.m.Lambdas))
}

// removeLambdas forgets all but the first of a class's lambdas.
func (h *Hierarchy) removeLambdas(n *node, keep int) {
	for len(n.lambdas) > keep {
		last := len(n.lambdas) - 1
		h.Remove(n.lambdas[last].m.ID)
		n.lambdas = n.lambdas[:last]
	}
}

// lambda makes the mirror of a lambda.
func (m *ClassMirror) lambda(i int) *ClassMirror {
	l := &m.Lambdas[i]
	x := &ClassMirror{
		ID:         ClassID{m.ID.Loader, fmt.Sprintf("%s$$Lambda#%d", m.ID.Name, i)},
		Host:       m.ID,
		Super:      objectClass,
		Interfaces: l.Interfaces,
		Access:     accFinal,
		Fixed:      true,
		Hidden:     true,
		Excluded:   m.Excluded,
	}
	for _, desc := range l.Descs {
		d := Method{Name: l.Name, Desc: desc, Access: accPublic, HasCode: true, Calls: []Call{l.Impl}}
		if how := l.Impl.How(); how == Static || l.Impl.Name == initName {
			d.Inits = []string{l.Impl.Owner}
		}
		x.Methods = append(x.Methods, d)
	}
	return x
}

// Lambdas returns the mirrors that the hierarchy made for the lambdas of a class.
func (h *Hierarchy) Lambdas(id ClassID) []*ClassMirror {
	n := h.classes[id]
	if n == nil {
		return nil
	}
	ms := make([]*ClassMirror, len(n.lambdas))
	for i, l := range n.lambdas {
		ms[i] = l.m
	}
	return ms
}

// nodes returns the nodes of classes, with their lambdas.
func (h *Hierarchy) nodes(ids []ClassID) []*node {
	var ns []*node
	for _, id := range ids {
		if n := h.classes[id]; n != nil {
			ns = append(append(ns, n), n.lambdas...)
		}
	}
	return slices.Clip(ns)
}
