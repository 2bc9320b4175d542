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

// grow makes the tree of the dominators. It frees the blocks of d as soon as they are
// no longer needed, so that no more are in use than before.
func (h *Heap) grow(d *dominance, held map[string]*block) error {
	t := &h.tree
	last := d.last
	t.n = last
	// semi becomes the sizes of subtrees, label places, up the next free place.
	size, place, free := d.semi, d.label, d.up
	for w := uint32(1); w <= last; w++ {
		size[w] = 1
	}
	for w := last; w > 1; w-- {
		size[d.dom[w]] += size[w]
	}
	place[1], free[1] = 0, 1
	for w := uint32(2); w <= last; w++ {
		p := free[d.dom[w]]
		free[d.dom[w]] = p + size[w]
		place[w], free[w] = p, p+1
	}
	h.pool.free(held["up"])
	words := int64(last) * 4
	get := func(to **block, bytes int64) (err error) {
		*to, err = h.pool.get(bytes, bytes, false)
		return err
	}
	if err := get(&t.obj, words); err != nil {
		return err
	}
	obj := t.obj.u32()
	obj[0] = none
	for w := uint32(2); w <= last; w++ {
		obj[place[w]] = d.vertex[w]
	}
	h.pool.free(held["vertex"])
	if err := get(&t.up, words); err != nil {
		return err
	}
	up := t.up.u32()
	for w := uint32(2); w <= last; w++ {
		up[place[w]] = place[d.dom[w]]
	}
	h.pool.free(held["dom"])
	if err := get(&t.size, words); err != nil {
		return err
	}
	sizes := t.size.u32()
	for w := uint32(1); w <= last; w++ {
		sizes[place[w]] = size[w]
	}
	h.pool.free(held["semi"])
	h.pool.free(held["label"])
	if err := get(&t.place, int64(h.g.n)*4); err != nil {
		return err
	}
	if err := get(&t.sum, int64(last+1)*8); err != nil {
		return err
	}
	h.add()
	return nil
}

// add sums up what the tree's places take, and what has no place.
func (h *Heap) add() {
	t := &h.tree
	obj, places, sum, units, by := t.obj.u32(), t.place.u32(), t.sum.u64(), h.g.units.u32(), h.by.u32()
	total := uint64(0)
	for p := uint32(1); p < t.n; p++ {
		o := obj[p]
		places[o] = p
		sum[p] = total
		total += uint64(units[o])
		if by[o] == 0 {
			h.Weak.Objects++
			h.Weak.Bytes += int64(units[o]) * 8
		}
	}
	sum[t.n] = total
	all := uint64(0)
	for _, u := range units {
		all += uint64(u)
	}
	h.Objects, h.Bytes = int64(t.n)-1, int64(total)*8
	h.Unreachable.Objects, h.Unreachable.Bytes = int64(h.g.n)-h.Objects, int64(all-total)*8
}
