package event_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// An image is a data file with room for some rings, as the target writes it.
type image []byte

const imageNodes = 1 << 12

func newImage() image {
	m := image(make([]byte, wire.OffNodes+imageNodes<<wire.NodeShift))
	m.put(wire.HNextRecord, 4)
	m.put(wire.HNodeLimit, imageNodes)
	return m
}

func (m image) put(off, v int64)        { binary.NativeEndian.PutUint64(m[off:], uint64(v)) }
func (m image) put32(off int64, v int)  { binary.NativeEndian.PutUint32(m[off:], uint32(v)) }
func (m image) get(off int64) int64     { return int64(binary.NativeEndian.Uint64(m[off:])) }
func (m image) node(index int) int64    { return wire.OffNodes + int64(index)<<wire.NodeShift }
func (m image) record(record int) int64 { return wire.OffRecords + int64(record)<<wire.RecordShift }

// ring makes a ring, and the record's first unless another goes on in it.
func (m image) ring(record, node, words, after int) {
	m.put(m.node(node)+wire.EMask, int64(words-1))
	if after != 0 {
		m.put32(m.node(after)+wire.ENext, int(m.node(node)))
		return
	}
	m.put32(m.record(record)+wire.REpoch, 5)
	m.put32(m.record(record)+wire.RFirstRing, int(m.node(node)))
}

// write adds words to a ring as its writer does, which looks whether there is room.
func (m image) write(t *testing.T, node int, words ...event.Word) {
	t.Helper()
	r := m.node(node)
	size := m.get(r+wire.EMask) + 1
	for _, w := range words {
		at := m.get(r + wire.EAt)
		if at-m.get(r+wire.ERead) >= size {
			t.Fatalf("the ring is full at %d", at)
		}
		m.put(r+wire.RingHeader+(at&(size-1))<<3, int64(w))
		m.put(r+wire.EAt, at+1)
	}
}

func numbered(from, n int64) (out []event.Word) {
	for i := from; i < from+n; i++ {
		out = append(out, event.Valued(wire.EvRoot, i))
	}
	return out
}

// drain takes what there is of record 2.
func drain(t *testing.T, r *event.Rings) (got []event.Word) {
	t.Helper()
	n, err := r.Drain(func(record int, words []event.Word) {
		if record != 2 {
			t.Errorf("record %d", record)
		}
		got = append(got, words...)
	})
	if err != nil || n != int64(len(got)) {
		t.Errorf("%d words of %d: %v", len(got), n, err)
	}
	return got
}

// TestRings follows a stream round its ring many times and from ring to ring.
func TestRings(t *testing.T) {
	m := newImage()
	r := event.NewRings(m, 5)
	if got := drain(t, r); got != nil {
		t.Errorf("got %v of nobody", got)
	}
	m.ring(2, 64, 16, 0)
	m.ring(3, 640, 16, 0)
	m.put32(m.record(3)+wire.REpoch, 4) // of an earlier recording
	m.write(t, 640, numbered(0, 3)...)
	next := int64(0)
	for round := int64(0); round < 100; round++ {
		n := round % 17
		m.write(t, 64, numbered(next, n)...)
		if got := drain(t, r); !slices.Equal(got, numbered(next, n)) {
			t.Fatalf("round %d: got %v", round, got)
		}
		next += n
	}
	m.write(t, 64, numbered(next, 16)...) // full: it goes on in a larger one
	m.put(m.node(64)+wire.EDropped, 3)
	m.ring(2, 128, 64, 64)
	m.write(t, 128, numbered(next+16, 20)...)
	m.put(m.node(128)+wire.EWaits, 1)
	m.put(m.node(128)+wire.EWaited, 77)
	m.put(wire.HMute, 9)
	if got := drain(t, r); !slices.Equal(got, numbered(next, 36)) {
		t.Errorf("got %v", got)
	}
	want := event.Stats{Words: next + 36, Dropped: 3, Waits: 1, Waited: 77, Muted: 9, Rings: 2, Bytes: 80*8 + 2*wire.RingHeader}
	if s, err := r.Stats(); err != nil || s != want {
		t.Errorf("stats %+v, %v, want %+v", s, err, want)
	}
}

// TestFreeRings hands rings back that were left, and those of idle records.
func TestFreeRings(t *testing.T) {
	m := newImage()
	free := func(class int) (nodes []int) {
		for at := int64(uint32(m.get(wire.HFreeRings + int64(8*class)))); at != 0; at = int64(uint32(m.get(at + wire.ENext))) {
			nodes = append(nodes, int(at-wire.OffNodes)>>wire.NodeShift)
		}
		return nodes
	}
	r := event.NewRings(m, 5)
	m.ring(2, 64, wire.RingFirst, 0)
	m.write(t, 64, numbered(0, 5)...)
	m.ring(2, 512, 4*wire.RingFirst, 64)
	m.put32(m.record(2)+wire.RRing, int(m.node(512)))
	m.write(t, 512, numbered(5, 5)...)
	m.put32(m.record(2)+wire.RLease, 77)
	drain(t, r)
	if got := free(0); !slices.Equal(got, []int{64}) || m.get(m.node(64)+wire.EAt) != 0 {
		t.Errorf("free: %v", got)
	}
	time.Sleep(300 * time.Millisecond)
	drain(t, r)
	if got := free(1); got != nil {
		t.Errorf("taken from a root call: %v", got)
	}
	m.put32(m.record(2)+wire.RLease, 0)
	drain(t, r)
	if got := free(1); !slices.Equal(got, []int{512}) || m.get(m.record(2)+wire.RFirstRing) != 0 || m.get(m.record(2)+wire.RLease)&0xffffffff != 0 {
		t.Errorf("free: %v", got)
	}
	m.put32(wire.HFreeRings, 0) // the target takes the small one
	m.put32(m.node(64)+wire.ENext, 0)
	m.ring(2, 64, wire.RingFirst, 0)
	m.put32(m.record(2)+wire.RRing, int(m.node(64)))
	m.write(t, 64, numbered(10, 5)...)
	if got := drain(t, r); !slices.Equal(got, numbered(10, 5)) {
		t.Errorf("got %v", got)
	}
}

// TestDamagedRings refuses what is no ring: it takes nothing of it, and the
// other records' go on.
func TestDamagedRings(t *testing.T) {
	for name, damage := range map[string]func(m image){
		"beyond the file":          func(m image) { m.put32(m.record(2)+wire.RFirstRing, 1<<31) },
		"at the end":               func(m image) { m.put32(m.record(2)+wire.RFirstRing, int(m.node(imageNodes-1))) },
		"within a node":            func(m image) { m.put32(m.record(2)+wire.RFirstRing, int(m.node(64)+8)) },
		"before all nodes":         func(m image) { m.put32(m.record(2)+wire.RFirstRing, wire.OffRecords) },
		"beyond the limit":         func(m image) { m.put(wire.HNodeLimit, 66) },
		"negative limit":           func(m image) { m.put(wire.HNodeLimit, -1) },
		"no power of two":          func(m image) { m.put(m.node(64)+wire.EMask, 14) },
		"no words":                 func(m image) { m.put(m.node(64)+wire.EMask, -1) },
		"too large":                func(m image) { m.put(m.node(64)+wire.EMask, 1<<40-1) },
		"more written than it has": func(m image) { m.put(m.node(64)+wire.EAt, 17) },
		"less written than read":   func(m image) { m.put(m.node(64)+wire.EAt, -1) },
	} {
		t.Run(name, func(t *testing.T) {
			m := newImage()
			m.ring(2, 64, 16, 0)
			m.ring(1, 640, 16, 0)
			m.write(t, 64, numbered(0, 3)...)
			if name != "beyond the limit" && name != "negative limit" {
				m.write(t, 640, numbered(0, 1)...)
			}
			damage(m)
			r := event.NewRings(m, 5)
			for range 3 {
				if _, err := r.Drain(func(record int, words []event.Word) {
					if record != 1 {
						t.Errorf("took %v of record %d", words, record)
					}
				}); err != nil {
					t.Error(err)
				}
			}
			if s, _ := r.Stats(); s.Bad == 0 {
				t.Error("not noticed")
			}
		})
	}
}

// TestRingInCircle ends where rings follow each other in a circle, or don't grow.
func TestRingInCircle(t *testing.T) {
	m := newImage()
	m.ring(2, 64, 16, 0)
	m.ring(2, 128, 64, 64)
	m.ring(2, 64, 16, 128)
	r := event.NewRings(m, 5)
	drain(t, r)
	if s, _ := r.Stats(); s.Bad != 1 || s.Rings != 2 {
		t.Errorf("stats %+v", s)
	}
}

// TestTruncated survives that the file's pages go away.
func TestTruncated(t *testing.T) {
	fd, err := unix.MemfdCreate("rings", 0)
	if err != nil {
		t.Skip(err)
	}
	defer unix.Close(fd)
	from := newImage()
	from.ring(2, 64, 16, 0)
	if err := unix.Ftruncate(fd, int64(len(from))); err != nil {
		t.Fatal(err)
	}
	mem, err := unix.Mmap(fd, 0, len(from), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mem) //nolint:errcheck // the test is over
	copy(mem, from)
	r := event.NewRings(mem, 5)
	if _, err := r.Drain(func(int, []event.Word) {}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Ftruncate(fd, 4096); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Drain(func(int, []event.Word) {}); !errors.Is(err, event.ErrGone) {
		t.Errorf("error %v", err)
	}
	if _, err := r.Stats(); !errors.Is(err, event.ErrGone) {
		t.Errorf("stats: error %v", err)
	}
}

// FuzzRings writes anything where rings and their records lie.
func FuzzRings(f *testing.F) {
	valid := newImage()
	valid.ring(1, 64, 16, 0)
	valid.ring(1, 128, 64, 64)
	valid.put(valid.node(64)+wire.EAt, 9)
	f.Add(append(slices.Clone([]byte(valid[valid.record(1):][:256])), valid[valid.node(64):valid.node(140)]...))
	f.Add([]byte{})
	m := newImage()
	f.Fuzz(func(t *testing.T, data []byte) {
		clear(m[m.record(1):][:3<<wire.RecordShift])
		clear(m[m.node(64):])
		n := copy(m[m.record(1):][:3<<wire.RecordShift], data)
		copy(m[m.node(64):], data[n:])
		r, taken := event.NewRings(m, 5), int64(0)
		b := event.NewBuilder()
		for range 3 {
			n, err := r.Drain(b.Take)
			if err != nil {
				t.Fatal(err)
			}
			taken += n
		}
		if s, err := r.Stats(); err != nil || s.Words != taken || taken > 3*imageNodes<<wire.NodeShift {
			t.Errorf("took %d: %+v, %v", taken, s, err)
		}
	})
}
