package jfr

import (
	"encoding/binary"
	"math"
	"unicode/utf16"
	"unicode/utf8"
)

// An input takes values from bytes in order. The first thing that is wrong is kept, and
// everything after it is zero.
type input struct {
	b          []byte
	at         int
	base       int64 // offset of b in the file
	compressed bool
	err        error
	steps      int // values that may still be read: bounds the work for types that take no room
}

func (in *input) fail(what string, err error) {
	if in.err == nil {
		in.err = &FormatError{Offset: in.base + int64(in.at), What: what, Err: err}
	}
}

func (in *input) left() int { return len(in.b) - in.at }

func (in *input) byte() byte {
	if in.at >= len(in.b) {
		in.short()
		return 0
	}
	c := in.b[in.at]
	in.at++
	return c
}

func (in *input) short() {
	in.fail("a value goes beyond its record", nil)
	in.at = len(in.b)
}

// long reads an integer: LEB128 whose ninth byte has eight bits, or eight bytes.
func (in *input) long() int64 {
	if !in.compressed {
		return int64(in.fixed(8))
	}
	return in.varint()
}

func (in *input) varint() int64 {
	if in.at < len(in.b) && in.b[in.at] < 0x80 {
		in.at++
		return int64(in.b[in.at-1])
	}
	var v uint64
	for i := range 9 {
		c := in.byte()
		if i == 8 {
			return int64(v | uint64(c)<<56)
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			break
		}
	}
	return int64(v)
}

func (in *input) int() int64 {
	if !in.compressed {
		return int64(int32(in.fixed(4)))
	}
	return int64(int32(in.varint()))
}

func (in *input) short16() int64 {
	if !in.compressed {
		return int64(int16(in.fixed(2)))
	}
	return int64(int16(in.varint()))
}

func (in *input) char() uint16 {
	if !in.compressed {
		return uint16(in.fixed(2))
	}
	return uint16(in.varint())
}

// fixed reads a big-endian number of n bytes.
func (in *input) fixed(n int) uint64 {
	if in.left() < n {
		in.short()
		return 0
	}
	b := in.b[in.at : in.at+n]
	in.at += n
	switch n {
	case 2:
		return uint64(binary.BigEndian.Uint16(b))
	case 4:
		return uint64(binary.BigEndian.Uint32(b))
	}
	return binary.BigEndian.Uint64(b)
}

func (in *input) float() float64  { return float64(math.Float32frombits(uint32(in.fixed(4)))) }
func (in *input) double() float64 { return math.Float64frombits(in.fixed(8)) }

// count reads how many things follow, each of which takes a byte at least.
func (in *input) count() int {
	n := in.int()
	if n < 0 || n > int64(in.left()) {
		in.fail("more elements than there are bytes", nil)
		return 0
	}
	return int(n)
}

// The encodings of texts.
const (
	textNull   = 0
	textEmpty  = 1
	textPool   = 2 // a key of the pool of strings
	textUTF8   = 3
	textChars  = 4
	textLatin1 = 5
)

// text reads a text. If it is a reference to the pool, that is its key, and encoding says so.
func (in *input) text() (s string, key int64, encoding byte) {
	encoding = in.byte()
	switch encoding {
	case textNull, textEmpty:
	case textPool:
		key = in.long()
	case textUTF8, textLatin1:
		n := in.count()
		if in.err != nil {
			return "", 0, encoding
		}
		raw := in.b[in.at : in.at+n]
		in.at += n
		if encoding == textUTF8 {
			return utf8Text(raw), 0, encoding
		}
		return latin1(raw), 0, encoding
	case textChars:
		n := in.count()
		chars := make([]uint16, 0, n)
		for range n {
			chars = append(chars, in.char())
		}
		return string(utf16.Decode(chars)), 0, encoding
	default:
		in.fail("a text of an unknown encoding", nil)
	}
	return "", key, encoding
}

// skipText goes past a text.
func (in *input) skipText() {
	switch in.byte() {
	case textNull, textEmpty:
	case textPool:
		in.long()
	case textUTF8, textLatin1:
		in.at += in.count()
	case textChars:
		for range in.count() {
			in.char()
		}
	default:
		in.fail("a text of an unknown encoding", nil)
	}
}

func latin1(raw []byte) string {
	for _, c := range raw {
		if c >= 0x80 {
			runes := make([]rune, len(raw))
			for i, c := range raw {
				runes[i] = rune(c)
			}
			return string(runes)
		}
	}
	return string(raw)
}

// utf8Text is a text in UTF-8. What the JVM itself writes is in its modified form, with
// characters beyond 0xffff as two surrogates of three bytes each (JVMS 4.4.7).
func utf8Text(raw []byte) string {
	if utf8.Valid(raw) {
		return string(raw)
	}
	var out []rune
	for len(raw) > 0 {
		if len(raw) >= 6 && raw[0] == 0xed && raw[3] == 0xed {
			high := rune(raw[0]&0xf)<<12 | rune(raw[1]&0x3f)<<6 | rune(raw[2]&0x3f)
			low := rune(raw[3]&0xf)<<12 | rune(raw[4]&0x3f)<<6 | rune(raw[5]&0x3f)
			if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
				out, raw = append(out, r), raw[6:]
				continue
			}
		}
		r, n := utf8.DecodeRune(raw)
		out, raw = append(out, r), raw[n:]
	}
	return string(out)
}
