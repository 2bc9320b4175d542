package heap

import "context"

// A dominance is the state of Lengauer and Tarjan's algorithm on all objects that are not
// simple. Vertices are numbered in the order of a depth-first search; 1 is above all
// roots, 0 is none.
//
// Four words for each vertex suffice, since no two of these are needed at once:
//
//	up     parent in the search tree, until the vertex is linked; then ancestor
//	label  first vertex of its bucket, until it is linked; then label
//	semi   semidominator
//	dom    next vertex of the bucket that it is in, until it leaves it; then dominator
type dominance struct {
	up, label, semi, dom []uint32
	num                  []uint32 // place among the objects that are not simple to number
	last                 uint32   // the highest number
	cross                *crossings
}

// dominate finds the immediate dominator of each object that is reachable, as ranks; 0 is
// above all roots, and each rank counts one more.
func (h *Heap) dominate(ctx context.Context, o Options) (*block, error) {
	n := int64(h.reach.core.count) + 2
	d := &dominance{}
	blocks := map[*[]uint32]*block{}
	get := func(to *[]uint32) error {
		b, err := h.pool.get(n*4, n*4, false)
		if err == nil {
			blocks[to] = b
			*to = b.u32()
		}
		return err
	}
	defer func() {
		for _, b := range blocks {
			h.pool.free(b)
		}
	}()
	for _, a := range []*[]uint32{&d.num, &d.up, &d.semi} {
		if err := get(a); err != nil {
			return nil, err
		}
	}
	d.cross = newCrossings(h.pool, uint32(n))
	defer d.cross.free()
	if err := d.search(ctx, h, o); err != nil {
		return nil, err
	}
	h.g.forget(h.pool)
	for _, a := range []*[]uint32{&d.label, &d.dom} {
		if err := get(a); err != nil {
			return nil, err
		}
	}
	for _, a := range []*[]uint32{&d.semi, &d.up} {
		h.pool.promote(blocks[a])
		*a = blocks[a].u32()
	}
	if err := d.solve(ctx, o); err != nil {
		return nil, err
	}
	// up becomes the rank of each vertex.
	return h.ranks(d, d.up)
}

// ranks turns vertices into ranks, and adds the simple objects.
func (h *Heap) ranks(d *dominance, rank []uint32) (*block, error) {
	r := &h.reach
	out, err := h.pool.get((int64(r.n)+1)*4, (int64(r.n)+1)*4, true)
	if err != nil {
		return nil, err
	}
	object, by, dom := r.object.u32(), r.by.u32(), out.u32()
	rank[1] = 0
	for i := range r.n {
		if i%tidyEvery == 0 {
			h.pool.tidy()
		}
		if ob := object[i]; !r.simple.has(ob) {
			rank[d.num[r.core.rank(ob)]] = i + 1
		}
	}
	for i := range r.n {
		if i%tidyEvery == 0 {
			h.pool.tidy()
		}
		if ob := object[i]; !r.simple.has(ob) {
			dom[i+1] = rank[d.dom[d.num[r.core.rank(ob)]]]
		} else {
			dom[i+1] = by[i] + 1 // fromRoot becomes 0
		}
	}
	return out, nil
}

// search numbers all objects that are not simple depth first. It meets each reference once:
// one that goes down in the tree gives its target's semidominator a bound at once, the
// others are kept for solve.
func (d *dominance) search(ctx context.Context, h *Heap, o Options) error {
	d.last = 1
	simple, core := h.reach.simple, h.reach.core
	path := &pathStack{pool: h.pool}
	defer path.free()
	enter := func(ob, at, parent uint32) error {
		d.last++
		w := d.last
		d.num[at] = w
		d.up[w] = parent
		d.semi[w] = parent
		if w%checkEvery == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			h.pool.tidy()
			o.progress("searching", int64(w), int64(core.count))
		}
		it, _ := h.g.refs(ob)
		referent := h.softReferent(ob)
		if it.done && referent == none {
			return nil
		}
		return path.push(link{it.p, it.prev, w, referent, it.done})
	}
	for _, r := range h.roots.order { // references to roots are left out: none is numbered yet
		if simple.has(r) {
			continue
		}
		if err := enter(r, core.rank(r), 1); err != nil {
			return err
		}
		for path.depth > 0 {
			top := path.top()
			it := refs{b: h.g.edges.u8(), p: top.p, prev: top.prev, done: top.done}
			to, ok := it.next()
			for ok && simple.has(to) {
				to, ok = it.next()
			}
			top.p, top.prev, top.done = it.p, it.prev, it.done
			if !ok {
				if to = top.referent; to == none || simple.has(to) {
					path.pop()
					continue
				}
				top.referent = none
			}
			from := top.num
			at := core.rank(to)
			var err error
			switch w := d.num[at]; {
			case w == 0:
				err = enter(to, at, from)
			case w > from:
				d.semi[w] = min(d.semi[w], from)
			case w < from:
				err = d.cross.add(w, from)
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
			if w%tidyEvery == 0 {
				d.cross.pool.tidy()
			}
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
