package classfile

import (
	"encoding/binary"
	"fmt"
	"math"
)

// maxPool is the largest constant_pool_count (§4.11).
const maxPool = math.MaxUint16

// A Pool is the constant pool of a class (§4.4). Existing constants never
// change and never move; new ones are appended.
type Pool struct {
	raw   []byte   // the constants, tag bytes included, as they stand in the file
	text  string   // a copy of raw as it was read, so that names are cut from it without a further copy
	off   []uint32 // by index: offset of the constant in raw; free for index 0 and second halves
	class string   // for errors: the class that the pool belongs to
	index index    // see find
}

// free is the offset of an index that holds no constant.
const free = math.MaxUint32

// readPool reads constant_pool_count and the pool.
func readPool(r *reader) Pool {
	r.section = "4.1"
	n := int(r.u2())
	if r.err == nil && n == 0 {
		r.failAt(r.at-2, errCount)
	}
	// The smallest constants take three bytes.
	if r.err == nil && (n-1)*3 > r.left() {
		r.failAt(r.at-2, errCount)
	}
	if r.err != nil {
		return Pool{}
	}
	start := r.at
	off := make([]uint32, n, n+16)
	off[0] = free
	for i := 1; i < n; {
		at := r.at
		tag := r.u1()
		row := &tags[tag]
		if r.err == nil && row.name == "" {
			r.section = "4.4"
			r.failAt(at, fmt.Errorf("constant %d has unknown tag %d", i, tag))
		}
		if r.err != nil {
			return Pool{}
		}
		r.section = row.section
		off[i] = uint32(at - start)
		if Tag(tag) == TagUtf8 {
			r.take(int(r.u2()))
		} else {
			r.take(row.size)
		}
		i++
		if row.slots == 2 {
			if i >= n {
				r.failAt(at, errIndex)
				return Pool{}
			}
			off[i] = free
			i++
		}
	}
	if r.err != nil {
		return Pool{}
	}
	raw := r.b[start:r.at:r.at]
	p := Pool{raw: raw, text: string(raw), off: off}
	p.check(r, start)
	return p
}

// check makes sure that every index inside a constant points to a constant of
// the right kind, so that lookups that start at a checked constant can't fail.
func (p *Pool) check(r *reader, start int) {
	for i := range p.off {
		at := p.off[i]
		if at == free {
			continue
		}
		row := &tags[p.raw[at]]
		for _, ref := range row.refs {
			j := binary.BigEndian.Uint16(p.raw[int(at)+1+ref.at:])
			if t := p.Tag(j); !ref.want.has(t) {
				r.section = row.section
				r.failAt(start+int(at), fmt.Errorf("constant %d (%s) points to %d, which is %s", i, row.name, j, t))
				return
			}
		}
	}
}

// Len returns constant_pool_count: one more than the largest index.
func (p *Pool) Len() int { return len(p.off) }

// Tag returns the kind of constant i, TagNone if there is none.
func (p *Pool) Tag(i uint16) Tag {
	if int(i) >= len(p.off) || p.off[i] == free {
		return TagNone
	}
	return Tag(p.raw[p.off[i]])
}

// body returns the bytes after the tag of constant i, if its kind is in want.
func (p *Pool) body(i uint16, want tagSet) ([]byte, error) {
	t := p.Tag(i)
	if !want.has(t) {
		return nil, p.wrong(i, t, want)
	}
	return p.raw[p.off[i]+1:], nil
}

func (p *Pool) wrong(i uint16, t Tag, want tagSet) error {
	at := 0
	if t != TagNone {
		at = int(p.off[i])
	}
	for w := range Tag(32) {
		if want.has(w) {
			return &FormatError{p.class, at, tags[w].section, fmt.Errorf("constant %d is %s, not %s", i, t, w)}
		}
	}
	return &FormatError{p.class, at, "4.4", errIndex}
}

// u2 returns the u2 at byte n of the body of constant i, which was checked.
func (p *Pool) u2(i uint16, n int) uint16 {
	return binary.BigEndian.Uint16(p.raw[int(p.off[i])+1+n:])
}

// Utf8 returns the raw modified UTF-8 of constant i.
func (p *Pool) Utf8(i uint16) (string, error) {
	if t := p.Tag(i); t != TagUtf8 {
		return "", p.wrong(i, t, wantUtf8)
	}
	return p.utf8(i), nil
}

// utf8 is Utf8 for an index that was checked.
func (p *Pool) utf8(i uint16) string {
	at := int(p.off[i])
	n := int(binary.BigEndian.Uint16(p.raw[at+1:]))
	if at+3+n <= len(p.text) {
		return p.text[at+3 : at+3+n]
	}
	return string(p.raw[at+3 : at+3+n])
}

// ParsePool reads the constant pool of a class file, and nothing behind it.
func ParsePool(b []byte) (*Pool, error) {
	r := &reader{b: b, section: "4.1"}
	if r.u4() != magic {
		r.failAt(0, errMagic)
	}
	r.u2() // minor_version
	r.u2()
	p := readPool(r)
	if r.err != nil {
		return nil, r.err
	}
	return &p, nil
}
