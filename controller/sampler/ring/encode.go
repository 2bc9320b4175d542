package ring

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// A site is a frame without what differs between its activations.
type site struct {
	method *stack.Method
	kind   stack.Kind
	bci    int
	line   int
	ret    uint64
}

// seen is what a chunk knows of a thread.
type seen struct {
	number uint64
	name   string
	last   []stack.Frame // innermost first
}

// A builder makes one chunk.
type builder struct {
	raw     []byte
	texts   map[string]uint64
	methods map[*stack.Method]uint64
	sites   map[site]uint64
	threads map[int]*seen
	moves   []Span
	lost    int64
	cpu     int64 // ns of a core, of the sampler's
	samples uint32
	first   int64 // CLOCK_MONOTONIC ns of the earliest and the latest sample
	last    int64
	prev    int64 // time of the sample before
	made    int   // frames that a reader has to make
	packer  *flate.Writer
}

func newBuilder() *builder {
	b := &builder{}
	b.reset()
	return b
}

func (b *builder) reset() {
	packer := b.packer
	*b = builder{
		raw: b.raw[:0], texts: map[string]uint64{}, methods: map[*stack.Method]uint64{}, sites: map[site]uint64{}, threads: map[int]*seen{},
		packer: packer,
	}
}

func (b *builder) uint(v uint64)    { b.raw = binary.AppendUvarint(b.raw, v) }
func (b *builder) int(v int64)      { b.raw = binary.AppendVarint(b.raw, v) }
func (b *builder) fixed32(v uint64) { b.raw = binary.LittleEndian.AppendUint32(b.raw, uint32(v)) }

// text writes a string: its number, and where that is new, its length and bytes.
func (b *builder) text(s string) {
	if len(s) > mostText {
		s = s[:mostText]
	}
	n, old := b.texts[s]
	if !old {
		n = uint64(len(b.texts))
		b.texts[s] = n
	}
	b.uint(n)
	if !old {
		b.uint(uint64(len(s)))
		b.raw = append(b.raw, s...)
	}
}

// Bits of a sample.
const (
	bitJava = 1 << iota
	bitComplete
	bitHeuristic
	bitName // the thread's name follows

	stateShift = 4
	stateMask  = 0xf
	bitMonitor = 1 << 8 // the class of a monitor follows
)

// add writes one sample.
func (b *builder) add(s *stack.Stack) {
	if b.samples == 0 {
		b.first, b.last = s.Time, s.Time
	}
	b.first, b.last = min(b.first, s.Time), max(b.last, s.Time)
	b.samples++
	b.int(s.Time - b.prev)
	b.prev = s.Time
	b.uint(uint64(max(s.Weight, 0)))
	t := b.threads[s.TID]
	fresh := t == nil
	if fresh {
		t = &seen{number: uint64(len(b.threads))}
		b.threads[s.TID] = t
	}
	b.uint(t.number)
	if fresh {
		b.uint(uint64(max(s.TID, 0)))
	}
	bits := uint64(s.State) << stateShift
	for _, f := range []struct {
		on  bool
		bit uint64
	}{{s.Java, bitJava}, {s.Complete, bitComplete}, {s.Heuristic, bitHeuristic}, {fresh || t.name != s.Thread, bitName}} {
		if f.on {
			bits |= f.bit
		}
	}
	if s.Monitor != "" {
		bits |= bitMonitor
	}
	b.uint(bits)
	if bits&bitName != 0 {
		b.text(s.Thread)
		t.name = s.Thread
	}
	if !s.Complete {
		b.text(s.Broken)
	}
	if s.Monitor != "" {
		b.text(s.Monitor)
	}
	b.frames(t, s.Frames)
}

// frames writes a stack as what differs from the thread's last one: how many outer frames are the
// same, and the others, outermost first.
func (b *builder) frames(t *seen, frames []stack.Frame) {
	frames = frames[:min(len(frames), mostFrames)]
	same := 0
	for same < len(frames) && same < len(t.last) && narrow(frames[len(frames)-1-same]) == t.last[len(t.last)-1-same] {
		same++
	}
	b.uint(uint64(same))
	b.uint(uint64(len(frames) - same))
	if same < len(frames) || same < len(t.last) {
		b.made += len(frames)
	}
	slot := uint64(0)
	if same > 0 {
		slot = frames[len(frames)-same].Slot
	}
	for i := len(frames) - 1 - same; i >= 0; i-- {
		f := &frames[i]
		b.site(f)
		b.int(int64(slot - f.Slot))
		b.fixed32(f.Words)
		slot = f.Slot
	}
	t.last = t.last[:0]
	for _, f := range frames {
		t.last = append(t.last, narrow(f))
	}
}

// narrow is a frame as it can be read again: with half of the hash of its words.
func narrow(f stack.Frame) stack.Frame {
	f.Words &= 0xffffffff
	f.BCI = max(f.BCI, -1)
	f.Line = max(f.Line, 0)
	return f
}

func (b *builder) site(f *stack.Frame) {
	k := site{f.Method, f.Kind, max(f.BCI, -1), max(f.Line, 0), f.Return}
	n, old := b.sites[k]
	if !old {
		n = uint64(len(b.sites))
		b.sites[k] = n
	}
	b.uint(n)
	if old {
		return
	}
	m, old := b.methods[f.Method]
	switch {
	case f.Method == nil:
		b.uint(0)
	case old:
		b.uint(m)
	default:
		m = uint64(len(b.methods)) + 1
		b.methods[f.Method] = m
		b.uint(m)
		b.text(f.Method.Class)
		b.text(f.Method.Name)
		b.text(f.Method.Desc)
	}
	b.uint(uint64(f.Kind))
	b.uint(uint64(k.bci + 1))
	b.uint(uint64(k.line))
	b.uint(f.Return)
}

// headSize is what stands before the packed part of a chunk: first and last sample
// (CLOCK_MONOTONIC ns), samples, bytes before packing.
const headSize = 8 + 8 + 4 + 4

// chunk is the payload of what was added since the last one; nil if that is nothing.
func (b *builder) chunk() ([]byte, error) {
	if b.samples == 0 && b.lost == 0 && len(b.moves) == 0 {
		return nil, nil
	}
	front := binary.AppendUvarint(nil, uint64(max(b.lost, 0)))
	front = binary.AppendUvarint(front, uint64(max(b.cpu, 0)))
	front = binary.AppendUvarint(front, uint64(len(b.moves)))
	for _, m := range b.moves {
		front = binary.AppendVarint(front, m.From-b.first)
		front = binary.AppendUvarint(front, uint64(max(m.Until-m.From, 0)))
	}
	if len(front)+len(b.raw) > mostChunk {
		return nil, fmt.Errorf("a chunk of %d bytes: %d are the most", len(front)+len(b.raw), mostChunk)
	}
	out := binary.LittleEndian.AppendUint64(nil, uint64(b.first))
	out = binary.LittleEndian.AppendUint64(out, uint64(b.last))
	out = binary.LittleEndian.AppendUint32(out, b.samples)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(front)+len(b.raw)))
	packed := bytes.NewBuffer(out)
	if b.packer == nil {
		var err error
		if b.packer, err = flate.NewWriter(packed, flate.BestSpeed); err != nil {
			return nil, err
		}
	} else {
		b.packer.Reset(packed)
	}
	for _, part := range [][]byte{front, b.raw} {
		if _, err := b.packer.Write(part); err != nil {
			return nil, err
		}
	}
	if err := b.packer.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}
