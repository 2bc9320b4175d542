package export

import (
	"io"
	"strconv"
)

// A sink is a buffered writer whose errors show at the end: a report is
// thousands of small writes.
type sink struct {
	w   io.Writer
	buf []byte
	err error
}

func (s *sink) text(v string)  { s.buf = append(s.buf, v...); s.spill() }
func (s *sink) bytes(v []byte) { s.buf = append(s.buf, v...); s.spill() }
func (s *sink) number(v int64) { s.buf = strconv.AppendInt(s.buf, v, 10) }

// Write is [io.Writer]'s; an error shows at flush.
func (s *sink) Write(v []byte) (int, error) {
	s.bytes(v)
	return len(v), nil
}

func (s *sink) spill() {
	if len(s.buf) >= 1<<16 {
		_ = s.flush() // kept in s.err
	}
}

// flush writes what is left and returns the first error of all writes.
func (s *sink) flush() error {
	if s.err == nil && len(s.buf) > 0 {
		_, s.err = s.w.Write(s.buf)
	}
	s.buf = s.buf[:0]
	return s.err
}
