package cfi

import (
	"bytes"
	"encoding/binary"
)

// A reader takes numbers off the front of bytes. Once there are too few it is bad, and
// gives zeros.
type reader struct {
	p   []byte
	at  uint64 // address
	bad bool
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.p)) {
		r.bad = true
		r.p = nil
		return nil
	}
	b := r.p[:n]
	r.p = r.p[n:]
	r.at += n
	return b
}

func (r *reader) skip(n uint64) { r.bytes(n) }

func (r *reader) u8() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u16() uint16 {
	if b := r.bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *reader) u32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *reader) uleb() uint64 {
	v := uint64(0)
	for shift := uint(0); shift < 64; shift += 7 {
		b := r.u8()
		v |= uint64(b&0x7F) << shift
		if b < 0x80 {
			return v
		}
	}
	r.bad = true
	return 0
}

func (r *reader) sleb() int64 {
	v := int64(0)
	for shift := uint(0); shift < 64; shift += 7 {
		b := r.u8()
		v |= int64(b&0x7F) << shift
		if b < 0x80 {
			if shift+7 < 64 && b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	r.bad = true
	return 0
}

func (r *reader) text() string {
	i := bytes.IndexByte(r.p, 0)
	if i < 0 {
		r.bad = true
		return ""
	}
	return string(r.bytes(uint64(i) + 1)[:i])
}

// encoded reads an address in one of the encodings that begin with DW_EH_PE.
func (r *reader) encoded(encoding byte) uint64 {
	base := uint64(0)
	switch encoding & 0x70 {
	case 0x10:
		base = r.at
	case 0x00:
	default:
		r.bad = true
	}
	v := uint64(0)
	switch encoding & 0x0F {
	case 0x00, 0x04, 0x0C:
		v = r.u64()
	case 0x02:
		v = uint64(r.u16())
	case 0x0A:
		v = uint64(int64(int16(r.u16())))
	case 0x03:
		v = uint64(r.u32())
	case 0x0B:
		v = uint64(int64(int32(r.u32())))
	default:
		r.bad = true
	}
	return base + v
}
