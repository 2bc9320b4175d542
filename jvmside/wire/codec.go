package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrTruncated reports a message that ends before its fields do.
var ErrTruncated = errors.New("message is truncated")

// A Reader takes a message apart. Its zero value is an empty message. After
// the first failure every method returns zero and Err the failure, so a
// caller reads all fields and asks once.
type Reader struct {
	b   []byte
	err error
}

// NewReader reads b, which it does not copy.
func NewReader(b []byte) *Reader { return &Reader{b: b} }

// Err is the first failure, which wraps [ErrTruncated].
func (r *Reader) Err() error { return r.err }

func (r *Reader) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > len(r.b) {
		r.err = fmt.Errorf("%w: %d bytes wanted, %d left", ErrTruncated, n, len(r.b))
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

// U8 reads one byte.
func (r *Reader) U8() uint8 {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// U32 reads four bytes.
func (r *Reader) U32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// U64 reads eight bytes.
func (r *Reader) U64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// Str reads a string: a u16 length and modified UTF-8, kept as it is.
func (r *Reader) Str() string {
	b := r.take(2)
	if b == nil {
		return ""
	}
	return string(r.take(int(binary.BigEndian.Uint16(b))))
}

// Bytes reads a u32 length and that many bytes, which alias the message.
func (r *Reader) Bytes() []byte { return r.take(int(r.U32())) }

// Count reads the u32 count of a repeated group of at least min bytes each;
// a count that the rest of the message cannot hold is a failure.
func (r *Reader) Count(min int) int {
	n := int(r.U32())
	if r.err == nil && n > len(r.b)/min {
		r.err = fmt.Errorf("%w: %d entries announced, %d bytes left", ErrTruncated, n, len(r.b))
		return 0
	}
	return n
}

// A Writer puts a message together. The zero value is ready.
type Writer struct{ b []byte }

// Bytes is the message so far.
func (w *Writer) Bytes() []byte { return w.b }

// U8 appends one byte.
func (w *Writer) U8(v uint8) { w.b = append(w.b, v) }

// U32 appends four bytes.
func (w *Writer) U32(v uint32) { w.b = binary.BigEndian.AppendUint32(w.b, v) }

// U64 appends eight bytes.
func (w *Writer) U64(v uint64) { w.b = binary.BigEndian.AppendUint64(w.b, v) }

// Str appends a string of modified UTF-8; what is beyond 65,535 bytes is cut,
// which no name of a class file can reach (JVMS §4.4.7).
func (w *Writer) Str(s string) {
	if len(s) > math.MaxUint16 {
		s = s[:math.MaxUint16]
	}
	w.b = binary.BigEndian.AppendUint16(w.b, uint16(len(s)))
	w.b = append(w.b, s...)
}

// Block appends a u32 length and the bytes.
func (w *Writer) Block(b []byte) {
	w.U32(uint32(len(b)))
	w.b = append(w.b, b...)
}

// Command frames a command for the FIFO.
func Command(typ uint8, payload []byte) []byte {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, len(payload)+5), uint32(len(payload)+1))
	b = append(b, typ)
	return append(b, payload...)
}
