package hprof

import "io"

// record reads a record of the top level. again says that it has opened a segment, or
// that there is nothing in it.
func (s *Scanner) record() (again bool, err error) {
	at := s.Offset()
	if at == s.size {
		return false, io.EOF
	}
	if err := s.need(at, 9); err != nil {
		return false, err
	}
	tag := s.u1()
	s.pos += 4 // microseconds since the header's time
	length := int64(s.u4())
	s.rec = Record{Offset: at}
	if tag == tagHeapDump || tag == tagHeapSegment {
		// A cut segment is read as far as it goes.
		s.segmentEnd = s.Offset() + length
		if length == 0 {
			s.segmentEnd = 0
			// JDK 8 writes a segment's length when the segment is complete, so in a dump
			// that is cut off, the last one has length 0 and contents.
			if s.need(at, 1) == nil && s.buf[s.pos] >= subClass && s.buf[s.pos] <= subPrimArray {
				s.segmentEnd = s.size + 1
			}
		}
		return true, nil
	}
	if s.Offset()+length > s.size {
		return false, &FormatError{Offset: at, What: "a record goes beyond the end of the file", Err: ErrCut}
	}
	read, ok := tops[tag]
	if !ok {
		s.skip(length)
		return false, nil
	}
	if length > maxRecord {
		return false, wrong(at, "a record of %d bytes with tag %#02x", length, tag)
	}
	if err := s.need(at, int(length)); err != nil {
		return false, err
	}
	end := s.pos + int(length)
	if !read(s, int(length)) {
		return false, wrong(at, "a record of %d bytes with tag %#02x is too short", length, tag)
	}
	s.pos = end
	return false, nil
}

// tops reads the records of the top level that an analysis has a use for. A function
// returns false if the record is too short.
var tops = map[byte]func(s *Scanner, length int) bool{
	tagString: func(s *Scanner, n int) bool {
		if n < s.idSize {
			return false
		}
		s.rec.Kind, s.rec.ID = KindString, s.id()
		s.rec.Body = s.buf[s.pos : s.pos+n-s.idSize]
		return true
	},
	tagLoadClass: func(s *Scanner, n int) bool {
		if n < 8+2*s.idSize {
			return false
		}
		s.rec.Kind, s.rec.Serial, s.rec.ID = KindLoadClass, s.u4(), s.id()
		s.pos += 4
		s.rec.Name = s.id()
		return true
	},
	tagFrame: func(s *Scanner, n int) bool {
		if n < 8+4*s.idSize {
			return false
		}
		s.rec.Kind, s.rec.ID, s.rec.Name = KindFrame, s.id(), s.id()
		s.id() // signature
		s.rec.Source, s.rec.Serial, s.rec.Line = s.id(), s.u4(), int32(s.u4())
		return true
	},
	tagTrace: func(s *Scanner, n int) bool {
		if n < 12 {
			return false
		}
		s.rec.Kind, s.rec.Trace, s.rec.Serial = KindTrace, s.u4(), s.u4()
		count := int64(s.u4())
		if count*int64(s.idSize) > int64(n-12) {
			return false
		}
		s.rec.Frames = make([]uint64, count)
		for i := range s.rec.Frames {
			s.rec.Frames[i] = s.id()
		}
		return true
	},
	tagHeapEnd: func(s *Scanner, _ int) bool {
		s.rec.Kind = KindEnd
		return true
	},
}
