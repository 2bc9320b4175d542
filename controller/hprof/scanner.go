package hprof

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	window = 1 << 20 // bytes that are read at once
	little = 4 << 10 // the same for a scanner that goes to single objects
	// maxRecord is the longest record that is held in memory at once. Arrays are not:
	// they come in pieces. A class with 65,535 static and as many instance fields has
	// 1.7 MB, an instance of it 0.5 MB.
	maxRecord = 16 << 20
)

// A Mark is a place in a dump between two records, or between two of a heap dump
// segment.
type Mark struct {
	Offset int64
	// segmentEnd is where the segment ends that Offset is in; 0 outside of one.
	segmentEnd int64
}

// A Scanner reads a dump record by record.
type Scanner struct {
	src    io.ReaderAt
	size   int64 // of the dump
	idSize int
	ahead  int // bytes that are read at once

	buf   []byte
	start int64 // the offset of buf[0] in the dump
	pos   int   // the next byte in buf

	segmentEnd int64 // 0 outside of a segment
	loose      bool  // where the segment ends is not known
	arrayLeft  int64 // bytes of the array's elements that were not read yet
	elem       int   // size of an element
	rec        Record
	err        error
}

// NewScanner returns a scanner of a dump of size bytes. It reads nothing yet.
func NewScanner(src io.ReaderAt, size int64, h Header) *Scanner {
	return &Scanner{src: src, size: size, idSize: h.IDSize, ahead: window, start: h.Length}
}

// From returns a scanner of the same dump that begins at a mark.
func (s *Scanner) From(m Mark) *Scanner {
	return &Scanner{src: s.src, size: s.size, idSize: s.idSize, ahead: window, start: m.Offset, segmentEnd: m.segmentEnd}
}

// Goto goes to a record of a heap dump that begins at an offset: Record.Offset of an
// object that was read before. From then on the scanner reads little at a time, until the
// segment ends.
func (s *Scanner) Goto(offset int64) {
	if at := offset - s.start; at >= 0 && at <= int64(len(s.buf)) && s.ahead == little {
		s.pos = int(at)
	} else {
		s.start, s.pos, s.buf = offset, 0, s.buf[:0]
	}
	s.ahead, s.segmentEnd, s.arrayLeft, s.err = little, s.size+1, 0, nil
	s.loose = true
}

// Mark is where the next record begins.
func (s *Scanner) Mark() Mark { return Mark{s.Offset() + s.arrayLeft, s.segmentEnd} }

// Offset is how far the dump has been read.
func (s *Scanner) Offset() int64 { return s.start + int64(s.pos) }

// Next reads the next record. At the dump's end the error is io.EOF, anything else is a
// *FormatError, which all further calls repeat. What an array had left is skipped.
func (s *Scanner) Next() (*Record, error) {
	if s.err != nil {
		return nil, s.err
	}
	s.skip(s.arrayLeft)
	s.arrayLeft = 0
	for s.segmentEnd != 0 && s.Offset() >= s.segmentEnd {
		s.segmentEnd = 0
	}
	if s.segmentEnd != 0 {
		err := s.sub()
		switch {
		case err == nil:
			return &s.rec, nil
		case err != errTop: //nolint:errorlint // never wrapped
			return s.fail(err)
		}
	}
	again, err := s.record()
	switch {
	case err != nil:
		return s.fail(err)
	case again:
		return s.Next()
	}
	return &s.rec, nil
}

func (s *Scanner) fail(err error) (*Record, error) {
	s.err = err
	return nil, err
}

// wrong is an error about the record that begins at an offset.
func wrong(at int64, format string, args ...any) error {
	return &FormatError{Offset: at, What: fmt.Sprintf(format, args...)}
}

// need makes sure that the next n bytes are in the buffer. The record that they are of
// began at an offset.
func (s *Scanner) need(at int64, n int) error {
	if len(s.buf)-s.pos >= n {
		return nil
	}
	if s.Offset()+int64(n) > s.size {
		return &FormatError{Offset: at, What: fmt.Sprintf("a record needs %d bytes more, the file has %d", n, max(s.size-s.Offset(), 0)), Err: ErrCut}
	}
	if n > maxRecord {
		return wrong(at, "a record of more than %d MB", maxRecord>>20)
	}
	if s.buf == nil {
		s.buf = make([]byte, 0, s.ahead)
	}
	rest := s.buf[s.pos:]
	if want := max(n, s.ahead); cap(s.buf) < want {
		grown := make([]byte, len(rest), want+want/4)
		copy(grown, rest)
		s.buf = grown
	} else {
		s.buf = s.buf[:copy(s.buf[:cap(s.buf)], rest)]
	}
	s.start += int64(s.pos)
	s.pos = 0
	have := len(s.buf)
	end := int(min(int64(cap(s.buf)), s.size-s.start))
	s.buf = s.buf[:end]
	k, err := s.src.ReadAt(s.buf[have:], s.start+int64(have))
	s.buf = s.buf[:have+k]
	if have+k >= n {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &FormatError{Offset: at, What: "the file has become shorter", Err: ErrCut}
	}
	return &FormatError{Offset: s.start + int64(have+k), Err: err}
}

// skip leaves out n bytes, which are known to be there, without reading them.
func (s *Scanner) skip(n int64) {
	if int64(len(s.buf)-s.pos) >= n {
		s.pos += int(n)
		return
	}
	s.start = s.Offset() + n
	s.buf, s.pos = s.buf[:0], 0
}

// The next functions read what need has made sure of.

func (s *Scanner) u1() byte {
	b := s.buf[s.pos]
	s.pos++
	return b
}

func (s *Scanner) u2() uint16 {
	v := binary.BigEndian.Uint16(s.buf[s.pos:])
	s.pos += 2
	return v
}

func (s *Scanner) u4() uint32 {
	v := binary.BigEndian.Uint32(s.buf[s.pos:])
	s.pos += 4
	return v
}

func (s *Scanner) id() uint64 {
	if s.idSize == 4 {
		return uint64(s.u4())
	}
	v := binary.BigEndian.Uint64(s.buf[s.pos:])
	s.pos += 8
	return v
}

// value reads the raw bits of a value.
func (s *Scanner) value(t Type) uint64 {
	switch t.Size(s.idSize) {
	case 1:
		return uint64(s.u1())
	case 2:
		return uint64(s.u2())
	case 4:
		return uint64(s.u4())
	default:
		v := binary.BigEndian.Uint64(s.buf[s.pos:])
		s.pos += 8
		return v
	}
}

// Elements returns the next elements of the array that Next has read, as raw bytes, a
// whole number of them; nil at the array's end. They are valid until the next call.
func (s *Scanner) Elements() ([]byte, error) {
	if s.err != nil || s.arrayLeft == 0 {
		return nil, s.err
	}
	have := int64(len(s.buf) - s.pos)
	if have < int64(s.elem) {
		if err := s.need(s.rec.Offset, s.elem); err != nil {
			s.err = err
			return nil, err
		}
		have = int64(len(s.buf) - s.pos)
	}
	n := min(have, s.arrayLeft)
	n -= n % int64(s.elem)
	b := s.buf[s.pos : s.pos+int(n)]
	s.pos += int(n)
	s.arrayLeft -= n
	return b, nil
}
