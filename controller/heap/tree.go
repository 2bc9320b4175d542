package heap

import "iter"

// A tree is the dominator tree in an order in which an object is followed by all that
// it dominates: a place and the number of places below it are a subtree. Place 0 is
// above all roots.
type tree struct {
	n     uint32 // places
	obj   *block // u32: place to object
	up    *block // u32: place of the dominator
	size  *block // u32: places of the subtree, the object included
	place *block // u32: object to place; 0 if it can't be reached
	way   *block // u32: place of the object before on a shortest path by strong references; fromRoot, noWay
	sum   *block // u64: shallow sizes of all places before, in units of 8 bytes
}

func (t *tree) retained(p uint32) int64 {
	sum := t.sum.u64()
	return int64(sum[p+t.size.u32()[p]]-sum[p]) * 8
}

func (t *tree) shallow(p uint32) int64 {
	sum := t.sum.u64()
	return int64(sum[p+1]-sum[p]) * 8
}

func (t *tree) object(p uint32) uint32    { return t.obj.u32()[p] }
func (t *tree) dominator(p uint32) uint32 { return t.up.u32()[p] }
func (t *tree) placeOf(o uint32) uint32   { return t.place.u32()[o] }

// children yields the places that a place dominates immediately.
func (t *tree) children(p uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		size := t.size.u32()
		for c, end := p+1, p+size[p]; c < end; c += size[c] {
			if !yield(c) {
				return
			}
		}
	}
}

// noWay marks an object in tree.way that no strong path leads to.
const noWay = none - 1

// grow makes the tree of the dominators, dom, which it frees. It works on ranks, in which
// each dominator comes before what it dominates: so all arrays but one are gone through
// from end to end, and may be in files.
func (h *Heap) grow(dom *block) error {
	t, r := &h.tree, &h.reach
	t.n = r.n + 1
	words := int64(t.n) * 4
	get := func(to **block, bytes int64, cold bool) (err error) {
		*to, err = h.pool.get(bytes, bytes, cold)
		return err
	}
	var sizes, frees *block
	defer func() {
		h.pool.free(sizes)
		h.pool.free(frees)
		h.pool.free(dom)
	}()
	if err := get(&sizes, words, false); err != nil {
		return err
	}
	up, size := dom.u32(), sizes.u32()
	size[0] = 1
	for i := r.n; i > 0; i-- {
		if i%tidyEvery == 0 {
			h.pool.tidy()
		}
		size[i]++
		size[up[i]] += size[i]
	}
	if err := get(&frees, words, false); err != nil {
		return err
	}
	// The next free place below an object. When all have theirs, it is the object's own
	// place and its size.
	place := frees.u32()
	place[0] = 1
	for i := uint32(1); i < t.n; i++ {
		if i%tidyEvery == 0 {
			h.pool.tidy()
		}
		p := place[up[i]]
		place[up[i]] = p + size[i]
		place[i] = p + 1
	}
	for i := range place {
		place[i] -= size[i]
	}
	object, by := r.object.u32(), r.by.u32()
	for _, a := range []struct {
		to *(*block)
		of func(i uint32) uint32
	}{
		{&t.size, func(i uint32) uint32 { return size[i] }},
		{&t.up, func(i uint32) uint32 { return place[up[i]] }},
		{&t.obj, func(i uint32) uint32 {
			if i == 0 {
				return none
			}
			return object[i-1]
		}},
		{&t.way, func(i uint32) uint32 {
			switch {
			case i == 0 || i > r.strong:
				return noWay
			case by[i-1] == fromRoot:
				return fromRoot
			}
			return place[by[i-1]+1]
		}},
	} {
		if err := get(a.to, words, false); err != nil {
			return err
		}
		to := (*a.to).u32()
		for i := range t.n {
			if i%tidyEvery == 0 {
				h.pool.tidy()
			}
			to[place[i]] = a.of(i)
		}
		// They are read in order, or for few objects.
		if err := h.pool.park(*a.to); err != nil {
			return err
		}
	}
	if err := get(&t.place, int64(h.g.n)*4, true); err != nil {
		return err
	}
	places := t.place.u32()
	for i, ob := range object[:r.n] {
		if i%tidyEvery == 0 {
			h.pool.tidy()
		}
		places[ob] = place[i+1]
	}
	h.pool.free(r.object)
	h.pool.free(r.by)
	return h.add()
}

// add sums up what the tree's places take, and what has no place.
func (h *Heap) add() (err error) {
	t := &h.tree
	if t.sum, err = h.pool.get(int64(t.n+1)*8, int64(t.n+1)*8, false); err != nil {
		return err
	}
	obj, way, sum, units := t.obj.u32(), t.way.u32(), t.sum.u64(), h.g.units.u32()
	total := uint64(0)
	for p := uint32(1); p < t.n; p++ {
		if p%tidyEvery == 0 {
			h.pool.tidy()
		}
		u := uint64(units[obj[p]])
		sum[p] = total
		total += u
		if way[p] == noWay {
			h.Weak.Objects++
			h.Weak.Bytes += int64(u) * 8
		}
	}
	sum[t.n] = total
	all := uint64(0)
	for _, u := range units {
		all += uint64(u)
	}
	h.Objects, h.Bytes = int64(t.n)-1, int64(total)*8
	h.Unreachable.Objects, h.Unreachable.Bytes = int64(h.g.n)-h.Objects, int64(all-total)*8
	return nil
}
