package heap

import "context"

// A dominance is the state of Lengauer and Tarjan's algorithm. Vertices are numbered in
// the order of a depth-first search; 1 is above all roots, 0 is none.
//
// Four words for each vertex suffice, since no two of these are needed at once:
//
//	up     parent in the search tree, until the vertex is linked; then ancestor
//	label  first vertex of its bucket, until it is linked; then label
//	semi   semidominator
//	dom    next vertex of the bucket that it is in, until it leaves it; then dominator
type dominance struct {
	up, label, semi, dom []uint32
	vertex               []uint32 // number to object
	last                 uint32   // the highest number
	cross                *crossings
}

// dominate finds the immediate dominator of each object that is reachable.
func (h *Heap) dominate(ctx context.Context, o Options) error {
	n := int64(h.g.n)
	d := &dominance{}
	var held []*block
	get := func(to *[]uint32, words int64, cold bool) (*block, error) {
		b, err := h.pool.get(words*4, words*4, cold)
		if err != nil {
			return nil, err
		}
		*to = b.u32()
		held = append(held, b)
		return b, nil
	}
	defer func() {
		for _, b := range held {
			h.pool.free(b)
		}
	}()
	var num []uint32
	numbers, err := get(&num, n, false)
	if err != nil {
		return err
	}
	blocks := map[string]*block{}
	for _, a := range []struct {
		name string
		to   *[]uint32
		cold bool
	}{{"up", &d.up, false}, {"semi", &d.semi, false}, {"vertex", &d.vertex, true}} {
		if blocks[a.name], err = get(a.to, n+2, a.cold); err != nil {
			return err
		}
	}
	d.cross = newCrossings(h.pool, uint32(n)+2)
	defer d.cross.free()
	if err := d.search(ctx, h, num, o); err != nil {
		return err
	}
	h.pool.free(numbers)
	h.g.forget(h.pool)
	for _, a := range []struct {
		name string
		to   *[]uint32
	}{{"label", &d.label}, {"dom", &d.dom}} {
		if blocks[a.name], err = get(a.to, n+2, false); err != nil {
			return err
		}
	}
	h.pool.promote(blocks["semi"])
	h.pool.promote(blocks["up"])
	d.semi, d.up = blocks["semi"].u32(), blocks["up"].u32()
	if err := d.solve(ctx, o); err != nil {
		return err
	}
	d.cross.free()
	return h.grow(d, blocks)
}

// search numbers all reachable objects depth first. It meets each reference once: one
// that goes down in the tree gives its target's semidominator a bound at once, the
// others are kept for solve.
func (d *dominance) search(ctx context.Context, h *Heap, num []uint32, o Options) error {
	d.last = 1
	path := &pathStack{pool: h.pool}
	defer path.free()
	enter := func(ob, parent uint32) error {
		d.last++
		w := d.last
		num[ob] = w
		d.vertex[w] = ob
		d.up[w] = parent
		d.semi[w] = parent
		if w%checkEvery == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			o.progress("searching", int64(w), int64(h.g.n))
		}
		it, referent := h.g.refs(ob)
		if referent != none && (referent == ob || h.roots.bits.has(referent) || h.strong.has(referent)) {
			referent = none // strongly reachable: as if this reference were not there
		}
		if it.done && referent == none {
			return nil
		}
		return path.push(link{it.p, it.prev, w, referent, it.done})
	}
	for _, r := range h.roots.order { // references to roots are left out: none is numbered yet
		if err := enter(r, 1); err != nil {
			return err
		}
		for path.depth > 0 {
			top := path.top()
			it := refs{b: h.g.edges.u8(), p: top.p, prev: top.prev, done: top.done}
			to, ok := it.next()
			top.p, top.prev, top.done = it.p, it.prev, it.done
			if !ok {
				if to = top.referent; to == none {
					path.pop()
					continue
				}
				top.referent = none
			}
			from := top.num
			var err error
			switch at := num[to]; {
			case at == 0:
				err = enter(to, from)
			case at > from:
				d.semi[at] = min(d.semi[at], from)
			case at < from:
				err = d.cross.add(at, from)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// solve computes dom.
func (d *dominance) solve(ctx context.Context, o Options) error {
	w := d.last
	for edges := range d.cross.descending() {
		if edges.err != nil {
			return edges.err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		o.progress("finding dominators", int64(d.last-w), int64(d.last))
		for first := max(edges.first, 2); w >= first; w-- {
			for len(edges.pairs) > 0 && uint32(edges.pairs[len(edges.pairs)-1]>>32) == w {
				from := uint32(edges.pairs[len(edges.pairs)-1])
				edges.pairs = edges.pairs[:len(edges.pairs)-1]
				d.compress(from, w+1)
				d.semi[w] = min(d.semi[w], d.semi[d.label[from]])
			}
			p, s := d.up[w], d.semi[w]
			if s == p {
				d.dom[w] = p // the bucket would be emptied at once, with this answer
			} else {
				d.dom[w] = d.label[s]
				d.label[s] = w
			}
			d.label[w] = w // from here on w is linked to p
			for v := d.label[p]; v != 0; {
				next := d.dom[v]
				d.compress(v, w)
				if u := d.label[v]; d.semi[u] < d.semi[v] {
					d.dom[v] = u
				} else {
					d.dom[v] = p
				}
				v = next
			}
			d.label[p] = 0
		}
	}
	for w := uint32(2); w <= d.last; w++ {
		if d.dom[w] != d.semi[w] {
			d.dom[w] = d.dom[d.dom[w]]
		}
	}
	return nil
}

// compress makes v's label that with the least semidominator on v's path up to, and
// without, the root of its tree. Vertices from linked on are linked. The way back is kept
// in the links themselves, since it may be as long as there are objects.
func (d *dominance) compress(v, linked uint32) {
	up, label, semi := d.up, d.label, d.semi
	below, x := uint32(0), v
	for up[x] >= linked {
		x, up[x], below = up[x], below, x
	}
	top := up[x]
	best := label[x]
	for y := below; y != 0; {
		next := up[y]
		if l := label[y]; semi[best] < semi[l] {
			label[y] = best
		} else {
			best = l
		}
		up[y] = top
		y = next
	}
}
