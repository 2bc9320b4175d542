package probe

import (
	"encoding/binary"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// A targetKind is what a type annotation's target_info holds (§4.7.20.1).
type targetKind uint8

const (
	targetNone   targetKind = iota // no such target
	targetFixed                    // nothing that moves
	targetOffset                   // an offset of an instruction first
	targetLocals                   // a table of ranges
)

// targets holds the target types by range: the last of it, the kind and the
// length of target_info if fixed.
var targets = []struct {
	last uint8
	kind targetKind
	size int
}{
	{0x01, targetFixed, 1},
	{0x0f, targetNone, 0},
	{0x10, targetFixed, 2},
	{0x12, targetFixed, 2},
	{0x15, targetFixed, 0},
	{0x16, targetFixed, 1},
	{0x17, targetFixed, 2},
	{0x3f, targetNone, 0},
	{0x41, targetLocals, 0},
	{0x42, targetFixed, 2},
	{0x46, targetOffset, 2},
	{0x4b, targetOffset, 3},
	{0xff, targetNone, 0},
}

// maxNesting bounds annotations inside annotations.
const maxNesting = 64

// An annotationWalk goes over type annotations and moves their offsets.
type annotationWalk struct {
	l  *layout
	b  []byte // what is left
	ok bool
}

// moveAnnotations moves type annotations of code (§4.7.20).
func (l *layout) moveAnnotations(b []byte) error {
	w := annotationWalk{l: l, b: b, ok: true}
	for n := w.u2(); n > 0 && w.ok; n-- {
		w.target()
		w.take(2 * int(w.u1())) // type_path
		w.annotation(0)
	}
	if !w.ok || len(w.b) > 0 {
		return malformed(classfile.AttrVisibleTypeAnnots)
	}
	return nil
}

// take returns the next n bytes, which may be changed, or nil.
func (w *annotationWalk) take(n int) []byte {
	if !w.ok || n > len(w.b) {
		w.ok = false
		return nil
	}
	b := w.b[:n]
	w.b = w.b[n:]
	return b
}

func (w *annotationWalk) u1() uint8 {
	if b := w.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (w *annotationWalk) u2() uint16 {
	if b := w.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (w *annotationWalk) target() {
	t := w.u1()
	i := 0
	for targets[i].last < t {
		i++
	}
	switch row := targets[i]; row.kind {
	case targetNone:
		w.ok = false
	case targetFixed:
		w.take(row.size)
	case targetOffset:
		if b := w.take(row.size); b != nil {
			at := int(binary.BigEndian.Uint16(b))
			if at >= len(w.l.code) {
				w.ok = false
				return
			}
			binary.BigEndian.PutUint16(b, uint16(w.l.body(at)))
		}
	case targetLocals:
		for n := w.u2(); n > 0 && w.ok; n-- {
			if b := w.take(6); b != nil { // start_pc, length, slot
				w.l.moveRange(b)
			}
		}
	}
}

// annotation passes over type_index and the element-value pairs (§4.7.16).
func (w *annotationWalk) annotation(depth int) {
	w.u2()
	for n := w.u2(); n > 0 && w.ok; n-- {
		w.u2()
		w.value(depth + 1)
	}
}

// value passes over an element_value (§4.7.16.1).
func (w *annotationWalk) value(depth int) {
	if depth > maxNesting {
		w.ok = false
		return
	}
	switch w.u1() {
	case 'e':
		w.take(4)
	case '@':
		w.annotation(depth)
	case '[':
		for n := w.u2(); n > 0 && w.ok; n-- {
			w.value(depth + 1)
		}
	default: // a constant or a class: one index
		w.take(2)
	}
}
