package unwinder

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// An image is memory by address, in pieces.
type image map[uint64][]byte

var errNothing = errors.New("nothing there")

func (m image) Read(p []byte, at uint64) error {
	for base, b := range m {
		if at >= base && at-base <= uint64(len(b)) && uint64(len(p)) <= uint64(len(b))-(at-base) {
			copy(p, b[at-base:])
			return nil
		}
	}
	return errNothing
}

func (m image) ReadMany(spans []vmstructs.Span) error {
	for i := range spans {
		spans[i].OK = m.Read(spans[i].P, spans[i].At) == nil
	}
	return nil
}

// TestBlock finds the block that holds an address by the segment map: one of a single
// segment, one whose map goes back in hops, a freed one, and what is beyond.
func TestBlock(t *testing.T) {
	const low, segmap, shift = 0x10000, 0x8000, 7
	segments := make([]byte, 2048)
	for i := range segments {
		segments[i] = 0xFF
	}
	segments[0], segments[1] = 0, 0
	for i := 2; i < 1500; i++ { // one block of many segments: each says how far to go back
		segments[i] = byte(min(i-1, 0xFE))
	}
	for i := 256; i < 1500; i++ {
		segments[i] = 0xFE
	}
	segments[1500] = 0 // free, but still in the map
	blocks := make([]byte, 2048<<shift)
	for _, s := range []int{0, 1} {
		blocks[s<<shift+8] = 1
	}
	u := New(&Layout{BlockUsed: 8, BlockSize: 16, Heap: none, Heaps: none, ContinuationReturn: none}, image{low: blocks, segmap: segments}, nil, false)
	h := &heap{low: low, end: low + 4096<<shift, segmap: segmap, shift: shift}
	for pc, want := range map[uint64]uint64{
		low:               low + 16,
		low + 127:         low + 16,
		low + 1<<shift:    low + 1<<shift + 16,
		low + 200<<shift:  low + 1<<shift + 16,
		low + 1499<<shift: low + 1<<shift + 16,
		low + 1500<<shift: 0,
		low + 1501<<shift: 0,
		low + 3000<<shift: 0, // the map is not there
		low + 1498<<shift: low + 1<<shift + 16,
	} {
		if got := u.block(h, pc); got != want {
			t.Errorf("%#x: %#x, want %#x", pc, got, want)
		}
	}
}

// TestSymbolAtEnd reads a name that lies at the end of what is mapped.
func TestSymbolAtEnd(t *testing.T) {
	p := make([]byte, 40)
	binary.LittleEndian.PutUint16(p, 5)
	copy(p[6:], "hello")
	u := New(&Layout{SymbolLength: 0, SymbolAt: 6, Heap: none, Heaps: none, ContinuationReturn: none}, image{0x20000: p}, nil, false)
	if got := u.symbols(0x20000, 0x30000); got[0] != "hello" || got[1] != "" {
		t.Errorf("%q", got)
	}
}

// TestChanged gives up what rests on code whose compilation is another, and on a method that
// moved.
func TestChanged(t *testing.T) {
	c := openCore(t, "testdata/cores/jdk17-compiled.core.gz")
	pieces := map[uint64][]Piece{}
	for _, p := range c.Memory {
		pieces[p.At] = append(pieces[p.At], p)
	}
	mem := &shifting{from: replay(pieces)}
	u := New(&c.Layout, mem, nil, false)
	walk := func(now int64) []int {
		u.Begin(now)
		if w := u.Walk(c.Registers, c.Dump, c.Thread); !w.Complete {
			t.Fatal(w.Broken)
		}
		return u.Check()
	}
	if stale := walk(0); stale != nil {
		t.Errorf("at first: %v", stale)
	}
	mem.id = c.Layout.CompileID
	if stale := walk(Recheck / 2); stale != nil {
		t.Errorf("it was looked at again too early: %v", stale)
	}
	if stale := walk(Recheck); len(stale) != 1 || stale[0] != 0 {
		t.Errorf("other code: %v", stale)
	}
	for _, b := range u.blobs {
		if b.kind == compiled {
			t.Errorf("%s is still there", b.name)
		}
	}
}

// A shifting memory gives each nmethod another number of compilation, once it is told where that
// is.
type shifting struct {
	from replay
	id   uint64
}

func (m *shifting) Read(p []byte, at uint64) error { return m.from.Read(p, at) }

func (m *shifting) ReadMany(spans []vmstructs.Span) error {
	for i := range spans {
		s := &spans[i]
		if s.OK = m.from.Read(s.P, s.At) == nil; s.OK && m.id != 0 && len(s.P) == headerSize {
			s.P[m.id]++
		}
	}
	return nil
}

// TestTorn reads a method while its class's memory is given to another class: it has the name of one of the
// two, and that only as long as it is there.
func TestTorn(t *testing.T) {
	c := openCore(t, "testdata/cores/jdk17-compiled.core.gz")
	pieces := map[uint64][]Piece{}
	for _, p := range c.Memory {
		pieces[p.At] = append(pieces[p.At], p)
	}
	u := New(&c.Layout, replay(pieces), nil, false)
	u.Begin(0)
	u.Walk(c.Registers, c.Dump, c.Thread)
	var m *method
	for _, k := range u.methods {
		if k.name != nil && len(k.proof) == proofs {
			m = k
		}
	}
	text := m.proof[proofs-1]
	other := *m.name
	other.Class = other.Class[:len(other.Class)-1] + "?"
	for _, k := range []struct {
		name    string
		changed func(read int) bool // whether the class's name is another at its nth reading
		want    *stack.Method
	}{
		{"never", func(int) bool { return false }, m.name},
		{"before", func(int) bool { return true }, &other},
		{"between", func(n int) bool { return n == 0 }, m.name},
		{"then", func(n int) bool { return n > 0 }, &other},
		{"always", func(n int) bool { return n%2 == 0 }, nil},
	} {
		reads := 0
		mem := &tearing{replay(pieces), func(s *vmstructs.Span) {
			if at := text.At + uint64(len(text.P)) - 1; s.At <= at && at < s.At+uint64(len(s.P)) {
				if k.changed(reads) {
					s.P[at-s.At] = '?'
				}
				reads++
			}
		}}
		u := New(&c.Layout, mem, nil, false)
		u.Begin(0)
		got := u.methodOf(m.at)
		switch {
		case got == nil && k.want != nil || got != nil && (k.want == nil || *got.name != *k.want):
			t.Errorf("%s: %+v, want %+v", k.name, got, k.want)
		case got != nil:
			if u.compare(nil, []*method{got}); got.dead {
				t.Errorf("%s: it is given up", k.name)
			}
			k.changed = func(int) bool { return *k.want == *m.name }
			if u.compare(nil, []*method{got}); !got.dead {
				t.Errorf("%s: the name is another's now", k.name)
			}
		}
	}
}

// A tearing memory changes what is read of it.
type tearing struct {
	from replay
	tear func(*vmstructs.Span)
}

func (m *tearing) Read(p []byte, at uint64) error {
	err := m.from.Read(p, at)
	m.tear(&vmstructs.Span{At: at, P: p})
	return err
}

func (m *tearing) ReadMany(spans []vmstructs.Span) error {
	err := m.from.ReadMany(spans)
	for i := range spans {
		m.tear(&spans[i])
	}
	return err
}
