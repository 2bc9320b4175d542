package hprof

import "errors"

// errTop: the segment that Goto has gone into ends here.
var errTop = errors.New("end of the segment")

// sub reads a record of a heap dump segment.
func (s *Scanner) sub() error {
	at := s.Offset()
	if err := s.need(at, 1); err != nil {
		return err
	}
	tag := s.u1()
	if s.loose && (tag == tagHeapSegment || tag == tagHeapEnd) {
		s.pos--
		s.segmentEnd, s.loose = 0, false
		return errTop
	}
	s.rec = Record{Offset: at, Depth: -1}
	var err error
	switch tag {
	case subInstance:
		err = s.instance(at)
	case subObjArray, subPrimArray:
		err = s.array(at, tag)
	case subClass:
		err = s.class(at)
	default:
		err = s.root(at, RootKind(tag))
	}
	if err != nil {
		return err
	}
	if end := s.Offset() + s.arrayLeft; end > s.segmentEnd {
		return wrong(at, "a record goes %d bytes beyond the end of its segment", end-s.segmentEnd)
	}
	return nil
}

func (s *Scanner) root(at int64, kind RootKind) error {
	form, ok := roots[kind]
	if !ok {
		return wrong(at, "there is no record of a heap dump with tag %#02x", byte(kind))
	}
	if err := s.need(at, (1+form.ids)*s.idSize+4*form.u4); err != nil {
		return err
	}
	r := &s.rec
	r.Kind, r.Root, r.ID = KindRoot, kind, s.id()
	s.pos += form.ids * s.idSize
	if form.thread {
		r.Serial = s.u4()
	}
	if form.u4 == 2 {
		v := s.u4()
		if kind == RootThread {
			r.Trace = v
		} else {
			r.Depth = int32(v)
		}
	}
	return nil
}

func (s *Scanner) instance(at int64) error {
	if err := s.need(at, 8+2*s.idSize); err != nil {
		return err
	}
	r := &s.rec
	r.Kind, r.ID = KindInstance, s.id()
	s.pos += 4 // stack trace
	r.Class = s.id()
	n := int64(s.u4())
	if n > maxRecord {
		return wrong(at, "an instance of %d bytes", n)
	}
	if err := s.need(at, int(n)); err != nil {
		return err
	}
	r.Body = s.buf[s.pos : s.pos+int(n)]
	s.pos += int(n)
	return nil
}

func (s *Scanner) array(at int64, tag byte) error {
	r := &s.rec
	head := s.idSize + 8 + 1
	if tag == subObjArray {
		head = 2*s.idSize + 8
	}
	if err := s.need(at, head); err != nil {
		return err
	}
	r.Kind, r.ID = KindObjectArray, s.id()
	s.pos += 4 // stack trace
	r.Length = int64(s.u4())
	if tag == subObjArray {
		r.Class, r.Elem = s.id(), Object
	} else {
		r.Kind, r.Elem = KindPrimArray, Type(s.u1())
		if !r.Elem.Valid() || r.Elem == Object {
			return wrong(at, "an array of type %d", r.Elem)
		}
	}
	s.elem = r.Elem.Size(s.idSize)
	bytes := r.Length * int64(s.elem)
	if left := s.size - s.Offset(); bytes > left {
		return &FormatError{Offset: at, What: "an array goes beyond the end of the file", Err: ErrCut}
	}
	s.arrayLeft = bytes
	return nil
}

func (s *Scanner) class(at int64) error {
	if err := s.need(at, 7*s.idSize+8+2); err != nil {
		return err
	}
	c := &Class{ID: s.id()}
	s.pos += 4 // stack trace
	c.Super, c.Loader, c.Signers, c.Domain = s.id(), s.id(), s.id(), s.id()
	s.pos += 2 * s.idSize // reserved
	c.InstanceSize = s.u4()
	// The constant pool, which HotSpot leaves empty.
	for range s.u2() {
		if err := s.need(at, 3); err != nil {
			return err
		}
		s.pos += 2
		if _, err := s.typed(at); err != nil {
			return err
		}
	}
	if err := s.need(at, 2); err != nil {
		return err
	}
	for range s.u2() {
		if err := s.need(at, s.idSize+1); err != nil {
			return err
		}
		f := Static{Name: s.id()}
		f.Type = Type(s.buf[s.pos])
		v, err := s.typed(at)
		if err != nil {
			return err
		}
		f.Value = v
		c.StaticBytes += f.Type.Size(s.idSize)
		c.Statics = append(c.Statics, f)
	}
	if err := s.need(at, 2); err != nil {
		return err
	}
	n := int(s.u2())
	if err := s.need(at, n*(s.idSize+1)); err != nil {
		return err
	}
	c.Fields = make([]Field, n)
	for i := range c.Fields {
		f := Field{s.id(), Type(s.u1())}
		if !f.Type.Valid() {
			return wrong(at, "a field of type %d", f.Type)
		}
		c.OwnedBytes += f.Type.Size(s.idSize)
		c.Fields[i] = f
	}
	s.rec.Kind, s.rec.ID, s.rec.Dump = KindClass, c.ID, c
	return nil
}

// typed reads a type and a value of it.
func (s *Scanner) typed(at int64) (uint64, error) {
	t := Type(s.u1())
	if !t.Valid() {
		return 0, wrong(at, "a value of type %d", t)
	}
	if err := s.need(at, t.Size(s.idSize)); err != nil {
		return 0, err
	}
	return s.value(t), nil
}
