package heap

import "context"

// A reach is what the roots reach, in the order of a breadth-first search: a place in it is
// a rank. An object's dominators all have lower ranks than it has.
type reach struct {
	n      uint32 // objects reached
	strong uint32 // those that strong references reach; they come first
	object *block // u32: rank to object
	by     *block // u32: the rank of the object that the search came from; fromRoot
	hard   bitset // objects that strong references reach
	simple bitset // see findSimple
	core   *ranked
}

// fromRoot marks a root in reach.by.
const fromRoot = none

// checkEvery is after how many objects a long loop looks whether it was cancelled.
const checkEvery = tidyEvery

// search finds what the roots reach, first by strong references alone, so that each object
// has a shortest path, then what only the referents of reference objects lead to.
func (h *Heap) search(ctx context.Context, o Options) (many bitset, err error) {
	n := int64(h.g.n)
	r := &h.reach
	if r.object, err = h.pool.get(n*4, n*4, true); err != nil {
		return nil, err
	}
	if r.by, err = h.pool.get(n*4, n*4, true); err != nil {
		return nil, err
	}
	queue, by := r.object.u32(), r.by.u32()
	many = newBitset(h.g.n) // more than one reference leads there
	seen := newBitset(h.g.n)
	tail := uint32(0)
	meet := func(to, from uint32) {
		if seen.has(to) {
			many.set(to)
			return
		}
		seen.set(to)
		queue[tail], by[tail] = to, from
		tail++
	}
	for _, root := range h.roots.order {
		meet(root, fromRoot)
	}
	strongFrom := func(head uint32) {
		it, _ := h.g.refs(queue[head])
		for to, ok := it.next(); ok; to, ok = it.next() {
			meet(to, head)
		}
	}
	step := func(head uint32) error {
		if head%checkEvery != 0 {
			return nil
		}
		h.pool.tidy()
		o.progress("finding paths", int64(head), n)
		return context.Cause(ctx)
	}
	for head := uint32(0); head < tail; head++ {
		if err := step(head); err != nil {
			return nil, err
		}
		strongFrom(head)
	}
	r.strong = tail
	r.hard = append(bitset{}, seen...)
	for head := uint32(0); head < tail; head++ {
		if head >= r.strong {
			if err := step(head); err != nil {
				return nil, err
			}
			strongFrom(head)
		}
		if to := h.softReferent(queue[head]); to != none {
			meet(to, head)
		}
	}
	r.n = tail
	return many, nil
}

// softReferent is the referent of a reference object if nothing else reaches it, none
// otherwise: what is strongly reachable is as if this reference were not there.
func (h *Heap) softReferent(o uint32) uint32 {
	if !h.g.weak.has(o) {
		return none
	}
	_, to := h.g.refs(o)
	if to == none || to == o || h.reach.hard.has(to) {
		return none
	}
	return to
}

// findSimple finds the objects to which one reference leads and from which only simple
// objects can be reached: strings with their characters, boxed values, arrays, most of a
// heap. The object that refers to one dominates it, and the dominators of others don't
// depend on it. So the search for dominators leaves them out.
func (h *Heap) findSimple(ctx context.Context, many bitset, o Options) error {
	r := &h.reach
	r.simple = newBitset(h.g.n)
	core := newBitset(h.g.n)
	object := r.object.u32()
	for i := r.n; i > 0; i-- {
		if i%checkEvery == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			h.pool.tidy()
			o.progress("finding simple objects", int64(r.n-i), int64(r.n))
		}
		ob := object[i-1]
		if many.has(ob) || !h.onlySimple(ob) {
			core.set(ob)
			continue
		}
		r.simple.set(ob)
	}
	r.core = newRanked(core)
	return nil
}

func (h *Heap) onlySimple(o uint32) bool {
	it, _ := h.g.refs(o)
	for to, ok := it.next(); ok; to, ok = it.next() {
		if !h.reach.simple.has(to) {
			return false
		}
	}
	to := h.softReferent(o)
	return to == none || h.reach.simple.has(to)
}
