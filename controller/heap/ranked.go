package heap

import "math/bits"

// A ranked is a set of objects that numbers them in their order.
type ranked struct {
	bits   bitset
	before []uint32 // in the words before each group of rankWords
	count  uint32
}

const rankWords = 8

func newRanked(b bitset) *ranked {
	r := &ranked{bits: b, before: make([]uint32, (len(b)+rankWords-1)/rankWords)}
	for i, w := range b {
		if i%rankWords == 0 {
			r.before[i/rankWords] = r.count
		}
		r.count += uint32(bits.OnesCount64(w))
	}
	return r
}

// rank is how many members are less than o.
func (r *ranked) rank(o uint32) uint32 {
	word := o >> 6
	n := r.before[word/rankWords]
	for i := word &^ (rankWords - 1); i < word; i++ {
		n += uint32(bits.OnesCount64(r.bits[i]))
	}
	return n + uint32(bits.OnesCount64(r.bits[word]&(1<<(o&63)-1)))
}
