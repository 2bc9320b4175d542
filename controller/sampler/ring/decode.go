package ring

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// A Chunk is some seconds of samples, in the order in which they were taken.
type Chunk struct {
	Stacks []stack.Stack
	Moves  []Span // pieces of time in which a collection moved objects
	Lost   int64  // samples for which there was no room
	CPU    int64  // ns of a core that sampling took
}

// A head is what can be known of a chunk without unpacking it.
type head struct {
	first, last int64 // CLOCK_MONOTONIC ns
	samples     uint32
	size        uint32 // before packing
}

func readHead(b []byte) (head, bool) {
	if len(b) < headSize {
		return head{}, false
	}
	h := head{
		int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:])),
		binary.LittleEndian.Uint32(b[16:]), binary.LittleEndian.Uint32(b[20:]),
	}
	return h, h.size <= mostChunk && h.first <= h.last && h.first >= 0
}

// Names interns methods, so that those of several chunks are the same.
type names map[stack.Method]*stack.Method

// mostNames bounds the methods that are kept, of a file that has ever more.
const mostNames = 1 << 20

func (n names) of(m stack.Method) *stack.Method {
	if p := n[m]; p != nil {
		return p
	}
	if len(n) >= mostNames {
		clear(n)
	}
	n[m] = &m
	return &m
}

// A parser reads one chunk.
type parser struct {
	b       []byte
	names   names
	texts   []string
	methods []*stack.Method
	sites   []site
	threads []thread
	made    int
	err     error
}

type thread struct {
	tid  int
	name string
	last []stack.Frame // outermost first
	made []stack.Frame // the same, innermost first; stacks share it
}

var errChunk = errors.New("a chunk makes no sense")

// decode unpacks and reads a chunk.
func decode(payload []byte, n names) (*Chunk, error) {
	h, ok := readHead(payload)
	if !ok {
		return nil, fmt.Errorf("%w: %w", ErrFormat, errChunk)
	}
	raw := make([]byte, 0, h.size)
	buf := bytes.NewBuffer(raw)
	if m, err := io.Copy(buf, io.LimitReader(flate.NewReader(bytes.NewReader(payload[headSize:])), int64(h.size)+1)); err != nil || m != int64(h.size) {
		return nil, fmt.Errorf("%w: %w", ErrFormat, errChunk)
	}
	p := &parser{b: buf.Bytes(), names: n}
	c := &Chunk{Lost: int64(p.uint()), CPU: int64(p.uint())}
	for k := p.uint(); k > 0 && p.err == nil; k-- {
		from := h.first + p.int()
		c.Moves = append(c.Moves, Span{from, from + int64(p.uint())})
	}
	now := int64(0)
	for i := uint32(0); i < h.samples && p.err == nil; i++ {
		now += p.int()
		s := p.sample()
		s.Time = now
		c.Stacks = append(c.Stacks, s)
	}
	if p.err == nil && len(p.b) > 0 {
		p.err = errChunk
	}
	if p.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, p.err)
	}
	return c, nil
}

func (p *parser) fail() {
	p.err, p.b = errChunk, nil
}

func (p *parser) uint() uint64 {
	v, n := binary.Uvarint(p.b)
	if n <= 0 {
		p.fail()
		return 0
	}
	p.b = p.b[n:]
	return v
}

func (p *parser) int() int64 {
	v, n := binary.Varint(p.b)
	if n <= 0 {
		p.fail()
		return 0
	}
	p.b = p.b[n:]
	return v
}

func (p *parser) text() string {
	n := p.uint()
	if n < uint64(len(p.texts)) {
		return p.texts[n]
	}
	length := p.uint()
	if n > uint64(len(p.texts)) || length > uint64(len(p.b)) || length > mostText {
		p.fail()
		return ""
	}
	s := string(p.b[:length])
	p.b = p.b[length:]
	p.texts = append(p.texts, s)
	return s
}

func (p *parser) sample() (s stack.Stack) {
	s.Weight = int64(p.uint())
	n := p.uint()
	if n > uint64(len(p.threads)) || s.Weight < 0 {
		p.fail()
		return s
	}
	if n == uint64(len(p.threads)) {
		tid := p.uint()
		if tid > 1<<31 {
			p.fail()
			return s
		}
		p.threads = append(p.threads, thread{tid: int(tid)})
	}
	t := &p.threads[n]
	bits := p.uint()
	if bits&bitName != 0 {
		t.name = p.text()
	}
	s.TID, s.Thread = t.tid, t.name
	s.Java, s.Complete, s.Heuristic = bits&bitJava != 0, bits&bitComplete != 0, bits&bitHeuristic != 0
	if state := bits >> stateShift & stateMask; state <= uint64(stack.InVM) {
		s.State = stack.State(state)
	}
	if !s.Complete {
		s.Broken = p.text()
	}
	if bits&bitMonitor != 0 {
		s.Monitor = p.text()
	}
	s.Frames = p.frames(t)
	return s
}

func (p *parser) frames(t *thread) []stack.Frame {
	same, fresh := p.uint(), p.uint()
	if same > uint64(len(t.last)) || fresh > mostFrames || same+fresh > mostFrames {
		p.fail()
		return nil
	}
	if fresh == 0 && same == uint64(len(t.last)) {
		return t.made
	}
	t.last = t.last[:same]
	slot := uint64(0)
	if same > 0 {
		slot = t.last[same-1].Slot
	}
	for ; fresh > 0 && p.err == nil; fresh-- {
		f := p.site()
		slot -= uint64(p.int())
		f.Slot = slot
		if len(p.b) < 4 {
			p.fail()
			return nil
		}
		f.Words = uint64(binary.LittleEndian.Uint32(p.b))
		p.b = p.b[4:]
		t.last = append(t.last, f)
	}
	n := len(t.last)
	if p.made += n; p.made > mostMade {
		p.fail()
		return nil
	}
	out := make([]stack.Frame, n)
	for i, f := range t.last {
		out[n-1-i] = f
	}
	t.made = out
	return out
}

func (p *parser) site() stack.Frame {
	n := p.uint()
	if n > uint64(len(p.sites)) {
		p.fail()
		return stack.Frame{}
	}
	if n == uint64(len(p.sites)) {
		var k site
		switch m := p.uint(); {
		case m == 0:
		case m <= uint64(len(p.methods)):
			k.method = p.methods[m-1]
		case m == uint64(len(p.methods))+1:
			k.method = p.names.of(stack.Method{Class: p.text(), Name: p.text(), Desc: p.text()})
			p.methods = append(p.methods, k.method)
		default:
			p.fail()
		}
		kind, bci, line := p.uint(), p.uint(), p.uint()
		k.ret = p.uint()
		if kind > uint64(stack.Stub) || bci > 1<<17 || line > 1<<31 {
			p.fail()
		}
		if p.err != nil {
			return stack.Frame{}
		}
		k.kind, k.bci, k.line = stack.Kind(kind), int(bci)-1, int(line)
		p.sites = append(p.sites, k)
	}
	k := &p.sites[n]
	return stack.Frame{Method: k.method, Kind: k.kind, BCI: k.bci, Line: k.line, Return: k.ret}
}
