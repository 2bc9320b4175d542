package heap

import (
	"encoding/binary"

	"github.com/rivulet-profiler/rivulet/controller/hprof"
)

// A holding says where the second pass finds what an instance of some classes holds.
type holding struct {
	what  holds
	size  int // offset of the number of elements, or of a boxed value
	typ   hprof.Type
	array int // offset of the reference to the array
	per   int // elements of the array for an element of the collection
}

type holds byte

const (
	holdsNothing holds = iota
	holdsText
	holdsElements
	holdsValue
)

// collectionFields are the collections of java.util whose array may be larger than what
// is in it: fields of size and array, and slots for an element. Subclasses inherit them.
var collectionFields = map[string]struct {
	size, array string
	per         int
}{
	"java.util.ArrayList":                    {"size", "elementData", 1},
	"java.util.Vector":                       {"elementCount", "elementData", 1},
	"java.util.PriorityQueue":                {"size", "queue", 1},
	"java.util.HashMap":                      {"size", "table", 1},
	"java.util.Hashtable":                    {"count", "table", 1},
	"java.util.WeakHashMap":                  {"size", "table", 1},
	"java.util.IdentityHashMap":              {"size", "table", 2},
	"java.util.concurrent.ConcurrentHashMap": {"baseCount", "table", 1},
}

// boxes are the classes of boxed values.
var boxes = map[string]bool{
	"java.lang.Boolean": true, "java.lang.Byte": true, "java.lang.Short": true, "java.lang.Character": true,
	"java.lang.Integer": true, "java.lang.Long": true, "java.lang.Float": true, "java.lang.Double": true,
}

// layContents finds out what instances of a class hold.
func (t *classTable) layContents(c *class, v *survey) {
	if boxes[c.name] {
		if at, typ, ok := t.field(c, v, "value"); ok {
			c.held = holding{what: holdsValue, size: at, typ: typ}
		}
		return
	}
	if c.name == "java.lang.String" {
		if at, _, ok := t.field(c, v, "value"); ok {
			c.held = holding{what: holdsText, array: at}
		}
		return
	}
	seen := 0
	for k := c; k != nil && seen < maxSupers; k = k.super {
		seen++
		f, ok := collectionFields[k.name]
		if !ok {
			continue
		}
		size, typ, ok1 := t.field(c, v, f.size)
		array, _, ok2 := t.field(c, v, f.array)
		if ok1 && ok2 {
			c.held = holding{holdsElements, size, typ, array, f.per}
		}
		return
	}
}

// contents notes what an instance holds.
func (w *worker) contents(n uint32, c *class, r *hprof.Record) {
	h := &c.held
	switch h.what {
	case holdsNothing:
	case holdsText:
		if h.array+w.v.idSize <= len(r.Body) {
			if a, ok := w.v.ids.find(w.id(r.Body[h.array:])); ok {
				w.g.text.setAtomic(a)
			}
		}
	case holdsValue:
		if v, ok := number(r.Body, h.size, h.typ, w.v.idSize); ok {
			w.e.box(n, v, h.typ)
		}
	case holdsElements:
		size, ok := number(r.Body, h.size, h.typ, w.v.idSize)
		if !ok || h.array+w.v.idSize > len(r.Body) {
			return
		}
		a, ok := w.v.ids.find(w.id(r.Body[h.array:]))
		if !ok {
			a = none
		}
		at := w.g.seen.Add(1) - 1
		e := w.g.collections.u32()[3*at : 3*at+3]
		e[0], e[1], e[2] = n, uint32(min(max(size, 0), 1<<32-1)), a
	}
}

// number reads a whole number or the raw bits of another value out of an instance.
func number(body []byte, at int, t hprof.Type, idSize int) (int64, bool) {
	n := t.Size(idSize)
	if at+n > len(body) {
		return 0, false
	}
	b := body[at:]
	switch {
	case t == hprof.Char:
		return int64(binary.BigEndian.Uint16(b)), true
	case n == 1:
		return int64(int8(b[0])), true
	case n == 2:
		return int64(int16(binary.BigEndian.Uint16(b))), true
	case n == 4:
		return int64(int32(binary.BigEndian.Uint32(b))), true
	default:
		return int64(binary.BigEndian.Uint64(b)), true
	}
}
