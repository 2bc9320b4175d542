package flight

import (
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// contexts finds the contexts of stacks in a report's tree.
type contexts struct {
	name    func(*cct.Node) string
	threads map[int64][]*cct.Thread // those that had several threads are at 0
	known   map[string][]*cct.Node
	above   map[*cct.Node]*cct.Node
	thread  map[*cct.Node]*cct.Thread
}

func newContexts(r *export.Report) *contexts {
	c := &contexts{
		name:    func(n *cct.Node) string { return string(r.Method(n.Method).Name) },
		threads: map[int64][]*cct.Thread{}, known: map[string][]*cct.Node{},
		above: map[*cct.Node]*cct.Node{}, thread: map[*cct.Node]*cct.Thread{},
	}
	for _, t := range r.Tree.Threads {
		id := t.ID
		if t.Virtual || t.Shared {
			id = 0
		}
		c.threads[id] = append(c.threads[id], t)
		for n := range cct.All(t.Roots) {
			c.known[c.name(n)] = append(c.known[c.name(n)], n)
			c.thread[n] = t
			for _, k := range n.Children {
				c.above[k] = n
			}
		}
	}
	return c
}

// of is the node of the innermost frame of a thread's stack that has one. whole says that the stack's outermost frame is
// there. inside tells whether the stack leads through the subgraph: without a node, too much of it was cut off.
func (c *contexts) of(thread int64, stack []string, whole bool) (n *cct.Node, inside bool) {
	threads := slices.Concat(c.threads[thread], c.threads[0])
	for _, t := range threads {
		if n = c.down(t.Roots, stack); n != nil {
			return n, true
		}
	}
	if whole {
		return nil, false
	}
	return c.up(threads, stack)
}

// down follows a stack from a root. Frames without a node are those of methods without probes.
func (c *contexts) down(roots []*cct.Node, stack []string) *cct.Node {
	var path []*cct.Node
	for _, f := range slices.Backward(stack) {
		children := roots
		if len(path) > 0 {
			children = path[len(path)-1].Children
		}
		named := func(n *cct.Node) bool { return c.name(n) == f }
		if i := slices.IndexFunc(children, named); i >= 0 {
			path = append(path, children[i])
			continue
		}
		// Folded recursion goes back to an ancestor.
		for i := len(path) - 1; i >= 0 && path[len(path)-1].Folded; i-- {
			if named(path[i]) {
				path = path[:i+1]
				break
			}
		}
	}
	if len(path) == 0 {
		return nil
	}
	return path[len(path)-1]
}

// up follows a stack whose outer frames are missing, from the innermost frame that has nodes. The node is nil where
// several have these frames above them.
func (c *contexts) up(threads []*cct.Thread, stack []string) (only *cct.Node, inside bool) {
	stack = slices.DeleteFunc(slices.Clone(stack), func(f string) bool { return c.known[f] == nil })
	if len(stack) == 0 {
		return nil, false
	}
	found := 0
	for _, n := range c.known[stack[0]] {
		at := n
		for i := 0; i < len(stack) && at != nil && c.name(at) == stack[i]; i++ {
			if i == len(stack)-1 && slices.Contains(threads, c.thread[n]) {
				only = n
				found++
			}
			at = c.above[at]
		}
	}
	if found != 1 {
		return nil, true
	}
	return only, true
}
