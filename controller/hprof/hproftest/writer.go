// Package hproftest writes heap dumps for tests.
package hproftest

import (
	"bytes"
	"encoding/binary"

	"github.com/rivulet-profiler/rivulet/controller/hprof"
)

// A Writer puts a dump together in memory. One goroutine uses it.
type Writer struct {
	// Segment is how long a segment may become before another one is begun; 0: one
	// HEAP_DUMP record, as before JDK 6.
	Segment int

	out, heap bytes.Buffer
	idSize    int
	names     map[string]uint64
	serial    uint32
}

// New begins a dump with identifiers of 4 or 8 bytes.
func New(idSize int) *Writer {
	w := &Writer{idSize: idSize, names: map[string]uint64{}}
	w.out.WriteString("JAVA PROFILE 1.0.2\x00")
	put(&w.out, uint32(idSize), uint64(1_700_000_000_000))
	return w
}

func put(b *bytes.Buffer, values ...any) {
	for _, v := range values {
		_ = binary.Write(b, binary.BigEndian, v)
	}
}

func (w *Writer) id(b *bytes.Buffer, ids ...uint64) {
	for _, id := range ids {
		if w.idSize == 4 {
			put(b, uint32(id))
		} else {
			put(b, id)
		}
	}
}

// Record writes a record of the top level.
func (w *Writer) Record(tag byte, body []byte) {
	put(&w.out, tag, uint32(0), uint32(len(body)))
	w.out.Write(body)
}

// Name writes a string once and returns its identifier.
func (w *Writer) Name(s string) uint64 {
	if id, ok := w.names[s]; ok {
		return id
	}
	id := uint64(len(w.names) + 1)
	w.names[s] = id
	var b bytes.Buffer
	w.id(&b, id)
	b.WriteString(s)
	w.Record(0x01, b.Bytes())
	return id
}

// A Field is a field of a class, with a value if it is static.
type Field struct {
	Name  string
	Type  hprof.Type
	Value uint64
}

// Of is a field; the value counts if it is static.
func Of(name string, t hprof.Type, value uint64) Field { return Field{name, t, value} }

// Class loads and dumps a class.
func (w *Writer) Class(id uint64, name string, super, loader uint64, statics, fields []Field, size uint32) {
	n := w.Name(name)
	for _, f := range append(append([]Field{}, statics...), fields...) {
		w.Name(f.Name)
	}
	w.serial++
	var b bytes.Buffer
	put(&b, w.serial)
	w.id(&b, id)
	put(&b, uint32(0))
	w.id(&b, n)
	w.Record(0x02, b.Bytes())
	w.sub(func(b *bytes.Buffer) {
		put(b, byte(0x20))
		w.id(b, id)
		put(b, uint32(0))
		w.id(b, super, loader, 0, 0, 0, 0)
		put(b, size, uint16(0), uint16(len(statics)))
		for _, f := range statics {
			w.id(b, w.Name(f.Name))
			put(b, byte(f.Type))
			w.value(b, f.Type, f.Value)
		}
		put(b, uint16(len(fields)))
		for _, f := range fields {
			w.id(b, w.Name(f.Name))
			put(b, byte(f.Type))
		}
	})
}

func (w *Writer) value(b *bytes.Buffer, t hprof.Type, v uint64) {
	switch t.Size(w.idSize) {
	case 1:
		put(b, byte(v))
	case 2:
		put(b, uint16(v))
	case 4:
		put(b, uint32(v))
	default:
		put(b, v)
	}
}

// A Value is a field's value in an instance.
type Value struct {
	Type hprof.Type
	Bits uint64
}

// Bits is a value by its raw bits.
func Bits(t hprof.Type, bits uint64) Value { return Value{t, bits} }

// Refs are values that are references.
func Refs(ids ...uint64) []Value {
	var out []Value
	for _, id := range ids {
		out = append(out, Value{hprof.Object, id})
	}
	return out
}

// Instance dumps an object.
func (w *Writer) Instance(id, class uint64, fields []Value) {
	w.sub(func(b *bytes.Buffer) {
		var body bytes.Buffer
		for _, f := range fields {
			w.value(&body, f.Type, f.Bits)
		}
		put(b, byte(0x21))
		w.id(b, id)
		put(b, uint32(0))
		w.id(b, class)
		put(b, uint32(body.Len()))
		b.Write(body.Bytes())
	})
}

// Objects dumps an array of objects.
func (w *Writer) Objects(id, class uint64, elements ...uint64) {
	w.sub(func(b *bytes.Buffer) {
		put(b, byte(0x22))
		w.id(b, id)
		put(b, uint32(0), uint32(len(elements)))
		w.id(b, class)
		w.id(b, elements...)
	})
}

// Prims dumps an array of primitives; data is its elements' bytes.
func (w *Writer) Prims(id uint64, t hprof.Type, data []byte) {
	w.sub(func(b *bytes.Buffer) {
		put(b, byte(0x23))
		w.id(b, id)
		put(b, uint32(0), uint32(len(data)/t.Size(w.idSize)), byte(t))
		b.Write(data)
	})
}

// Root dumps a root, with the numbers that a root of its kind has.
func (w *Writer) Root(kind hprof.RootKind, id uint64, numbers ...uint32) {
	w.sub(func(b *bytes.Buffer) {
		put(b, byte(kind))
		w.id(b, id)
		if kind == hprof.RootJNIGlobal {
			w.id(b, 0)
		}
		for _, n := range numbers {
			put(b, n)
		}
	})
}

// Sub dumps bytes that need not be a record.
func (w *Writer) Sub(raw []byte) { w.sub(func(b *bytes.Buffer) { b.Write(raw) }) }

func (w *Writer) sub(f func(b *bytes.Buffer)) {
	f(&w.heap)
	if w.Segment > 0 && w.heap.Len() >= w.Segment {
		w.flush()
	}
}

func (w *Writer) flush() {
	if w.heap.Len() > 0 {
		tag := byte(0x1c)
		if w.Segment == 0 {
			tag = 0x0c
		}
		w.Record(tag, w.heap.Bytes())
		w.heap.Reset()
	}
}

// Bytes ends the dump.
func (w *Writer) Bytes() []byte {
	w.flush()
	w.Record(0x2c, nil)
	return w.out.Bytes()
}
