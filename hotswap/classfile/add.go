package classfile

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math"
	"math/bits"
)

// indexed are the kinds of constants that find looks for.
var indexed = setOf(TagUtf8, TagClass, TagInteger, TagNameAndType, TagMethodref)

// An index finds constants by their bytes: a hash table with open addressing
// over the indices of the pool.
type index struct {
	slots []uint16 // 0 is free
	used  int
}

var hashSeed = maphash.MakeSeed()

// find returns the index of the constant with these bytes, tag included. The
// first call makes an index of the pool, since a class that gets one constant
// gets several.
func (p *Pool) find(constant []byte) (uint16, bool) {
	if p.index.slots == nil {
		p.rehash()
	}
	i := p.index.slots[p.slot(constant)]
	return i, i != 0
}

// slot returns where the constant with these bytes is in the table, or would
// be.
func (p *Pool) slot(constant []byte) int {
	mask := len(p.index.slots) - 1
	at := int(maphash.Bytes(hashSeed, constant)) & mask
	for {
		i := p.index.slots[at]
		if i == 0 || bytes.Equal(p.raw[p.off[i]:p.end(int(i))], constant) {
			return at
		}
		at = (at + 1) & mask
	}
}

// rehash makes the table anew, with room to grow.
func (p *Pool) rehash() {
	p.index = index{slots: make([]uint16, 1<<bits.Len(uint(2*len(p.off)+64)))}
	for i := 1; i < len(p.off); i++ {
		if at := p.off[i]; at != free && indexed.has(Tag(p.raw[at])) {
			if slot := p.slot(p.raw[at:p.end(i)]); p.index.slots[slot] == 0 { // the lowest index wins
				p.index.slots[slot] = uint16(i)
				p.index.used++
			}
		}
	}
}

// end returns where constant i ends in raw.
func (p *Pool) end(i int) int {
	at := int(p.off[i])
	n := at + 1 + tags[p.raw[at]].size
	if Tag(p.raw[at]) == TagUtf8 {
		n += int(binary.BigEndian.Uint16(p.raw[at+1:]))
	}
	return n
}

// add returns the index of the constant with these bytes, appending it if it
// is not there.
func (p *Pool) add(constant []byte) (uint16, error) {
	if i, ok := p.find(constant); ok {
		return i, nil
	}
	n := len(p.off)
	if n >= maxPool { // indices end at maxPool-1
		return 0, &LimitError{"constant pool", maxPool}
	}
	p.off = append(p.off, uint32(len(p.raw)))
	p.raw = append(p.raw, constant...)
	if p.index.used++; 4*p.index.used > 3*len(p.index.slots) {
		p.rehash()
	} else {
		p.index.slots[p.slot(constant)] = uint16(n)
	}
	return uint16(n), nil
}

// A Mark remembers the end of a pool, to take back what was added after it.
type Mark struct{ off, raw int }

// Mark returns the present end of the pool.
func (p *Pool) Mark() Mark { return Mark{len(p.off), len(p.raw)} }

// Undo removes the constants appended since m. Whoever used their indices must
// drop them too.
func (p *Pool) Undo(m Mark) {
	if len(p.off) == m.off {
		return
	}
	p.off, p.raw = p.off[:m.off], p.raw[:m.raw]
	p.index = index{} // it names what is gone
}

// AddUtf8 returns the index of the Utf8 constant with this raw text.
func (p *Pool) AddUtf8(s string) (uint16, error) {
	if len(s) > math.MaxUint16 {
		return 0, &LimitError{"CONSTANT_Utf8", math.MaxUint16}
	}
	var room [128]byte
	b := append(room[:0], byte(TagUtf8), byte(len(s)>>8), byte(len(s)))
	return p.add(append(b, s...))
}

// AddClass returns the index of the Class constant with this name.
func (p *Pool) AddClass(name string) (uint16, error) {
	i, err := p.AddUtf8(name)
	if err != nil {
		return 0, err
	}
	return p.add([]byte{byte(TagClass), byte(i >> 8), byte(i)})
}

// AddInteger returns the index of the Integer constant v.
func (p *Pool) AddInteger(v int32) (uint16, error) {
	return p.add(binary.BigEndian.AppendUint32([]byte{byte(TagInteger)}, uint32(v)))
}

// AddMethodref returns the index of a Methodref.
func (p *Pool) AddMethodref(class, name, desc string) (uint16, error) {
	var ix [4]uint16 // class, name, desc, name-and-type
	var err error
	if ix[0], err = p.AddClass(class); err != nil {
		return 0, err
	}
	if ix[1], err = p.AddUtf8(name); err != nil {
		return 0, err
	}
	if ix[2], err = p.AddUtf8(desc); err != nil {
		return 0, err
	}
	if ix[3], err = p.add(pair(TagNameAndType, ix[1], ix[2])); err != nil {
		return 0, err
	}
	return p.add(pair(TagMethodref, ix[0], ix[3]))
}

func pair(t Tag, a, b uint16) []byte {
	return []byte{byte(t), byte(a >> 8), byte(a), byte(b >> 8), byte(b)}
}
