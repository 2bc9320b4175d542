package cct

import "slices"

// A Part is what one of several processes has of a node whose tree is put together from theirs.
type Part struct {
	Process int32 // a number that whoever put the trees together gave it
	Calls   int64
	Self    int64 // ns
	Total   int64 // ns of its own and of everything below
}

// Parts is what each process has of the node, in order; nil where the tree is of one process, or nobody divided it.
// It is not to be changed.
func (n *Node) Parts() []Part { return n.seen().Parts }

// Divide notes in each node of trees that its figures are those of one process. Merging keeps that: a node then has the
// figures of each process apart. It takes some 150 bytes a node.
func Divide(roots []*Node, process int32) {
	for n := range All(roots) {
		n.Details().Parts = []Part{{process, n.Calls, n.Self, n.Total}}
	}
}

// addParts puts the own figures of two nodes together; totals are computed later. The first list is changed, or made.
func addParts(to, from []Part) []Part {
	if len(to) == 0 {
		return slices.Clone(from)
	}
	for _, p := range from {
		at := part(&to, p.Process)
		at.Calls += p.Calls
		at.Self += p.Self
	}
	return to
}

// part is a process's place in a list, which is made if there is none.
func part(list *[]Part, process int32) *Part {
	all := *list
	i := len(all)
	for i > 0 && all[i-1].Process > process { // nearly always the last
		i--
	}
	if i > 0 && all[i-1].Process == process {
		return &all[i-1]
	}
	*list = slices.Insert(all, i, Part{Process: process})
	return &(*list)[i]
}

// ownParts sets the totals to the node's own.
func (n *Node) ownParts() {
	if n.Rare == nil {
		return
	}
	for i := range n.Rare.Parts {
		n.Rare.Parts[i].Total = n.Rare.Parts[i].Self
	}
}

// belowParts adds a callee's totals.
func (n *Node) belowParts(callee *Node) {
	from := callee.Parts()
	if len(from) == 0 {
		return
	}
	d := n.Details()
	for _, p := range from {
		part(&d.Parts, p.Process).Total += p.Total
	}
}

// SetParts gives a node what processes have of it themselves, in the order of their numbers, each once. Totals are computed
// by [Totals].
func (n *Node) SetParts(parts []Part) { n.Details().Parts = parts }
