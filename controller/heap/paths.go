package heap

import "context"

// fromRoot marks a root in Heap.by; 0 is an object that no strong path reaches, and
// everything else the number plus one of the object before it on a shortest path.
const fromRoot = ^uint32(0)

// checkEvery is after how many objects a long loop looks whether it was cancelled.
const checkEvery = 1 << 20

// findPaths finds a shortest path from a root to each object by strong references, breadth first.
func (h *Heap) findPaths(ctx context.Context, o Options) error {
	n := h.g.n
	var err error
	if h.by, err = h.pool.get(int64(n)*4, int64(n)*4, false); err != nil {
		return err
	}
	q, err := h.pool.get(int64(n)*4, int64(n)*4, false)
	if err != nil {
		return err
	}
	defer h.pool.free(q)
	by, queue := h.by.u32(), q.u32()
	tail := 0
	for _, r := range h.roots.order {
		by[r] = fromRoot
		queue[tail] = r
		tail++
	}
	for head := 0; head < tail; head++ {
		if head%checkEvery == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			o.progress("finding paths", int64(head), int64(n))
		}
		from := queue[head]
		it, _ := h.g.refs(from)
		for to, ok := it.next(); ok; to, ok = it.next() {
			if by[to] == 0 {
				by[to] = from + 1
				queue[tail] = to
				tail++
			}
		}
	}
	// The dominators need only to know what was reached.
	h.strong = newBitset(n)
	for o, b := range by {
		if b != 0 {
			h.strong.set(uint32(o))
		}
	}
	return h.pool.park(h.by)
}
