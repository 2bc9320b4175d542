package agent

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// since is what trees have more than they had before, by path. Contexts in which nothing has
// changed are left out. Times that the correction has lowered meanwhile are 0, no less. Neither
// argument is changed; both must be merged.
func since(now, before []*cct.Node) []*cct.Node {
	type pair struct {
		now, before *cct.Node
		into        *cct.Node
	}
	above := &cct.Node{}
	var all []pair
	queue := []pair{{&cct.Node{Children: now}, &cct.Node{Children: before}, above}}
	for len(queue) > 0 {
		p := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		var old map[int64]*cct.Node
		if p.before != nil && len(p.before.Children) > 0 {
			old = make(map[int64]*cct.Node, len(p.before.Children))
			for _, c := range p.before.Children {
				old[c.Key()] = c
			}
		}
		for _, c := range p.now.Children {
			d := less(c, old[c.Key()])
			q := pair{c, old[c.Key()], d}
			p.into.Children = append(p.into.Children, d)
			all, queue = append(all, q), append(queue, q)
		}
	}
	drop := func(n *cct.Node) bool { return len(n.Children) == 0 && still(n) }
	for _, p := range slices.Backward(all) { // callees come after their callers
		p.into.Children = slices.DeleteFunc(p.into.Children, drop)
	}
	roots := slices.DeleteFunc(above.Children, drop)
	cct.Totals(roots)
	return roots
}

// less is a node without callees that has what n has more than before, which may be nil.
func less(n, before *cct.Node) *cct.Node {
	d := &cct.Node{Method: n.Method, Calls: n.Calls, Thrown: n.Thrown, Self: n.Self, Incomplete: n.Incomplete, Folded: n.Folded}
	if n.Counts != nil {
		d.Counts = &metric.Values{Table: n.Counts.Table, Own: n.Counts.Own}
	}
	if n.Async() != nil {
		d.Details().Async = n.Async()
	}
	if list := fewer(n.Allocs(), before); list != nil {
		d.Details().Allocs = list
	}
	if before == nil {
		return d
	}
	d.Calls -= before.Calls
	d.Thrown -= before.Thrown
	d.Self = max(d.Self-before.Self, 0)
	if d.Counts != nil && before.Counts != nil {
		for i, m := range d.Counts.Table.Rows {
			if m.Merge != metric.Max {
				d.Counts.Own[i] -= before.Counts.Own[i]
			}
		}
	}
	return d
}

// fewer is what was allocated, by type, without what a node had before, which may be nil.
func fewer(now []cct.Alloc, before *cct.Node) []cct.Alloc {
	if before == nil || len(now) == 0 {
		return now
	}
	var out []cct.Alloc
	for _, a := range now {
		if i := slices.IndexFunc(before.Allocs(), func(b cct.Alloc) bool { return b.Type.Name == a.Type.Name }); i >= 0 {
			b := before.Allocs()[i]
			a.Objects -= b.Objects
			a.Elements -= b.Elements
			if a.Bytes >= 0 && b.Bytes >= 0 {
				a.Bytes -= b.Bytes
			}
		}
		if a.Objects != 0 {
			out = append(out, a)
		}
	}
	return out
}

// still tells whether nothing has happened in a node of a difference.
func still(n *cct.Node) bool {
	if n.Calls != 0 || n.Thrown != 0 || n.Self != 0 {
		return false
	}
	return n.Counts == nil || n.Counts.Own == [metric.Room]int64{}
}

// restarted tells whether trees are no longer those that they were: a reset came between.
func restarted(now, before cct.Sums) bool { return now.Calls < before.Calls }

// A threadTree is the tree of one thread at one moment, merged.
type threadTree struct {
	id                int64
	name              string
	pooled            bool // of several threads
	open              bool
	entered, returned int64
	roots             []*cct.Node
	sums              cct.Sums
}

// A threadKey tells threads apart.
type threadKey struct {
	id   int64
	name string
}

func (t *threadTree) key() threadKey { return threadKey{t.id, t.name} }

// Names of what is put together: records that many threads had in turn are nobody's.
const (
	virtualThreads = "(virtual threads)"
	sharedThreads  = "(threads that shared a record)"
)

// threadTrees are the threads of a snapshot, by id and name.
func threadTrees(s *cct.Snapshot) []*threadTree {
	if s == nil {
		return nil
	}
	var out []*threadTree
	pools := map[string]*threadTree{}
	for _, t := range s.ByThread() {
		pool := ""
		if t.Virtual {
			pool = virtualThreads
		} else if t.Shared {
			pool = sharedThreads
		}
		into := pools[pool]
		if pool == "" {
			into = &threadTree{id: t.ID, name: t.Name}
			out = append(out, into)
		} else if into == nil {
			into = &threadTree{name: pool, pooled: true}
			pools[pool] = into
			out = append(out, into)
		}
		into.open = into.open || t.Open
		into.entered += t.RootEntries
		into.returned += t.RootReturns
		into.roots = append(into.roots[:len(into.roots):len(into.roots)], t.Roots...)
	}
	for _, t := range out {
		t.roots = cct.Merge(t.roots)
		t.sums = cct.Sum(t.roots)
	}
	slices.SortFunc(out, func(a, b *threadTree) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.name, b.name)) })
	return out
}
