package cct

// Frameworks is the method of a node that stands for several levels of a tree, which a
// view has put together. No recording has one.
const Frameworks int32 = -16

// Order sorts nodes by total time, as [Sort] does, and leaves their children as they are.
func Order(nodes []*Node) { sortNodes(nodes) }

// Join makes a node of several, for a view: it has a method, their own figures added up,
// and the children. What is given stays as it is; the children are shared.
func Join(method int32, nodes, children []*Node) *Node {
	n := &Node{Method: method, Children: children}
	for _, o := range nodes {
		n.add(o)
	}
	n.Levels, n.Folded = 0, false
	if n.Async() != nil {
		n.Details().Async = nil
	}
	n.retotal()
	return n
}

// WithChildren is a copy of a node with other children, which have as much time in all.
func (n *Node) WithChildren(children []*Node) *Node {
	c := *n
	c.Children = children
	if n.Rare != nil {
		own := *n.Rare
		c.Rare = &own
	}
	return &c
}

// retotal computes the node's total of its own figures and of its children's totals.
func (n *Node) retotal() {
	n.Total = n.Self
	n.ownParts()
	if n.Counts != nil {
		n.Counts.Total = n.Counts.Own
	}
	for _, c := range n.Children {
		n.Total += c.Total
		n.below(c)
	}
}
