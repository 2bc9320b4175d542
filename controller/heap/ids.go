package heap

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// errUnaligned: addresses are no multiples of 8, as in dumps that no JVM wrote.
var errUnaligned = errors.New("unaligned identifiers")

const (
	pageSlots = 4096
	pageWords = pageSlots / 64
	pageSize  = 8*pageWords + 2*pageWords + 16 // bytes in memory
	noPage    = ^uint64(0)
)

// A page has a bit for each address of a stretch of the heap, 32 KB if addresses are
// multiples of 8.
type page struct {
	words  [pageWords]uint64
	before [pageWords]uint16 // bits in the words before
	key    uint64            // address >> shift / pageSlots
	first  uint32            // objects in the pages before
}

// An idSet is the set of all objects by their identifiers, which are addresses. Once it
// is sealed, each has a number: how many are smaller.
type idSet struct {
	shift  uint // identifiers are multiples of 1<<shift
	most   int  // pages at the most
	byKey  map[uint64]*page
	sorted []*page
	direct []*page // by key - sorted[0].key, where that is not too sparse
	slab   []page
	last   *page
	count  uint32
}

func newIDSet(shift uint, maxBytes int64) *idSet {
	return &idSet{shift: shift, most: int(max(maxBytes/pageSize, 64)), byKey: map[uint64]*page{}}
}

// add reports whether the identifier is new.
func (s *idSet) add(id uint64) (bool, error) {
	if id&(1<<s.shift-1) != 0 {
		return false, errUnaligned
	}
	slot := id >> s.shift
	key := slot / pageSlots
	p := s.last
	if p == nil || p.key != key {
		if p = s.byKey[key]; p == nil {
			if len(s.byKey) >= s.most {
				return false, fmt.Errorf("%w: objects are spread over more than %d stretches of addresses; give more with --max-memory", ErrMemory, s.most)
			}
			if len(s.slab) == 0 {
				s.slab = make([]page, 64)
			}
			p, s.slab = &s.slab[0], s.slab[1:]
			p.key = key
			s.byKey[key] = p
		}
		s.last = p
	}
	w, bit := slot/64%pageWords, uint64(1)<<(slot%64)
	if p.words[w]&bit != 0 {
		return false, nil
	}
	p.words[w] |= bit
	s.count++
	return true, nil
}

// seal gives out the numbers.
func (s *idSet) seal() {
	s.sorted = make([]*page, 0, len(s.byKey))
	for _, p := range s.byKey {
		s.sorted = append(s.sorted, p)
	}
	slices.SortFunc(s.sorted, func(a, b *page) int {
		if a.key < b.key {
			return -1
		}
		return 1
	})
	var n uint32
	for _, p := range s.sorted {
		p.first = n
		in := 0
		for i, w := range p.words {
			p.before[i] = uint16(in)
			in += bits.OnesCount64(w)
		}
		n += uint32(in)
	}
	s.slab = nil
	if k := len(s.sorted); k > 0 {
		if span := s.sorted[k-1].key - s.sorted[0].key + 1; span <= max(uint64(8*k), 1<<16) {
			s.direct = make([]*page, span)
			for _, p := range s.sorted {
				s.direct[p.key-s.sorted[0].key] = p
			}
			s.byKey = nil
		}
	}
}

func (s *idSet) page(key uint64) *page {
	if s.direct == nil {
		return s.byKey[key]
	}
	if i := key - s.sorted[0].key; i < uint64(len(s.direct)) {
		return s.direct[i]
	}
	return nil
}

// find returns the number of an identifier.
func (s *idSet) find(id uint64) (uint32, bool) {
	if id&(1<<s.shift-1) != 0 {
		return 0, false
	}
	slot := id >> s.shift
	p := s.page(slot / pageSlots)
	if p == nil {
		return 0, false
	}
	w := slot / 64 % pageWords
	word, bit := p.words[w], uint64(1)<<(slot%64)
	if word&bit == 0 {
		return 0, false
	}
	return p.first + uint32(p.before[w]) + uint32(bits.OnesCount64(word&(bit-1))), true
}

// id is the inverse of find.
func (s *idSet) id(n uint32) uint64 {
	i, found := slices.BinarySearchFunc(s.sorted, n, func(p *page, n uint32) int {
		switch {
		case p.first < n:
			return -1
		case p.first > n:
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	p := s.sorted[i]
	rest := int(n - p.first)
	w := 0
	for w+1 < pageWords && int(p.before[w+1]) <= rest {
		w++
	}
	rest -= int(p.before[w])
	word := p.words[w]
	for range rest {
		word &= word - 1
	}
	return (p.key*pageSlots + uint64(w*64+bits.TrailingZeros64(word))) << s.shift
}

// gap is how many bytes lie between an identifier and the next one; 0 if that is not
// near.
func (s *idSet) gap(id uint64) uint64 {
	const near = 1 << 20 // bytes
	slot := id>>s.shift + 1
	end := slot + near>>s.shift
	for slot < end {
		p := s.page(slot / pageSlots)
		if p == nil {
			slot = (slot/pageSlots + 1) * pageSlots
			continue
		}
		for w := slot / 64 % pageWords; w < pageWords; w++ {
			word := p.words[w] >> (slot % 64)
			if word != 0 {
				return (slot+uint64(bits.TrailingZeros64(word)))<<s.shift - id
			}
			slot = (slot/64 + 1) * 64
		}
	}
	return 0
}
