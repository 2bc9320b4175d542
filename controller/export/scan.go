package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// A scanner reads JSON (RFC 8259) piece by piece, from what opens a value to what
// closes it. encoding/json's decoder refuses deep values, and takes ten times as
// long token by token. Commas, brackets and numbers are checked as they come;
// strings and what is skipped, by encoding/json.
//
// It has a window of the text, in which it looks for ends of strings and numbers; what goes on
// beyond the window is read byte by byte. Files of ten million call paths have 1.6 GB of text.
type scanner struct {
	r      io.Reader
	window []byte // what was read, and from place on is still to be looked at
	place  int
	before int64 // bytes before the window
	failed error // of the reader, once the window is used up

	after  bool // a value has just ended: a comma or a bracket follows
	buf    []byte
	names  map[string]string // strings that came before, by their text between the quotes
	recent [512]string       // some of these that are plain, by a hash
}

const windowSize = 1 << 18

func newScanner(r io.Reader) *scanner {
	return &scanner{r: r, window: make([]byte, 0, windowSize), names: map[string]string{}}
}

// at is how many bytes were read.
func (s *scanner) at() int64 { return s.before + int64(s.place) }

// fill reads on where the window is used up; its last byte stays, for back.
func (s *scanner) fill() error {
	if s.failed != nil {
		return s.failed
	}
	kept := 0
	if n := len(s.window); n > 0 {
		s.window[0], kept = s.window[n-1], 1
		s.before += int64(n - 1)
	}
	for range 100 {
		n, err := s.r.Read(s.window[kept:cap(s.window)])
		s.window, s.place = s.window[:kept+n], kept
		if s.failed = err; errors.Is(err, io.EOF) {
			s.failed = io.ErrUnexpectedEOF
		}
		if n > 0 {
			return nil
		}
		if err != nil {
			return s.failed
		}
	}
	return io.ErrNoProgress
}

func (s *scanner) byte() (byte, error) {
	if s.place >= len(s.window) {
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
	c := s.window[s.place]
	s.place++
	return c, nil
}

// back takes the last byte back; there was one.
func (s *scanner) back() { s.place-- }

// peek skips blanks.
func (s *scanner) peek() (byte, error) {
	for {
		for ; s.place < len(s.window); s.place++ {
			if c := s.window[s.place]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
				return c, nil
			}
		}
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
}

func (s *scanner) expect(want byte) error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	if c != want {
		return fmt.Errorf("%q where %q should be", c, want)
	}
	s.place++
	return nil
}

func (s *scanner) open(bracket byte) error {
	if err := s.expect(bracket); err != nil {
		return err
	}
	s.after = false
	return nil
}

func (s *scanner) close(bracket byte) error {
	if err := s.expect(bracket); err != nil {
		return err
	}
	s.after = true
	return nil
}

// more tells whether another element follows, and skips the comma before it.
func (s *scanner) more() (bool, error) {
	c, err := s.peek()
	if err != nil || c == ']' || c == '}' {
		return false, err
	}
	if s.after {
		if err := s.expect(','); err != nil {
			return false, err
		}
		s.after = false
		if c, err = s.peek(); err != nil || c == ']' || c == '}' {
			return false, errors.Join(err, errors.New("nothing after a comma"))
		}
	}
	return true, nil
}

func (s *scanner) key() (string, error) {
	k, err := s.string()
	if err != nil {
		return "", err
	}
	s.after = false
	return k, s.expect(':')
}

func (s *scanner) string() (string, error) {
	if err := s.expect('"'); err != nil {
		return "", err
	}
	s.after = true
	if text, ok := s.plain(); ok {
		return text, nil
	}
	s.buf = append(s.buf[:0], '"')
	plain, err := s.quoted()
	if err != nil {
		return "", err
	}
	if text, ok := s.names[string(s.buf[1:len(s.buf)-1])]; ok {
		return text, nil
	}
	text := string(s.buf[1 : len(s.buf)-1])
	raw := text
	if !plain {
		if err := json.Unmarshal(s.buf, &text); err != nil {
			return "", err
		}
	}
	s.names[raw] = text
	return text, nil
}

// plain is the string that begins at the place, if it ends within the window and stands for itself.
func (s *scanner) plain() (string, bool) {
	rest := s.window[s.place:]
	end := -1
	for i, c := range rest {
		if c == '"' {
			end = i
			break
		}
		if c == '\\' || c < ' ' || c >= 0x80 {
			return "", false
		}
	}
	if end < 0 {
		return "", false
	}
	s.place += end + 1
	raw := rest[:end]
	if end == 0 {
		return "", true
	}
	hash := uint32(end)*31 + uint32(raw[0])*7 + uint32(raw[end-1]) + uint32(raw[end/2])*17
	slot := &s.recent[hash%uint32(len(s.recent))]
	if *slot == string(raw) {
		return *slot, true
	}
	text, ok := s.names[string(raw)]
	if !ok {
		text = string(raw)
		s.names[text] = text
	}
	*slot = text
	return text, true
}

// quoted reads on to the end of a string; plain ones stand for themselves.
func (s *scanner) quoted() (plain bool, err error) {
	plain = true
	for {
		c, err := s.byte()
		if err != nil {
			return false, err
		}
		s.buf = append(s.buf, c)
		switch {
		case c == '"':
			return plain, nil
		case c == '\\':
			plain = false
			if c, err = s.byte(); err != nil {
				return false, err
			}
			s.buf = append(s.buf, c)
		case c < ' ' || c >= 0x80:
			plain = false
		}
	}
}

// int reads a whole number.
func (s *scanner) int() (int64, error) {
	c, err := s.peek()
	if err != nil {
		return 0, err
	}
	negative := c == '-'
	if negative {
		s.place++ // peeked at
	}
	if n, ok := s.short(); ok {
		s.after = true
		if negative {
			return -n, nil
		}
		return n, nil
	}
	n, digits := uint64(0), 0
	for {
		c, err := s.byte()
		if err != nil {
			return 0, err
		}
		if c < '0' || c > '9' {
			s.back()
			switch {
			case c == '.' || c == 'e' || c == 'E' || digits == 0:
				return 0, errors.New("no whole number")
			case digits > 19 || n > math.MaxInt64:
				return 0, errors.New("a number that is too large")
			}
			s.after = true
			if negative {
				return -int64(n), nil
			}
			return int64(n), nil
		}
		if digits++; digits <= 19 {
			n = n*10 + uint64(c-'0')
		}
	}
}

// short is a whole number of 1 to 18 digits that ends within the window; otherwise nothing is read.
func (s *scanner) short() (int64, bool) {
	n := int64(0)
	for i, c := range s.window[s.place:] {
		if c >= '0' && c <= '9' {
			if i == 18 {
				return 0, false
			}
			n = n*10 + int64(c-'0')
			continue
		}
		if i == 0 || c == '.' || c == 'e' || c == 'E' {
			return 0, false
		}
		s.place += i
		return n, true
	}
	return 0, false
}

// value reads any value into what a pointer points to.
func (s *scanner) value(to any) error {
	var err error
	switch to := to.(type) {
	case *int64:
		*to, err = s.int()
		return err
	case *string:
		*to, err = s.string()
		return err
	}
	raw, err := s.raw()
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, to)
}

// raw reads any value as it is; it is good until the next call.
func (s *scanner) raw() (json.RawMessage, error) {
	if _, err := s.peek(); err != nil {
		return nil, err
	}
	s.buf = s.buf[:0]
	for depth := 0; ; {
		c, err := s.byte()
		if err != nil {
			return nil, err
		}
		switch c {
		case '{', '[':
			depth++
		case '}', ']', ',':
			if depth == 0 { // the end of what it is part of
				s.back()
				s.after = true
				return s.buf, nil
			}
			if c != ',' {
				depth--
			}
		}
		s.buf = append(s.buf, c)
		if c == '"' {
			if _, err := s.quoted(); err != nil {
				return nil, err
			}
		}
	}
}
