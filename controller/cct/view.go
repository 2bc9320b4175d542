package cct

import (
	"cmp"
	"container/heap"
	"slices"
)

// Sort orders the children of every node, and the roots, by total time (then
// calls, then method id). It changes the tree.
func Sort(roots []*Node) {
	sortNodes(roots)
	for n := range All(roots) {
		sortNodes(n.Children)
	}
}

func sortNodes(nodes []*Node) {
	if len(nodes) > 1 {
		slices.SortFunc(nodes, func(a, b *Node) int {
			return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Method, b.Method))
		})
	}
}

// HotPath returns the path along which the most time goes: from the heaviest
// root down the heaviest child, ending in the method whose own time is more
// than that of any of its callees.
func HotPath(roots []*Node) []*Node {
	var path []*Node
	for next := heaviest(roots); next != nil && next.Total > 0; next = heaviest(next.Children) {
		if k := len(path); k > 0 && next.Total < path[k-1].Self {
			break
		}
		path = append(path, next)
	}
	return path
}

func heaviest(nodes []*Node) *Node {
	var best *Node
	for _, n := range nodes {
		if best == nil || n.Total > best.Total {
			best = n
		}
	}
	return best
}

// Top returns the n nodes with the most total time. With a node its parent is in,
// too, which has no less.
func Top(roots []*Node, n int) map[*Node]bool {
	top := map[*Node]bool{}
	next := &byTotal{}
	for _, r := range roots {
		heap.Push(next, r)
	}
	for len(*next) > 0 && len(top) < n {
		at := heap.Pop(next).(*Node)
		top[at] = true
		for _, c := range at.Children {
			heap.Push(next, c)
		}
	}
	return top
}

// byTotal is a heap of nodes, the one with the most time first.
type byTotal []*Node

func (h byTotal) Len() int { return len(h) }
func (h byTotal) Less(i, k int) bool {
	a, b := h[i], h[k]
	return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Method, b.Method)) < 0
}
func (h byTotal) Swap(i, k int) { h[i], h[k] = h[k], h[i] }
func (h *byTotal) Push(x any)   { *h = append(*h, x.(*Node)) }
func (h *byTotal) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// A Fold says what a list of children left out.
type Fold struct {
	Branches int
	Total    int64
	Sums
}

// FoldSmall splits nodes, which must be sorted, into those that are shown and
// a fold of the rest: branches with a total below least, and all beyond the
// first most. A fold of a single leaf would save nothing, so it is shown.
func FoldSmall(nodes []*Node, least int64, most int) ([]*Node, Fold) {
	k := min(len(nodes), most)
	for k > 0 && nodes[k-1].Total < least {
		k--
	}
	if k == len(nodes)-1 && len(nodes[k].Children) == 0 {
		k++
	}
	return nodes[:k], FoldAll(nodes[k:])
}

// FoldAll is the fold of all the nodes.
func FoldAll(nodes []*Node) Fold {
	f := Fold{Branches: len(nodes), Sums: Sum(nodes)}
	for _, n := range nodes {
		f.Total += n.Total
	}
	return f
}
