package classfile

import "encoding/binary"

// A FrameWriter encodes stack map frames, each as compactly as it can without
// a comparison with the locals before: same and same_locals_1_stack_item when
// told that the locals are the same, else full_frame.
type FrameWriter struct {
	buf   []byte
	start int
	count int
	prev  int
}

// Start begins a StackMapTable at the end of buf.
func (w *FrameWriter) Start(buf []byte) {
	*w = FrameWriter{buf: append(buf, 0, 0), start: len(buf), prev: -1}
}

// Frame appends a frame. Offsets must rise from frame to frame.
func (w *FrameWriter) Frame(offset int, same bool, locals, stack []VType) {
	delta := offset - w.prev - 1
	w.prev = offset
	w.count++
	switch {
	case same && len(stack) == 0 && delta < typeOne:
		w.buf = append(w.buf, byte(delta))
	case same && len(stack) == 0:
		w.buf = append(w.buf, typeSameExtended, byte(delta>>8), byte(delta))
	case same && len(stack) == 1 && delta < typeOne:
		w.buf = appendVType(append(w.buf, byte(typeOne+delta)), stack[0])
	case same && len(stack) == 1:
		w.buf = appendVType(append(w.buf, typeOneExtended, byte(delta>>8), byte(delta)), stack[0])
	default:
		w.buf = append(w.buf, typeFull, byte(delta>>8), byte(delta))
		w.buf = appendVTypes(w.buf, locals)
		w.buf = appendVTypes(w.buf, stack)
	}
}

// Size returns the bytes written since Start.
func (w *FrameWriter) Size() int { return len(w.buf) - w.start }

// Count returns the frames written since Start.
func (w *FrameWriter) Count() int { return w.count }

// Finish returns the buffer with the table at its end. The number of frames
// must not pass 65535; there is at most one for each offset.
func (w *FrameWriter) Finish() []byte {
	binary.BigEndian.PutUint16(w.buf[w.start:], uint16(w.count))
	return w.buf
}

func appendVType(b []byte, t VType) []byte {
	b = append(b, byte(t.Tag))
	if t.Tag >= VObject {
		b = append(b, byte(t.Data>>8), byte(t.Data))
	}
	return b
}

func appendVTypes(b []byte, ts []VType) []byte {
	b = append(b, byte(len(ts)>>8), byte(len(ts)))
	for _, t := range ts {
		b = appendVType(b, t)
	}
	return b
}
