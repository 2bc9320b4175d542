package cct_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// sample is a record with two roots; Total is what reading must compute.
func sample() *cct.Thread {
	return &cct.Thread{
		ID: 17, Name: "wörker-1", RootEntries: 3, RootReturns: 3, Suspended: 99,
		Roots: []*cct.Node{
			{Method: 0, Calls: 2, Self: 10, Total: 60, Children: []*cct.Node{
				{Method: 1, Calls: 4, Thrown: 1, Self: 20, Total: 50, Children: []*cct.Node{
					{Method: 2, Calls: 8, Self: 30, Total: 30, Incomplete: true},
				}},
				{Method: 3, Calls: 1},
			}},
			{Method: 4, Calls: 1, Thrown: 1, Self: 5, Total: 5},
		},
	}
}

func TestRead(t *testing.T) {
	m := newImage(64)
	virtual := &cct.Thread{ID: 40, Virtual: true, Shared: true, RootEntries: 1, RootReturns: 1, Roots: []*cct.Node{{Method: 0, Calls: 1, Self: 7, Total: 7}}}
	m.thread(sample())
	m.nextRec++ // a record that was never used
	m.thread(virtual)
	m.put64(wire.HOverflow, 1)
	m.put64(wire.HLost, 2)
	m.put64(wire.HRefused, 3)
	m.put64(wire.HIncomplete, 4)
	got, err := cct.Read(m.mem, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := &cct.Snapshot{Threads: []*cct.Thread{sample(), virtual}, Overflow: 1, Lost: 2, Refused: 3, Incomplete: 4}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("-want +got:\n", diff)
	}
	sums := cct.Sum(got.Roots())
	if want := (cct.Sums{Nodes: 6, Calls: 17, Thrown: 2, Self: 72, Depth: 3}); sums != want {
		t.Errorf("Sum: got %+v, want %+v", sums, want)
	}
}

// TestMethodTotals: they are those of the trees.
func TestMethodTotals(t *testing.T) {
	m := newImage(64)
	m.thread(sample())
	m.nextRec++
	m.thread(&cct.Thread{ID: 40, RootEntries: 1, RootReturns: 1, Roots: []*cct.Node{{Method: 0, Calls: 1, Self: 7, Children: []*cct.Node{{Method: 2, Calls: 5, Self: 1}}}}})
	tree, err := cct.Read(m.mem, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int32]cct.MethodTotal{}
	for _, f := range cct.FlatOf(tree.Roots()) {
		want[f.Method] = cct.MethodTotal{Calls: f.Calls, Self: f.Self}
	}
	got, err := cct.MethodTotals(m.mem)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("-want +got:\n", diff)
	}
	if _, err := cct.MethodTotals(m.mem[:100]); !errors.Is(err, cct.ErrFormat) {
		t.Errorf("of a hundred bytes: %v", err)
	}
}

// TestReadRunning charges the time since a thread's last boundary.
func TestReadRunning(t *testing.T) {
	index := int64(offNode(3)) // top is 1, then the roots from the last to the first
	tests := []struct {
		name      string
		now, last int64
		cursor    int64
		busy      uint32
		charged   int64
		suspended int64
		open      bool
	}{
		{name: "outside", now: 1000, last: 400},
		{name: "inside", now: 1000, last: 400, cursor: index, charged: 600, open: true},
		{name: "no clock", now: 0, last: 400, cursor: index, open: true},
		{name: "clock behind", now: 300, last: 400, cursor: index, open: true},
		{name: "never charged", now: 300, last: 0, cursor: index, open: true},
		{name: "waiting for the profiler", now: 1000, last: 400, cursor: index, busy: 1, suspended: 600, open: true},
		{name: "cursor nowhere", now: 1000, last: 400, cursor: 1 << 39, open: true},
		{name: "cursor within a node", now: 1000, last: 400, cursor: index + 8, open: true},
		{name: "cursor negative", now: 1000, last: 400, cursor: -1, open: true},
		{name: "cursor at top", now: 1000, last: 400, cursor: int64(offNode(1)), open: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := newImage(64)
			th := sample()
			off := offRecord(m.thread(th))
			m.put64(off+wire.RLast, test.last)
			m.put64(off+wire.RCursor, test.cursor)
			m.put32(off+wire.RBusy, test.busy)
			got, err := cct.Read(m.mem, test.now)
			if err != nil {
				t.Fatal(err)
			}
			if self := cct.Sum(got.Roots()).Self; self != 65+test.charged {
				t.Errorf("self: got %d, want %d", self, 65+test.charged)
			}
			if s := got.Threads[0].Suspended; s != 99+test.suspended {
				t.Errorf("suspended: got %d, want %d", s, 99+test.suspended)
			}
			if got.Threads[0].Open != test.open {
				t.Errorf("open: got %v", got.Threads[0].Open)
			}
		})
	}
}

// TestReadCarry: what root invocations left over is the root's with the most time of
// its own, or where the thread is now.
func TestReadCarry(t *testing.T) {
	m := newImage(64)
	off := offRecord(m.thread(sample()))
	m.put64(off+wire.RCarry, 1000)
	for _, c := range []struct{ cursor, heaviest int64 }{{0, 1010}, {int64(offNode(2)), 10}} {
		m.put64(off+wire.RCursor, c.cursor)
		got, err := cct.Read(m.mem, 0)
		if err != nil {
			t.Fatal(err)
		}
		if self := cct.Sum(got.Roots()).Self; self != 1065 {
			t.Errorf("cursor %d: %d in all", c.cursor, self)
		}
		if self := got.Threads[0].Roots[0].Self; self != c.heaviest {
			t.Errorf("cursor %d: %d", c.cursor, self)
		}
	}
}

// TestReadDamaged has a target that writes what it should not.
func TestReadDamaged(t *testing.T) {
	const big = 1 << 62
	tests := []struct {
		name   string
		damage func(m *image, rec int)
		nodes  int64 // that are still read
		bad    int64
	}{
		{"nothing", func(*image, int) {}, 5, 0},
		{"child is its ancestor", func(m *image, _ int) { m.put32(offNode(2)+wire.NChild, uint32(offNode(1))) }, 5, 1},
		{"sibling is itself", func(m *image, _ int) { m.put32(offNode(2)+wire.NSibling, uint32(offNode(2))) }, 5, 1},
		{"sibling within a node", func(m *image, _ int) { m.put32(offNode(2)+wire.NSibling, uint32(offNode(3)+8)) }, 5, 1},
		{"child before all nodes", func(m *image, _ int) { m.put32(offNode(2)+wire.NChild, wire.OffRecords) }, 5, 1},
		{"sibling beyond the limit", func(m *image, _ int) { m.put32(offNode(2)+wire.NSibling, uint32(offNode(64))) }, 5, 1},
		{"child far away", func(m *image, _ int) { m.put32(offNode(2)+wire.NChild, 1<<32-1) }, 5, 1},
		{"method negative", func(m *image, _ int) { m.put32(offNode(2)+wire.NMethod, 1<<31) }, 4, 1},
		{"method unknown", func(m *image, _ int) { m.put32(offNode(2)+wire.NMethod, wire.MaxMethods) }, 4, 1},
		{"top nowhere", func(m *image, rec int) { m.put32(offRecord(rec)+wire.RTop, 1<<31) }, 0, 1},
		{"two records, one tree", func(m *image, rec int) {
			m.put32(offRecord(rec+1)+wire.RTop, uint32(offNode(1)))
			m.put64(wire.HNextRecord, big)
		}, 5, 1},
		{"limit beyond the file", func(m *image, _ int) {
			m.put64(wire.HNodeLimit, big)
			m.put32(offNode(2)+wire.NChild, uint32(offNode(1<<20)))
		}, 5, 1},
		{"limit negative", func(m *image, _ int) { m.put64(wire.HNodeLimit, -1) }, 0, 1},
		{"records negative", func(m *image, _ int) { m.put64(wire.HNextRecord, -1) }, 0, 0},
		{"name too long", func(m *image, rec int) { m.put32(offRecord(rec)+wire.RNameLength, 1<<32-1) }, 5, 0},
		{"counts negative", func(m *image, rec int) {
			m.put64(offNode(2)+wire.NCalls, -5)
			m.put64(offNode(2)+wire.NSelf, -5)
			m.put64(offRecord(rec)+wire.REntries, -5)
		}, 5, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := newImage(64)
			test.damage(m, m.thread(sample()))
			got, err := cct.Read(m.mem, 1)
			if err != nil {
				t.Fatal(err)
			}
			if sums := cct.Sum(got.Roots()); sums.Nodes != test.nodes || got.Bad != test.bad {
				t.Errorf("got %d nodes, %d bad, want %d, %d", sums.Nodes, got.Bad, test.nodes, test.bad)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	if _, err := cct.Read(nil, 0); !errors.Is(err, cct.ErrFormat) {
		t.Error("empty:", err)
	}
	m := newImage(64)
	if _, err := cct.Read(m.mem[1:], 0); err == nil {
		t.Error("unaligned: no error")
	}
	m.put32(wire.HVersion, wire.Version+1)
	if _, err := cct.Read(m.mem, 0); !errors.Is(err, cct.ErrFormat) {
		t.Error("version:", err)
	}
	m.put64(wire.HMagic, 0)
	if _, err := cct.Read(m.mem, 0); !errors.Is(err, cct.ErrFormat) {
		t.Error("magic:", err)
	}
}

// TestReadTruncated has somebody cut the file under the mapping.
func TestReadTruncated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	m := newImage(1 << 10)
	m.thread(sample())
	if err := os.WriteFile(path, m.mem, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mem, err := unix.Mmap(int(f.Fd()), 0, len(m.mem), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mem)
	if _, err := cct.Read(mem, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(8192); err != nil {
		t.Fatal(err)
	}
	if _, err := cct.Read(mem, 0); !errors.Is(err, cct.ErrGone) {
		t.Error("got", err)
	}
}

// TestReadWhileWritten reads while another goroutine adds nodes and admits
// more of them.
func TestReadWhileWritten(t *testing.T) {
	const nodes = 3000
	m := newImage(nodes + 8)
	m.put64(wire.HNodeLimit, 128)
	rec := m.thread(&cct.Thread{ID: 1, RootEntries: 1, Roots: []*cct.Node{{Method: 0, Calls: 1}}})
	done := make(chan struct{})
	go func() {
		defer close(done)
		parent := uint32(offNode(2))
		for i := range nodes {
			if i%128 == 0 {
				m.put64(wire.HNodeLimit, int64(i+300))
			}
			child := m.node(rec, parent, &cct.Node{Method: int32(i), Calls: 1})
			if i%3 == 0 {
				parent = child
			}
		}
	}()
	for before := int64(0); before <= nodes; {
		s, err := cct.Read(m.mem, 0)
		if err != nil {
			t.Fatal(err)
		}
		sums := cct.Sum(s.Roots())
		if sums.Nodes < before || s.Bad != 0 {
			t.Fatalf("%d nodes after %d, %d bad", sums.Nodes, before, s.Bad)
		}
		before = sums.Nodes
	}
	<-done
}

// FuzzRead writes words of the fuzzer's choice into a small image. Each seven
// bytes of input are an area, a place in it, and a value.
func FuzzRead(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{2, 2, 8, 0, 0, 0, 1})                         // node 2's child is node 1
	f.Add([]byte{0, 4, 8, 0xff, 0xff, 0xff, 0xff})             // H_NODE_LIMIT
	f.Add([]byte{1, 1, 40, 0, 0, 0, 40, 1, 2, 40, 0, 0, 0, 1}) // R_TOP
	f.Add([]byte{
		0, 6, 20, 0, 0, 0, 1, // H_FOLLOW
		2, 3, 0, 0xff, 0xff, 0xff, 0xfd, 2, 3, 36, 0, 0, 0, 9, // METHOD_HANDOVER, and where it belongs
		2, 8, 0, 0xff, 0xff, 0xff, 0xfd, 2, 8, 36, 0, 0, 0, 4,
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		m := newImage(64)
		m.thread(sample())
		m.thread(sample())
		for ; len(data) >= 7; data = data[7:] {
			place, word := int(data[1]), int(data[2])
			var off int
			switch data[0] % 3 {
			case 0:
				off = place<<6 + word
			case 1:
				off = offRecord(place%8) + word
			case 2:
				off = offNode(uint32(place%64)) + word%64
			}
			value := uint32(data[3])<<24 | uint32(data[4])<<16 | uint32(data[5])<<8 | uint32(data[6])
			if value < 64 {
				value = uint32(offNode(value))
			}
			if off &^= 3; off >= 16 { // leave magic and version
				m.put32(off, value)
			}
		}
		s, err := cct.Read(m.mem, 1<<40)
		if err != nil {
			t.Fatal(err)
		}
		sums := cct.Sum(s.Roots())
		if sums.Nodes > 64 || sums.Depth > 64 {
			t.Fatalf("%+v of 64 nodes", sums)
		}
		var calls int64
		for _, fl := range cct.FlatOf(s.Roots()) {
			calls += fl.Calls
		}
		if calls != sums.Calls {
			t.Fatalf("flat has %d calls, tree has %d", calls, sums.Calls)
		}
		merged := cct.FoldRecursion(s.Roots())
		if got := cct.Sum(merged); got.Calls != sums.Calls || got.Self != sums.Self {
			t.Fatalf("folded %+v, tree %+v", got, sums)
		}
		cct.Sort(merged)
		cct.HotPath(merged)
		s.ByThread()
	})
}
