package classfile

import (
	"encoding/binary"
	"math"
)

// RenameUTF8 returns the class file b with the raw text of every CONSTANT_Utf8
// replaced by f of it: names, descriptors, signatures and string constants
// alike. Nothing else changes, so f must keep descriptors legal.
func RenameUTF8(b []byte, f func(string) string) ([]byte, error) {
	c, err := Parse(b)
	if err != nil {
		return nil, err
	}
	p := &c.Pool
	raw := make([]byte, 0, len(p.raw)+256)
	for i := range p.off {
		if p.off[i] == free {
			continue
		}
		if p.Tag(uint16(i)) != TagUtf8 {
			raw = append(raw, p.raw[p.off[i]:p.end(i)]...)
			continue
		}
		s := f(p.utf8(uint16(i)))
		if len(s) > math.MaxUint16 {
			return nil, &LimitError{"CONSTANT_Utf8", math.MaxUint16}
		}
		raw = append(raw, byte(TagUtf8))
		raw = binary.BigEndian.AppendUint16(raw, uint16(len(s)))
		raw = append(raw, s...)
	}
	p.raw = raw // the offsets are stale now; Bytes does not use them
	return c.Bytes(), nil
}
