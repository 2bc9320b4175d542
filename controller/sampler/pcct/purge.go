package pcct

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// Purge makes room: contexts whose whole subtree has few samples are dropped, the
// fewest first, until the tree is down to three quarters of its bound. Their samples
// and entries stay in a callee [cct.Unplaced] of the context above, so that all
// totals above stay as they are; the sums by method stay, too. The paper's profiler
// clears its whole buffer; a report of a whole run would lose what came before.
func (t *Tree) Purge() {
	t.stats.Purges++
	most := t.o.Nodes * 3 / 4
	for least := int64(1); t.nodes > most; least *= 2 {
		for _, th := range t.all() {
			t.drop(th, least)
		}
		if least > t.stats.Samples { // nothing is left but threads
			break
		}
	}
	for _, th := range t.all() {
		for i := range th.last {
			th.last[i].node = nil // it may be gone
		}
	}
	t.log.forward()
	t.rank()
}

// all are the thread's records, in a fixed order.
func (t *Tree) all() []*thread {
	out := make([]*thread, 0, len(t.threads)+1)
	for _, th := range t.threads {
		out = append(out, th)
	}
	slices.SortFunc(out, func(a, b *thread) int { return cmp.Compare(a.id, b.id) })
	if t.others != nil {
		out = append(out, t.others)
	}
	return out
}

// figures are those of a whole subtree.
type figures struct{ samples, time, ran, entries, unsure, purged, nodes int64 }

func (f *figures) add(o figures) {
	f.samples += o.samples
	f.time += o.time
	f.ran += o.ran
	f.entries += o.entries
	f.unsure += o.unsure
	f.purged += o.purged
	f.nodes += o.nodes
}

// drop puts a thread's subtrees of up to least samples into the contexts above.
func (t *Tree) drop(th *thread, least int64) {
	sums := map[*node]figures{}
	walk(&th.root, func(*node) {}, func(n *node) {
		sum := figures{n.samples, n.time, n.ran, n.entries, n.unsure, 0, 1}
		if n.method == cct.Unplaced {
			sum.purged = n.samples
		}
		var gone figures
		var dropped []*node
		kept := n.children[:0]
		for _, c := range n.children {
			s := sums[c]
			delete(sums, c)
			sum.add(s)
			if s.samples > least || c.method == cct.Unplaced {
				kept = append(kept, c)
				continue
			}
			gone.add(s)
			dropped = append(dropped, c)
		}
		clear(n.children[len(kept):])
		n.children = kept
		n.reindex()
		if gone.nodes > 0 {
			t.nodes -= int(gone.nodes)
			t.stats.Purged += gone.samples - gone.purged
			before := t.nodes
			to := t.child(n, cct.Unplaced)
			sum.nodes += int64(t.nodes-before) - gone.nodes
			to.samples += gone.samples
			to.time += gone.time
			to.ran += gone.ran
			to.entries += gone.entries
			to.unsure += gone.unsure
			for _, c := range dropped {
				walk(c, func(d *node) { d.into = to }, func(*node) {})
			}
			sum.purged += gone.samples - gone.purged
		}
		sums[n] = sum
	})
}

// rank makes the rankings anew.
func (t *Tree) rank() {
	t.hot, t.busy = newRanking(bySamples), newRanking(byEntries)
	for _, th := range t.all() {
		walk(&th.root, func(n *node) {
			n.hotAt, n.busyAt = -1, -1
			if n.method < 0 {
				return
			}
			if n.samples > 0 {
				t.hot.nodes = append(t.hot.nodes, n)
			}
			if n.entries > 0 {
				t.busy.nodes = append(t.busy.nodes, n)
			}
		}, func(*node) {})
	}
	for _, r := range []*ranking{&t.hot, &t.busy} {
		slices.SortStableFunc(r.nodes, func(a, b *node) int {
			x, _ := r.figure(a)
			y, _ := r.figure(b)
			return cmp.Compare(y, x)
		})
		for i, n := range r.nodes {
			v, place := r.figure(n)
			*place = int32(i)
			if _, ok := r.first[v]; !ok {
				r.first[v] = i
			}
		}
	}
}

// retire puts the records of threads with the fewest samples together, half of all.
func (t *Tree) retire() {
	list := t.all()
	if t.others != nil {
		list = list[:len(list)-1]
	}
	slices.SortStableFunc(list, func(a, b *thread) int {
		return cmp.Or(cmp.Compare(a.sum.Samples, b.sum.Samples), cmp.Compare(a.at, b.at))
	})
	if t.others == nil {
		t.others = &thread{shared: true, name: "threads"}
		t.others.root.method = -1
	}
	for _, th := range list[:len(list)/2] {
		delete(t.threads, th.id)
		t.others.id, t.others.name = th.id, th.name
		t.others.java = t.others.java || th.java
		t.others.sum.Samples += th.sum.Samples
		t.merge(&t.others.root, &th.root)
	}
	t.log.forward()
	t.rank()
}

// merge adds a tree to another. The nodes of from are used up.
func (t *Tree) merge(into, from *node) {
	type pair struct{ into, from *node }
	todo := []pair{{into, from}}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, c := range p.from.children {
			same := p.into.has(c.method)
			if same == nil {
				p.into.adopt(c) // with all that is below
				continue
			}
			same.samples += c.samples
			same.time += c.time
			same.ran += c.ran
			same.entries += c.entries
			same.unsure += c.unsure
			for line, n := range c.lines {
				if same.lines == nil {
					same.lines = map[int32]int64{}
				}
				same.lines[line] += n
			}
			if same.states == nil {
				same.states = c.states
			} else {
				for i, n := range c.states {
					same.states[i] += n
				}
			}
			t.nodes--
			c.into = same
			todo = append(todo, pair{same, c})
		}
	}
}

func (n *node) has(method int32) *node {
	if n.index != nil {
		return n.index[method]
	}
	for _, c := range n.children {
		if c.method == method {
			return c
		}
	}
	return nil
}

// walk visits a tree without recursion: enter before the children, leave after
// them. leave may change the node's list of children.
func walk(root *node, enter, leave func(*node)) {
	type at struct {
		n    *node
		next int
	}
	path := []at{{root, 0}}
	enter(root)
	for len(path) > 0 {
		top := &path[len(path)-1]
		if top.next < len(top.n.children) {
			c := top.n.children[top.next]
			top.next++
			enter(c)
			path = append(path, at{c, 0})
			continue
		}
		leave(top.n)
		path = path[:len(path)-1]
	}
}
