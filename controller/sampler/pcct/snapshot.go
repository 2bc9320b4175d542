package pcct

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// Snapshot copies the tree. A node's Calls are its entries, its Self time is what
// its samples stand for, Sample has how many they are, how many activations were
// unsure, and the lines. Threads have the numbers and names that the samples gave,
// those with the most samples first.
func (t *Tree) Snapshot() *cct.Snapshot {
	s, taken := &cct.Snapshot{}, t.log.taken()
	list := t.all()
	slices.SortStableFunc(list, func(a, b *thread) int { return cmp.Compare(b.sum.Samples, a.sum.Samples) })
	for _, th := range list {
		if len(th.root.children) == 0 {
			continue
		}
		out := &cct.Thread{ID: int64(th.id), Name: th.name, Shared: th.shared}
		made := map[*node]*cct.Node{}
		walk(&th.root, func(n *node) {
			if n.method == -1 {
				n.place = -1
				return
			}
			n.place = int32(len(taken.Methods))
			taken.Methods, taken.Parents = append(taken.Methods, n.method), append(taken.Parents, n.parent.place)
			c := n.copy()
			if above := made[n.parent]; above != nil {
				above.Children = append(above.Children, c)
			} else {
				out.Roots = append(out.Roots, c)
			}
			if len(n.children) > 0 {
				made[n] = c
			}
		}, func(n *node) { delete(made, n) })
		cct.Totals(out.Roots)
		s.Threads = append(s.Threads, out)
	}
	t.log.steps(taken)
	s.Taken = taken
	return s
}

func (n *node) copy() *cct.Node {
	c := &cct.Node{Method: n.method, Calls: n.entries, Self: n.time}
	if n.samples > 0 || n.unsure > 0 {
		c.Details().Sample = &cct.Sample{Ran: n.ran, Wall: n.time, Count: n.samples, Unsure: n.unsure}
		for line, k := range n.lines {
			c.Sample().Lines = append(c.Sample().Lines, cct.Line{Line: line, Count: k})
		}
		cct.SortLines(c.Sample().Lines)
		c.Sample().States = slices.Clone(n.states)
		c.Error = c.Sample().Error()
	}
	return c
}

// Lookup finds the method of a number in a snapshot. It stays valid, also while
// the tree grows.
func (t *Tree) Lookup() cct.Lookup {
	all := slices.Clip(t.names.all[:len(t.names.all):len(t.names.all)])
	return func(id int32) (cct.Method, bool) {
		if id < 0 || int(id) >= len(all) {
			return cct.Method{}, false
		}
		return all[id], true
	}
}

// Methods are the sums of all methods, by their numbers. It is a copy.
func (t *Tree) Methods() []MethodSum {
	t.grow()
	return slices.Clone(t.methods)
}

// A Context is a path of methods with what its end has.
type Context struct {
	Thread  string
	Path    []int32 // outermost first
	Samples int64   // of its end, as the innermost method
	Entries int64
}

// Hot are the n contexts with the most samples, the most first, in time
// proportional to what is returned.
func (t *Tree) Hot(n int) []Context { return t.contexts(t.hot.top(n)) }

// Busy are the n contexts with the most entries.
func (t *Tree) Busy(n int) []Context { return t.contexts(t.busy.top(n)) }

func (t *Tree) contexts(nodes []*node) []Context {
	names := map[*node]string{}
	for _, th := range t.all() {
		names[&th.root] = th.name
	}
	var out []Context
	for _, n := range nodes {
		c := Context{Samples: n.samples, Entries: n.entries}
		for ; n.method >= 0; n = n.parent {
			c.Path = append(c.Path, n.method)
		}
		c.Thread = names[n]
		slices.Reverse(c.Path)
		out = append(out, c)
	}
	return out
}
