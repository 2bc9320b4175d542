package heap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/rivulet-profiler/rivulet/controller/hprof"
)

// class returns an object's class.
func (h *Heap) class(o uint32) *class { return h.t.all[h.g.class.u32()[o]] }

// read goes to an object's record.
func (h *Heap) read(o uint32) (*hprof.Scanner, *hprof.Record, error) {
	id := h.v.ids.id(o)
	s := h.f.Scan()
	if at, ok := h.classAt[id]; ok {
		return find(s, at, id, 1)
	}
	where := h.g.where.u64()
	g := int(o >> h.g.every)
	if at := where[g]; at != 0 {
		// Objects in between are of the group, or classes that the dump has elsewhere.
		if s, r, err := find(s, int64(at), id, 1<<h.g.every); err == nil {
			return s, r, nil
		}
	}
	// The group lies at a border, where the order changes. Look from the places before.
	for back := 1; back <= 4 && g-back >= 0; back++ {
		if at := where[g-back]; at != 0 {
			if s, r, err := find(s, int64(at), id, (back+2)<<h.g.every); err == nil {
				return s, r, nil
			}
		}
	}
	return h.searchDump(id)
}

var errNotFound = errors.New("object not found")

// find looks for an object among the records from an offset on.
func find(s *hprof.Scanner, offset int64, id uint64, records int) (*hprof.Scanner, *hprof.Record, error) {
	s.Goto(offset)
	for range records {
		r, err := s.Next()
		if err != nil {
			return nil, nil, err
		}
		if r.ID == id && r.Kind >= hprof.KindClass {
			return s, r, nil
		}
	}
	return nil, nil, errNotFound
}

// maxSearches is how often a whole dump is searched for a single object.
const maxSearches = 20

// searchDump looks for an object in all of the dump, and keeps the place.
func (h *Heap) searchDump(id uint64) (*hprof.Scanner, *hprof.Record, error) {
	h.mu.Lock()
	at, known := h.found[id]
	if !known {
		if h.searches++; h.searches > maxSearches {
			h.mu.Unlock()
			return nil, nil, errNotFound
		}
	}
	h.mu.Unlock()
	s := h.f.Scan()
	for !known {
		r, err := s.Next()
		if err != nil {
			return nil, nil, errNotFound
		}
		if known = r.ID == id && r.Kind >= hprof.KindInstance; known {
			at = r.Offset
			h.mu.Lock()
			h.found[id] = at
			h.mu.Unlock()
		}
	}
	return find(s, at, id, 1)
}

// A value is a field of an object with its value.
type value struct {
	name string // "next", "static cache"
	typ  hprof.Type
	bits uint64 // an identifier, or the raw bits
}

// values returns the fields of an instance, or the static fields of a class.
func (h *Heap) values(o uint32) []value {
	_, r, err := h.read(o)
	if err != nil {
		return nil
	}
	var out []value
	switch r.Kind {
	case hprof.KindClass:
		for _, f := range r.Dump.Statics {
			out = append(out, value{"static " + h.v.name(f.Name), f.Type, f.Value})
		}
	case hprof.KindInstance:
		return h.fieldsOf(o, r.Body)
	}
	return out
}

// fieldsOf takes an instance's body apart.
func (h *Heap) fieldsOf(o uint32, body []byte) (out []value) {
	at, seen := 0, 0
	for k := h.class(o); k != nil && seen < maxSupers; k = k.super {
		if seen++; k.dump == nil {
			continue
		}
		for _, f := range k.dump.Fields {
			n := f.Type.Size(h.v.idSize)
			if at+n > len(body) {
				return out
			}
			out = append(out, value{h.v.name(f.Name), f.Type, rawBits(body[at : at+n])})
			at += n
		}
	}
	return out
}

func rawBits(b []byte) uint64 {
	v := uint64(0)
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return v
}

// referred follows a field that is a reference.
func (h *Heap) referred(o uint32, name string) (uint32, bool) {
	for _, v := range h.values(o) {
		if v.name == name && v.typ == hprof.Object {
			return h.v.ids.find(v.bits)
		}
	}
	return 0, false
}

// elements calls a function for each element of an array of objects that is not null,
// until it returns false.
func (h *Heap) elements(o uint32, each func(i int64, to uint32) bool) {
	s, r, err := h.read(o)
	if err != nil || r.Kind != hprof.KindObjectArray {
		return
	}
	i := int64(0)
	for {
		b, err := s.Elements()
		if err != nil || b == nil {
			return
		}
		for ; len(b) >= h.v.idSize; b, i = b[h.v.idSize:], i+1 {
			if id := rawBits(b[:h.v.idSize]); id != 0 {
				if to, ok := h.v.ids.find(id); ok && !each(i, to) {
					return
				}
			}
		}
	}
}

// maxSearched is how many elements of an array are searched for an object.
const maxSearched = 200_000

// edge names how one object refers to another: a field, an index, a static field, a
// local variable; "" if it does not.
func (h *Heap) edge(from, to uint32) string {
	if r, ok := h.roots.local[[2]uint32{from, to}]; ok {
		return h.localName(r)
	}
	for _, v := range h.values(from) {
		if v.typ == hprof.Object {
			if t, ok := h.v.ids.find(v.bits); ok && t == to {
				return v.name
			}
		}
	}
	name := ""
	h.elements(from, func(i int64, t uint32) bool {
		switch {
		case t == to:
			name = fmt.Sprintf("[%d]", i)
		case i > maxSearched:
			name = "[...]"
		}
		return name == ""
	})
	switch c := h.class(from); {
	case name != "":
		return name
	case c.ord == to:
		return "its class"
	}
	if _, r, err := h.read(from); err == nil && r.Kind == hprof.KindClass {
		for what, id := range map[string]uint64{"its loader": r.Dump.Loader, "its superclass": r.Dump.Super, "its protection domain": r.Dump.Domain, "its signers": r.Dump.Signers} {
			if t, ok := h.v.ids.find(id); ok && t == to {
				return what
			}
		}
	}
	return ""
}

// localName says which method's local variable a root is.
func (h *Heap) localName(r root) string {
	th := h.v.threads[r.thread]
	frames := h.v.traces[th.trace]
	if r.depth < 0 || int(r.depth) >= len(frames) {
		return r.kind.String()
	}
	f := h.v.frames[frames[r.depth]]
	class := javaName(h.v.name(h.v.loaded[h.v.serials[f.class]]))
	line := ""
	if f.line > 0 {
		line = fmt.Sprintf(":%d", f.line)
	}
	return fmt.Sprintf("%s of %s.%s%s", r.kind, class, h.v.name(f.method), line)
}

// Describe says what an object is: its class, and what it is called if it is a class,
// a thread or a string.
func (h *Heap) describe(o uint32) string {
	c := h.class(o)
	switch {
	case h.g.class.u32()[o] == h.t.class:
		if _, r, err := h.read(o); err == nil && r.Kind == hprof.KindClass {
			if n, ok := h.t.byID[r.ID]; ok {
				return "class " + h.t.all[n].name
			}
		}
	case c.name == "java.lang.String":
		return fmt.Sprintf("java.lang.String %q", h.stringText(o))
	case c.is("java.lang.Thread"):
		if name := h.threadName(o); name != "" {
			return fmt.Sprintf("%s %q", c.name, name)
		}
	case c.isArray():
		if _, r, err := h.read(o); err == nil {
			return strings.TrimSuffix(c.name, "[]") + fmt.Sprintf("[%d]", r.Length)
		}
	}
	return c.name
}

// threadName is the name of a Thread: a String, before JDK 9 an array of characters.
func (h *Heap) threadName(o uint32) string {
	name, ok := h.referred(o, "name")
	if !ok {
		return ""
	}
	if h.class(name).isArray() {
		return h.arrayText(name)
	}
	return h.stringText(name)
}

// stringText is the beginning of a String.
func (h *Heap) stringText(o uint32) string {
	if a, ok := h.referred(o, "value"); ok {
		return h.arrayText(a)
	}
	return ""
}

// maxText is how many characters of a string are shown.
const maxText = 60

// arrayText is the beginning of a String's characters: UTF-16 in the dump's byte order
// where they are chars, otherwise Latin-1 or UTF-16 in the JVM's (JEP 254). Which of
// these only the String knows; text whose every other byte is zero is no Latin-1.
func (h *Heap) arrayText(o uint32) string {
	s, r, err := h.read(o)
	if err != nil || r.Kind != hprof.KindPrimArray {
		return ""
	}
	length := r.Length
	b, err := s.Elements()
	if err != nil {
		return ""
	}
	var units []uint16
	switch {
	case r.Elem == hprof.Char:
		for ; len(b) >= 2 && len(units) < maxText; b = b[2:] {
			units = append(units, binary.BigEndian.Uint16(b))
		}
	case r.Elem == hprof.Byte && isWide(b):
		length /= 2
		for ; len(b) >= 2 && len(units) < maxText; b = b[2:] {
			units = append(units, binary.LittleEndian.Uint16(b))
		}
	case r.Elem == hprof.Byte:
		for _, c := range b[:min(len(b), maxText)] {
			units = append(units, uint16(c))
		}
	}
	text := string(utf16.Decode(units))
	if length > int64(len(units)) {
		text += "..."
	}
	return text
}

func isWide(b []byte) bool {
	b = b[:min(len(b), 2*maxText)&^1]
	zero := 0
	for i := 1; i < len(b); i += 2 {
		if b[i] == 0 {
			zero++
		}
	}
	return len(b) > 0 && zero*4 >= len(b)
}

// Path is a shortest path from a root to an object by strong references, a line for each
// object; if no strong path leads there, along its dominators.
func (h *Heap) path(o uint32) []string {
	const most = 100 // lines
	var way []uint32
	ways := h.tree.way.u32()
	p := h.tree.placeOf(o)
	reached := ways[p] != noWay
	for p != 0 && len(way) < 1_000_000 {
		way = append(way, h.tree.object(p))
		switch {
		case !reached:
			p = h.tree.dominator(p)
		case ways[p] == fromRoot:
			p = 0
		default:
			p = ways[p]
		}
	}
	var out []string
	top := way[len(way)-1]
	kind := "shared root"
	if r, ok := h.roots.kinds[top]; ok {
		kind = r.kind.String()
	}
	out = append(out, kind+": "+h.describe(top))
	for i := len(way) - 2; i >= 0; i-- {
		if len(out) == most/2 && i > most/2 {
			out = append(out, fmt.Sprintf("... %d more", i-most/2+1))
			i = most / 2
			continue
		}
		name := h.edge(way[i+1], way[i])
		if name == "" {
			name = "..."
		}
		out = append(out, name+": "+h.describe(way[i]))
	}
	return out
}

// address is an object's identifier as people write it.
func (h *Heap) address(o uint32) string { return fmt.Sprintf("0x%x", h.v.ids.id(o)) }
