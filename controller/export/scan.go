package export

import (
	"bufio"
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
type scanner struct {
	r     *bufio.Reader
	at    int64 // bytes read
	after bool  // a value has just ended: a comma or a bracket follows
	buf   []byte
	names map[string]string // strings that came before
}

func newScanner(r *bufio.Reader) *scanner { return &scanner{r: r, names: map[string]string{}} }

func (s *scanner) byte() (byte, error) {
	c, err := s.r.ReadByte()
	if err == nil {
		s.at++
	} else if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return c, err
}

func (s *scanner) back() {
	s.at--
	_ = s.r.UnreadByte() // a byte has been read
}

// peek skips blanks.
func (s *scanner) peek() (byte, error) {
	for {
		switch c, err := s.byte(); {
		case err != nil:
			return 0, err
		case c != ' ' && c != '\n' && c != '\t' && c != '\r':
			s.back()
			return c, nil
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
	_, err = s.byte()
	return err
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
	s.buf = append(s.buf[:0], '"')
	plain, err := s.quoted()
	if err != nil {
		return "", err
	}
	s.after = true
	if text, ok := s.names[string(s.buf)]; ok {
		return text, nil
	}
	text := string(s.buf[1 : len(s.buf)-1])
	if !plain {
		if err := json.Unmarshal(s.buf, &text); err != nil {
			return "", err
		}
	}
	s.names[string(s.buf)] = text
	return text, nil
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
		_, _ = s.byte() // peeked at
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
