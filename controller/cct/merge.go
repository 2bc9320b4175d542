package cct

// Merge puts trees together by path: nodes with the same methods all the way
// up to the root become one. The given trees stay as they are.
func Merge(roots []*Node) []*Node { return merge(roots, false) }

// FoldRecursion merges, and puts direct recursion (a method that calls
// itself) into one node: its calls and self times are added up, Levels is the
// depth it had, and what its levels called is merged. Sums and totals are
// kept. It is for reading; paths through different levels can't be told
// apart afterwards.
func FoldRecursion(roots []*Node) []*Node { return merge(roots, true) }

func merge(roots []*Node, fold bool) []*Node {
	type group struct {
		into *Node
		from []*Node // nodes whose figures into has and whose children it lacks
	}
	above := &Node{Method: -1}
	stack := []group{{above, []*Node{{Method: -1, Children: roots}}}}
	var at finder
	var nodes slab
	for len(stack) > 0 {
		g := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		base := len(stack)
		at.reset()
		// With fold, levels of the same method join the end of g.from.
		levels, level := int32(1), len(g.from)
		for i := 0; i < len(g.from); i++ {
			if i == level {
				levels, level = levels+1, len(g.from)
			}
			for _, c := range g.from[i].Children {
				if fold && c.Method == g.into.Method && c.Async() == nil {
					g.into.add(c)
					g.from = append(g.from, c)
					continue
				}
				k, known := at.find(c.Key(), len(stack)-base)
				if !known {
					into := nodes.cut()
					into.Method = c.Method
					g.into.Children = append(g.into.Children, into)
					stack = append(stack, group{into: into})
				}
				slot := &stack[base+k]
				slot.into.add(c)
				if len(c.Children) > 0 {
					slot.from = append(slot.from, c)
				}
			}
		}
		if levels > 1 {
			g.into.Levels = max(g.into.Levels, levels)
		}
	}
	computeTotals(above.Children)
	return above.Children
}

// add takes over another node's own figures.
func (n *Node) add(o *Node) {
	n.Calls += o.Calls
	n.Thrown += o.Thrown
	n.Self += o.Self
	n.Raw += o.Raw
	n.Uncertainty = n.Uncertainty.Plus(o.Uncertainty)
	n.Counts = addCounts(n.Counts, o.Counts)
	n.Incomplete = n.Incomplete || o.Incomplete
	n.Folded = n.Folded || o.Folded
	n.Levels = max(n.Levels, o.Levels)
	if o.Rare != nil {
		n.Details().add(o.Rare)
	}
}

func (d *Details) add(o *Details) {
	d.Allocs = addAllocs(d.Allocs, o.Allocs)
	d.Heap = addHeaps(d.Heap, o.Heap)
	d.Loads = d.Loads.plus(o.Loads)
	d.Waits = d.Waits.plus(o.Waits)
	d.Sample = addSample(d.Sample, o.Sample)
	d.Parts = addParts(d.Parts, o.Parts)
	d.Below = d.Below.plus(o.Below)
	d.Async = d.Async.plus(o.Async)
}

// A finder numbers keys of nodes in the order in which they are asked for. Nearly
// all nodes have few children, for which a scan is faster than a map.
type finder struct {
	few  []int64
	many map[int64]int
}

func (f *finder) reset() { f.few, f.many = f.few[:0], nil }

// find returns the key's number, or gives it next.
func (f *finder) find(key int64, next int) (k int, known bool) {
	if f.many != nil {
		if k, known = f.many[key]; !known {
			f.many[key] = next
			return next, false
		}
		return k, true
	}
	for k, m := range f.few {
		if m == key {
			return k, true
		}
	}
	if f.few = append(f.few, key); len(f.few) > 16 {
		f.many = make(map[int64]int, 64)
		for k, m := range f.few {
			f.many[m] = k
		}
	}
	return next, false
}

// ByThread returns the snapshot's threads with records of the same thread put
// together, and within each thread one tree for each root method. Records
// that several threads had stay alone, since they are nobody's.
func (s *Snapshot) ByThread() []*Thread {
	type key struct {
		id   int64
		name string
	}
	var out []*Thread
	known := map[key]*Thread{}
	for _, t := range s.Threads {
		k := key{t.ID, t.Name}
		own := !t.Virtual && !t.Shared
		if first := known[k]; own && first != nil {
			first.Roots = append(first.Roots[:len(first.Roots):len(first.Roots)], t.Roots...)
			first.Open = first.Open || t.Open
			first.RootEntries += t.RootEntries
			first.RootReturns += t.RootReturns
			first.Suspended += t.Suspended
			continue
		}
		c := *t
		out = append(out, &c)
		if own {
			known[k] = &c
		}
	}
	for _, t := range out {
		if repeats(t.Roots) {
			t.Roots = Merge(t.Roots)
		}
	}
	return out
}

func repeats(nodes []*Node) bool {
	var at finder
	for i, n := range nodes {
		if _, known := at.find(n.Key(), i); known {
			return true
		}
	}
	return false
}

// Merged tells whether [Merge] would do nothing but make a copy: no two roots have the same [Node.Key], and no two children
// of a node. Tasks of one call that several threads have executed do.
func Merged(roots []*Node) bool {
	var at finder
	for lists := [][]*Node{roots}; len(lists) > 0; {
		list := lists[len(lists)-1]
		lists = lists[:len(lists)-1]
		at.reset()
		for i, n := range list {
			if len(list) > 1 {
				if _, known := at.find(n.Key(), i); known {
					return false
				}
			}
			if len(n.Children) > 0 {
				lists = append(lists, n.Children)
			}
		}
	}
	return true
}
