package shm

import (
	"bytes"
	"encoding/binary"
	"os"
	"sync"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// onTmpfs is a data file as a recording has it.
func onTmpfs(t *testing.T, memory int64) *File {
	t.Helper()
	f, err := os.CreateTemp("/dev/shm", "rivulet-test-")
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(f.Name())
	d, err := Create(f, memory, 7)
	if err != nil {
		f.Close()
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// Modes lie side by side in one word, and several goroutines set them.
func TestModes(t *testing.T) {
	d := InMemory(make([]byte, wire.OffNodes))
	var wg sync.WaitGroup
	for m := range int32(8) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 1000 {
				d.SetMode(m, byte(i))
			}
			d.SetMode(m, byte(10+m))
		}()
	}
	wg.Wait()
	for m := range int32(8) {
		if got := d.Mode(m); got != byte(10+m) {
			t.Errorf("method %d has mode %d, want %d", m, got, 10+m)
		}
		if got := d.mem[wire.OffModes+m]; got != byte(10+m) {
			t.Errorf("the byte of method %d, which the target reads, is %d, want %d", m, got, 10+m)
		}
	}
}

func TestGate(t *testing.T) {
	d := InMemory(make([]byte, wire.OffNodes))
	if d.IsOpen() || d.Part() != 0 {
		t.Fatal("the gate is open at first")
	}
	d.Open()
	first := d.Part()
	d.Shut(100)
	d.Shut(200) // it is shut: nothing
	d.Open()
	if d.Part() == first || !d.IsOpen() || !d.AnyInside() == (d.load32(wire.HGate) != 0) {
		t.Errorf("the second part has tag %x, the first %x", d.Part(), first)
	}
	if got := d.Closed(); len(got) != 1 || got[first] != 100 {
		t.Errorf("parts closed: %v, want %x at 100", got, first)
	}
}

// What was counted in a recording comes back after something else has counted.
func TestKeep(t *testing.T) {
	d := InMemory(make([]byte, wire.OffNodes))
	for i, w := range counters {
		d.store(w, int64(i+1))
	}
	d.store32(wire.HEpoch, 3)
	back := d.Keep()
	d.Renew()
	if d.Epoch() != 4 {
		t.Errorf("epoch %d after Renew, want 4", d.Epoch())
	}
	for _, w := range counters {
		if d.load(w) != 0 {
			t.Errorf("word %d is %d after Renew", w, d.load(w))
		}
	}
	back()
	for i, w := range counters {
		if d.load(w) != int64(i+1) {
			t.Errorf("word %d is %d, want %d", w, d.load(w), i+1)
		}
	}
	if d.Epoch() != 3 {
		t.Errorf("epoch %d, want 3", d.Epoch())
	}
}

// Room is allocated ahead of the target, up to what was asked for.
func TestGrow(t *testing.T) {
	d := onTmpfs(t, 64<<20)
	_, most := d.Room()
	if most <= 0 || most > 64<<20 {
		t.Fatalf("room for %d bytes of 64 MB", most)
	}
	for limit := int64(0); limit < most; {
		more, err := d.Grow()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			t.Fatalf("no more room after %d bytes of %d", limit, most)
		}
		at := d.load(wire.HNodeLimit)
		if at<<wire.NodeShift <= limit {
			t.Fatalf("%d nodes after it grew, %d bytes before", at, limit)
		}
		d.store(wire.HNextNode, at) // the target takes all of it
		limit, _ = d.Room()
	}
	if !d.QuarterUsed() {
		t.Error("all is used, and less than a quarter of it")
	}
	if d.HasSpare() {
		t.Error("there is room for a sample where there is none")
	}
	if more, err := d.Grow(); more || err != nil {
		t.Errorf("grows beyond its room: %v %v", more, err)
	}
	if d.load(wire.HReserveEnd) != d.base() {
		t.Error("the reserve is not ready")
	}
	if err := d.Reuse(); err != nil {
		t.Fatal(err)
	}
	if used, _ := d.Room(); used != 0 {
		t.Errorf("%d bytes are used after Reuse", used)
	}
	if more, err := d.Grow(); !more || err != nil {
		t.Errorf("does not grow after Reuse: %v %v", more, err)
	}
}

func TestTooSmall(t *testing.T) {
	f, err := os.CreateTemp("/dev/shm", "rivulet-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	os.Remove(f.Name())
	if _, err := Create(f, 0, 1); err == nil {
		t.Error("a file without room for nodes is made")
	}
}

// target is the agent's side of one box.
type target struct {
	d   *File
	box int
}

func (g target) at() int64        { return boxAt(g.box) }
func (g target) state() uint32    { return g.d.load32(g.at() + wire.BState) }
func (g target) setState(s int32) { g.d.store32(g.at()+wire.BState, uint32(s)) }

func (g target) part(typ uint32, total int, b []byte) {
	g.d.store32(g.at()+wire.BType, typ)
	g.d.store32(g.at()+wire.BTotal, uint32(total))
	g.d.store32(g.at()+wire.BLength, uint32(len(b)))
	copy(g.d.mem[g.at()+wire.BoxHeader:], b)
	g.setState(wire.BoxRequest)
}

// A request and its reply are longer than a box.
func TestMailbox(t *testing.T) {
	d := InMemory(make([]byte, wire.OffNodes))
	m, g := NewMailbox(d), target{d, 3}
	want := bytes.Repeat([]byte("0123456789"), 3*wire.BoxData/10)
	var got []Request
	for rest := want; len(rest) > 0; {
		n := min(len(rest), wire.BoxData)
		g.part(wire.ReqBytes, len(want), rest[:n])
		rest = rest[n:]
		reqs, err := m.Poll()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, reqs...)
		if len(rest) > 0 && g.state() != wire.BoxMore {
			t.Fatalf("state %d with %d bytes to come", g.state(), len(rest))
		}
	}
	if len(got) != 1 || got[0].Type != wire.ReqBytes || !bytes.Equal(got[0].Body, want) {
		t.Fatalf("%d requests", len(got))
	}
	if again, _ := m.Poll(); len(again) > 0 {
		t.Error("the request comes twice")
	}
	m.Reply(got[0].Box, want)
	var reply []byte
	for {
		n := d.load32(g.at() + wire.BLength)
		reply = append(reply, d.mem[g.at()+wire.BoxHeader:][:n]...)
		if len(reply) >= int(d.load32(g.at()+wire.BTotal)) {
			break
		}
		g.setState(wire.BoxNext)
		if _, err := m.Poll(); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(reply, want) {
		t.Errorf("a reply of %d bytes, want %d", len(reply), len(want))
	}
}

// Who waited has gone: the box is free at once, and the reply does nothing to whoever has
// it next.
func TestAbandoned(t *testing.T) {
	for _, state := range []int32{wire.BoxAbandoned, wire.BoxLeft} {
		d := InMemory(make([]byte, wire.OffNodes))
		m, g := NewMailbox(d), target{d, 0}
		g.part(wire.ReqReveal, 1, []byte{1})
		first, err := m.Poll()
		if err != nil || len(first) != 1 {
			t.Fatal(first, err)
		}
		g.setState(state)
		if again, err := m.Poll(); err != nil || len(again) > 0 || g.state() != wire.BoxFree {
			t.Fatalf("state %d: %d requests, state %d, %v", state, len(again), g.state(), err)
		}
		g.part(wire.ReqBytes, 1, []byte{2})
		second, err := m.Poll()
		if err != nil || len(second) != 1 || second[0].Box == first[0].Box {
			t.Fatal(second, err)
		}
		if m.Reply(first[0].Box, []byte{9}) || g.state() != wire.BoxRequest {
			t.Errorf("the late reply reaches another request: state %d", g.state())
		}
		if !m.Reply(second[0].Box, []byte{7}) || g.state() != wire.BoxReply || d.mem[g.at()+wire.BoxHeader] != 7 {
			t.Errorf("state %d after the reply", g.state())
		}
		if m.Reply(second[0].Box, []byte{7}) {
			t.Error("a second reply is taken")
		}
	}
}

// A request that is left before it was read is read if it is of use all the same.
func TestLeft(t *testing.T) {
	for typ, want := range map[uint32]int{wire.ReqTransform: 1, wire.ReqBytes: 0} {
		d := InMemory(make([]byte, wire.OffNodes))
		m, g := NewMailbox(d), target{d, 0}
		g.part(typ, 1, []byte{1})
		g.setState(wire.BoxLeft)
		got, err := m.Poll()
		if err != nil || len(got) != want || g.state() != wire.BoxFree {
			t.Fatalf("%d requests, state %d, %v", len(got), g.state(), err)
		}
		for _, q := range got {
			if !q.Left || m.Reply(q.Box, nil) {
				t.Error("somebody waits for it")
			}
		}
	}
}

// A target that writes nonsense gets its box back, and nothing is read beyond it.
func FuzzMailbox(f *testing.F) {
	f.Add(uint32(10), uint32(10), uint32(5))
	f.Add(uint32(wire.BoxData+1), uint32(1<<31), uint32(5))
	f.Add(uint32(1<<32-1), uint32(1<<32-1), uint32(0))
	f.Fuzz(func(t *testing.T, length, total, typ uint32) {
		d := InMemory(make([]byte, wire.OffNodes))
		m, at := NewMailbox(d), boxAt(wire.Boxes-1)
		d.store32(at+wire.BType, typ)
		d.store32(at+wire.BTotal, total)
		d.store32(at+wire.BLength, length)
		d.store32(at+wire.BState, wire.BoxRequest)
		reqs, err := m.Poll()
		switch {
		case err != nil && (len(reqs) > 0 || d.load32(at+wire.BState) != wire.BoxFree):
			t.Errorf("an error and %d requests, state %d", len(reqs), d.load32(at+wire.BState))
		case len(reqs) == 1 && len(reqs[0].Body) != int(total):
			t.Errorf("a request of %d bytes, said to be %d", len(reqs[0].Body), total)
		}
	})
}

// The times of a bucket are told apart from those of others; striped cells are summed.
func TestTimers(t *testing.T) {
	d := onTmpfs(t, 16<<20)
	tm := NewTimers(d)
	id := int32(wire.TimerSample + 1)
	if err := tm.Reserve(id); err != nil {
		t.Fatal(err)
	}
	var v Timed
	tm.Read(id+5, &v)
	if v.Count != 0 {
		t.Error("a method without cells has invocations")
	}
	for i := range 2 * tm.stripes {
		c := tm.cell(id, i)
		d.store(c+wire.CBuckets+8*100, 10)
		d.store(c+wire.CTotal, 1000)
		d.store(c+wire.CMost, 200+i)
		d.store(c+wire.CLeast, 1<<63-1-50)
	}
	tm.Read(id, &v)
	n := 2 * tm.stripes
	if v.Count != 10*n || v.Total != 1000*n || v.Most != 200+n-1 || v.Least != 50 {
		t.Errorf("%+v", v)
	}
	if q := v.Quantile(0.5); q < v.Least || q > v.Most {
		t.Errorf("the median %d is outside of %d to %d", q, v.Least, v.Most)
	}
	if called, calls, top := tm.Sum(); called != 1 || calls != 10*n || top.Total != 1000*n || tm.Count() != calls {
		t.Errorf("%d methods, %d calls, %+v", called, calls, top)
	}
	if err := tm.Reserve(1 << 20); err == nil {
		t.Error("there are cells for a million methods")
	}
}

func TestInside(t *testing.T) {
	d := InMemory(make([]byte, wire.OffNodes))
	binary.NativeEndian.PutUint64(d.mem[wire.HNextRecord:], 4)
	d.store32(wire.HEpoch, 1)
	d.Open()
	for i, cursor := range []int64{0, 5, 0, 9} {
		r := int64(wire.OffRecords) + int64(i)<<wire.RecordShift
		d.store(r+wire.RCursor, cursor)
		d.store(r+wire.RKey, d.Part()|int64(100+i))
		d.store32(r+wire.REpoch, 1)
		d.store(r+wire.REntries, 3)
		d.store(r+wire.RReturns, 2)
	}
	got := map[int64]uint32{}
	d.EachInside(func(i Inside) {
		got[i.Thread] = i.Cursor
		if !i.Still() {
			t.Error("it has left already")
		}
	})
	if len(got) != 2 || got[101] != 5 || got[103] != 9 {
		t.Errorf("inside: %v", got)
	}
	if e, r := d.Roots(); e != 9 || r != 6 {
		t.Errorf("%d root calls, %d returned", e, r)
	}
	d.Shut(1)
	d.EachInside(func(Inside) { t.Error("somebody is inside while the gate is shut") })
}
