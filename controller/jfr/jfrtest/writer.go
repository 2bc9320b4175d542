// Package jfrtest writes recordings of Flight Recorder, for tests.
package jfrtest

import (
	"encoding/binary"
	"strconv"
)

// A Writer makes a recording of one chunk. It is not safe for concurrent use.
type Writer struct {
	packed  bool
	types   []*element
	strings []string
	index   map[string]int64
	pools   map[int64][]byte
	counts  map[int64]int64
	order   []int64
	events  []byte
}

type element struct {
	name     string
	attrs    [][2]string
	children []*element
}

// New makes a Writer. packed has integers compressed, as JVMs do.
func New(packed bool) *Writer {
	return &Writer{packed: packed, index: map[string]int64{}, pools: map[int64][]byte{}, counts: map[int64]int64{}}
}

// Type adds a type, and returns its number.
func (w *Writer) Type(name, super string) int64 {
	id := int64(len(w.types) + 10)
	e := &element{name: "class", attrs: [][2]string{{"name", name}, {"id", strconv.FormatInt(id, 10)}}}
	if super != "" {
		e.attrs = append(e.attrs, [2]string{"superType", super})
	}
	w.types = append(w.types, e)
	return id
}

// Simple has a type's only field stand for it.
func (w *Writer) Simple(id int64) {
	e := w.types[id-10]
	e.attrs = append(e.attrs, [2]string{"simpleType", "true"})
}

// Field adds a field to a type.
func (w *Writer) Field(id int64, name string, of int64, pool, array bool) {
	e := w.types[id-10]
	f := &element{name: "field", attrs: [][2]string{{"name", name}, {"class", strconv.FormatInt(of, 10)}}}
	if pool {
		f.attrs = append(f.attrs, [2]string{"constantPool", "true"})
	}
	if array {
		f.attrs = append(f.attrs, [2]string{"dimension", "1"})
	}
	e.children = append(e.children, f)
}

// Pool adds a value to a type's constant pool.
func (w *Writer) Pool(id, key int64, value []byte) {
	if w.counts[id] == 0 {
		w.order = append(w.order, id)
	}
	w.counts[id]++
	w.pools[id] = append(append(w.pools[id], w.Long(key)...), value...)
}

// Event adds an event.
func (w *Writer) Event(id int64, values ...[]byte) {
	var body []byte
	for _, v := range values {
		body = append(body, v...)
	}
	w.events = append(w.events, w.record(id, body)...)
}

// Long is an integer of 64 bits.
func (w *Writer) Long(n int64) []byte {
	if !w.packed {
		return binary.BigEndian.AppendUint64(nil, uint64(n))
	}
	var b []byte
	v := uint64(n)
	for i := 0; i < 8 && v >= 0x80; i++ {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// Int is an integer of 32 bits.
func (w *Writer) Int(n int32) []byte {
	if !w.packed {
		return binary.BigEndian.AppendUint32(nil, uint32(n))
	}
	return w.Long(int64(uint32(n)))
}

// Short is an integer of 16 bits.
func (w *Writer) Short(n uint16) []byte {
	if !w.packed {
		return binary.BigEndian.AppendUint16(nil, n)
	}
	return w.Long(int64(n))
}

// Text is a text in UTF-8.
func (w *Writer) Text(s string) []byte {
	return append(append([]byte{3}, w.Int(int32(len(s)))...), s...)
}

func (w *Writer) record(id int64, body []byte) []byte {
	body = append(w.Long(id), body...)
	size := len(body) + 4
	head := binary.BigEndian.AppendUint32(nil, uint32(size))
	if w.packed { // four bytes, whatever the number is
		head = []byte{byte(size) | 0x80, byte(size>>7) | 0x80, byte(size>>14) | 0x80, byte(size >> 21)}
	}
	return append(head, body...)
}

// Bytes is the recording.
func (w *Writer) Bytes() []byte {
	const header = 68
	var pools []byte
	pools = append(pools, w.Long(0)...) // start
	pools = append(pools, w.Long(0)...) // duration
	pools = append(pools, w.Long(0)...) // to the one before
	pools = append(pools, 0)
	pools = append(pools, w.Int(int32(len(w.order)))...)
	for _, id := range w.order {
		pools = append(pools, w.Long(id)...)
		pools = append(pools, w.Int(int32(w.counts[id]))...)
		pools = append(pools, w.pools[id]...)
	}
	checkpoint := w.record(1, pools)
	root := &element{name: "root", children: []*element{{name: "metadata", children: w.types}}}
	tree := w.tree(root)
	var meta []byte
	meta = append(meta, w.Long(0)...)
	meta = append(meta, w.Long(0)...)
	meta = append(meta, w.Long(1)...)
	meta = append(meta, w.Int(int32(len(w.strings)))...)
	for _, s := range w.strings {
		meta = append(meta, w.Text(s)...)
	}
	metadata := w.record(0, append(meta, tree...))

	b := append([]byte("FLR\x00"), 0, 2, 0, 1)
	at := int64(header + len(w.events))
	for _, n := range []int64{at + int64(len(checkpoint)+len(metadata)), at, at + int64(len(checkpoint)), 1e18, 1e9, 0, 1e9} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	flags := byte(0)
	if w.packed {
		flags = 1
	}
	b = append(b, 0, 0, 0, flags)
	b = append(b, w.events...)
	b = append(b, checkpoint...)
	return append(b, metadata...)
}

func (w *Writer) tree(e *element) []byte {
	b := w.Int(int32(w.text(e.name)))
	b = append(b, w.Int(int32(len(e.attrs)))...)
	for _, a := range e.attrs {
		b = append(b, w.Int(int32(w.text(a[0])))...)
		b = append(b, w.Int(int32(w.text(a[1])))...)
	}
	b = append(b, w.Int(int32(len(e.children)))...)
	for _, c := range e.children {
		b = append(b, w.tree(c)...)
	}
	return b
}

func (w *Writer) text(s string) int64 {
	i, ok := w.index[s]
	if !ok {
		i = int64(len(w.strings))
		w.index[s], w.strings = i, append(w.strings, s)
	}
	return i
}
