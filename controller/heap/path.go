package heap

import "unsafe"

// A link is an object on the path of a depth-first search, and how far its references
// have been followed.
type link struct {
	p        int64
	prev     uint32
	num      uint32
	referent uint32 // followed last; none if there is none
	done     bool
}

const (
	linkSize   = int(unsafe.Sizeof(link{}))
	pieceLinks = 1 << 16
)

// A pathStack is a stack of links. A path can be as long as there are objects, as in a
// linked list, so it counts as what an analysis needs for each.
type pathStack struct {
	pool   *pool
	pieces []*block
	depth  int
}

func (s *pathStack) at(i int) *link {
	return (*link)(unsafe.Pointer(&s.pieces[i/pieceLinks].data[i%pieceLinks*linkSize]))
}

func (s *pathStack) top() *link { return s.at(s.depth - 1) }

func (s *pathStack) push(l link) error {
	if s.depth == len(s.pieces)*pieceLinks {
		n := int64(pieceLinks * linkSize)
		b, err := s.pool.get(n, n, false)
		if err != nil {
			return err
		}
		s.pieces = append(s.pieces, b)
	}
	s.depth++
	*s.top() = l
	return nil
}

// pop frees a piece only when the one before is half empty, lest a search at its border
// asks for it again and again.
func (s *pathStack) pop() {
	s.depth--
	if last := len(s.pieces) - 1; last > 0 && s.depth < last*pieceLinks-pieceLinks/2 {
		s.pool.free(s.pieces[last])
		s.pieces = s.pieces[:last]
	}
}

func (s *pathStack) free() {
	for _, b := range s.pieces {
		s.pool.free(b)
	}
	s.pieces, s.depth = nil, 0
}
