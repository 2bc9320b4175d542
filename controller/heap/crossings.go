package heap

import (
	"iter"
	"slices"
)

// A crossings keeps the references that don't go down in the tree of a search, sorted
// by target: those are about a fifth of all. They are kept in parts by the target's
// number; a part is sorted when its turn comes, while the part before is in use.
type crossings struct {
	pool   *pool
	width  uint32 // targets of a part
	parts  [crossParts][][]uint64
	filled [crossParts]int // pairs in a part
	slabs  []*block
	spare  [][]uint64
}

const (
	crossParts = 256
	crossPairs = 2048 // of a piece
	slabPieces = 256
)

func newCrossings(p *pool, most uint32) *crossings {
	return &crossings{pool: p, width: most/crossParts + 1}
}

// add adds a reference.
func (c *crossings) add(to, from uint32) error {
	i := to / c.width
	k := c.filled[i]
	if k == len(c.parts[i])*crossPairs {
		if len(c.spare) == 0 {
			n := int64(slabPieces * crossPairs * 8)
			b, err := c.pool.get(n, n, false)
			if err != nil {
				return err
			}
			c.slabs = append(c.slabs, b)
			for piece := range slices.Chunk(b.u64(), crossPairs) {
				c.spare = append(c.spare, piece)
			}
		}
		last := len(c.spare) - 1
		c.parts[i] = append(c.parts[i], c.spare[last])
		c.spare = c.spare[:last]
	}
	c.parts[i][k/crossPairs][k%crossPairs] = uint64(to)<<32 | uint64(from)
	c.filled[i]++
	return nil
}

// A crossPart is a part's references: target and source, ascending.
type crossPart struct {
	first uint32 // the least target that the part can have
	pairs []uint64
	block *block
	err   error
}

// sorted puts a part in order.
func (c *crossings) sorted(i int) *crossPart {
	n := int64(c.filled[i]) * 8
	p := &crossPart{first: uint32(i) * c.width}
	if p.block, p.err = c.pool.get(n, n, false); p.err != nil {
		return p
	}
	p.pairs = p.block.u64()
	rest := p.pairs
	for _, piece := range c.parts[i] {
		rest = rest[copy(rest, piece):]
	}
	slices.Sort(p.pairs)
	return p
}

// descending yields all parts, that of the highest targets first. A part is valid until
// the next one.
func (c *crossings) descending() iter.Seq[*crossPart] {
	return func(yield func(*crossPart) bool) {
		next := make(chan *crossPart, 1)
		go func() { next <- c.sorted(crossParts - 1) }()
		for i := crossParts - 1; i >= 0; i-- {
			part := <-next
			if i > 0 {
				go func() { next <- c.sorted(i - 1) }()
			}
			more := yield(part)
			c.pool.free(part.block)
			if !more {
				if i > 0 {
					c.pool.free((<-next).block)
				}
				return
			}
		}
	}
}

func (c *crossings) free() {
	for _, b := range c.slabs {
		c.pool.free(b)
	}
	c.slabs, c.spare = nil, nil
	c.parts = [crossParts][][]uint64{}
}
