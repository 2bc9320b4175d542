package classfile

import "encoding/binary"

// A reader takes big-endian values off a byte slice. The first failure sticks:
// later reads return zero, so a caller checks err once per structure and before
// it allocates.
type reader struct {
	b       []byte
	at      int
	base    int    // offset of b[0] in the file
	section string // JVMS section being read
	class   string
	err     error
}

func (r *reader) fail(err error) { r.failAt(r.at, err) }

func (r *reader) failAt(at int, err error) {
	if r.err == nil {
		r.err = &FormatError{Class: r.class, Offset: r.base + at, Section: r.section, Err: err}
	}
}

func (r *reader) left() int { return len(r.b) - r.at }

// need reports whether n more bytes are there.
func (r *reader) need(n int) bool {
	if r.err != nil {
		return false
	}
	if n < 0 || n > r.left() {
		r.fail(errTruncated)
		return false
	}
	return true
}

func (r *reader) u1() uint8 {
	if !r.need(1) {
		return 0
	}
	v := r.b[r.at]
	r.at++
	return v
}

func (r *reader) u2() uint16 {
	if !r.need(2) {
		return 0
	}
	v := binary.BigEndian.Uint16(r.b[r.at:])
	r.at += 2
	return v
}

func (r *reader) u4() uint32 {
	if !r.need(4) {
		return 0
	}
	v := binary.BigEndian.Uint32(r.b[r.at:])
	r.at += 4
	return v
}

// take returns the next n bytes, sharing memory, with no room to append into.
func (r *reader) take(n int) []byte {
	if !r.need(n) {
		return nil
	}
	v := r.b[r.at : r.at+n : r.at+n]
	r.at += n
	return v
}

// count reads a u2 count of items of at least size bytes each and fails when
// they cannot all be there, so that make([]T, count) is bounded by the input.
func (r *reader) count(size int) int {
	n := int(r.u2())
	if r.err == nil && n*size > r.left() {
		r.failAt(r.at-2, errCount)
	}
	if r.err != nil {
		return 0
	}
	return n
}

// done fails when bytes remain.
func (r *reader) done() error {
	if r.err == nil && r.left() > 0 {
		r.fail(errTrailing)
	}
	return r.err
}
