package heap

import (
	"encoding/binary"
	"sync/atomic"
)

// A graph has all references between objects.
//
// An object's references are a list in edges: for each, in the order of the dump and
// without repeating neighbours, the difference to the reference before (the first: to
// the object itself), zigzag and as a varint, then a zero. If the object's bit is set in
// weak, its referent comes before them as a varint, 0 if it is null, else the number
// plus one.
type graph struct {
	n     int    // objects
	class *block // u32: number in the class table
	units *block // u32: shallow size in units of 8 bytes; while the dump is read, lengths of arrays
	at    *block // u32: where the list begins, low bits; 0 and 0 if there is none
	high  *block // u8: high bits, or nil if there are none
	// where has u64 for each 1<<every objects in the order of their numbers: where the
	// first of them in the dump is. See Heap.read.
	where *block
	every uint
	edges *block
	used  atomic.Int64 // bytes of edges
	weak  bitset
	text  bitset // arrays that are a String's characters

	// collections are what the second pass has seen of collections: class, size, array.
	collections *block
	seen        atomic.Int64
}

// list is where an object's list begins, 0 if it has none.
func (g *graph) list(o uint32) int64 {
	p := int64(g.at.u32()[o])
	if g.high != nil {
		p |= int64(g.high.u8()[o]) << 32
	}
	return p
}

func (g *graph) setList(o uint32, p int64) {
	g.at.u32()[o] = uint32(p)
	if g.high != nil {
		g.high.u8()[o] = byte(p >> 32)
	}
}

// A refs walks through an object's references.
type refs struct {
	b    []byte
	p    int64
	prev uint32
	done bool
}

// refs returns an object's strong references, and its referent if it is a reference
// object that has one, else none.
func (g *graph) refs(o uint32) (r refs, referent uint32) {
	referent = none
	p := g.list(o)
	if p == 0 {
		return refs{done: true}, none
	}
	b := g.edges.u8()
	if g.weak.has(o) {
		v, n := binary.Uvarint(b[p:])
		p += int64(n)
		referent = uint32(v) - 1 // 0 becomes none
	}
	return refs{b: b, p: p, prev: o}, referent
}

// next returns the next reference, false if there is none.
func (r *refs) next() (uint32, bool) {
	if r.done {
		return 0, false
	}
	v := uint64(r.b[r.p])
	r.p++
	if v >= 0x80 {
		v &= 0x7f
		for shift := 7; ; shift += 7 {
			c := r.b[r.p]
			r.p++
			v |= uint64(c&0x7f) << shift
			if c < 0x80 {
				break
			}
		}
	}
	if v == 0 {
		r.done = true
		return 0, false
	}
	r.prev += uint32(v>>1) ^ -uint32(v&1)
	return r.prev, true
}

// A listWriter writes lists into stretches of edges that no other writer has.
type listWriter struct {
	g      *graph
	p, end int64
	prev   uint32
}

const (
	stretch = 1 << 20 // bytes that a writer takes at once
	maxEdge = 5       // bytes of a difference
)

// begin begins the list of an object that has so many references at the most.
func (w *listWriter) begin(o uint32, most int64) int64 {
	need := (most+2)*maxEdge + 1
	if w.end-w.p < need {
		take := max(stretch, need)
		w.end = w.g.used.Add(take)
		w.p = w.end - take
	}
	w.prev = o
	return w.p
}

// referent writes what a reference object refers to, none if null. It comes first.
func (w *listWriter) referent(o uint32) {
	w.put(uint64(uint32(o + 1)))
}

// add writes a reference.
func (w *listWriter) add(o uint32) {
	if o == w.prev {
		return // the object itself, or as before
	}
	d := int32(o - w.prev)
	w.put(uint64(uint32(d<<1) ^ uint32(d>>31)))
	w.prev = o
}

func (w *listWriter) put(v uint64) {
	b := w.g.edges.u8()
	for v >= 0x80 {
		b[w.p] = byte(v) | 0x80
		w.p++
		v >>= 7
	}
	b[w.p] = byte(v)
	w.p++
}

// finish ends the list that began at start; an empty one takes no room.
func (w *listWriter) finish(o uint32, start int64) {
	if w.p == start {
		return
	}
	w.g.edges.u8()[w.p] = 0
	w.p++
	w.g.setList(o, start)
}

// forget frees the references: who needs an object's reads them from the dump.
func (g *graph) forget(p *pool) {
	for _, b := range []**block{&g.edges, &g.at, &g.high} {
		p.free(*b)
		*b = nil
	}
}
