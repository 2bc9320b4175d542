package ring

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

const second = int64(time.Second)

// A clock gives headers at a time that tests set.
type clock struct{ now int64 }

func (c *clock) head() Header {
	return Header{PID: 7, Start: 99, Main: "shop.Main", Source: "perf", Mode: "cpu", Hz: 19, Wall: 1_700_000_000*second + c.now, Mono: c.now}
}

// stacks are n samples of some threads, as random programs have them: outer frames stay.
func stacks(r *rand.Rand, n int, begin int64) []stack.Stack {
	methods := make([]*stack.Method, 40)
	for i := range methods {
		methods[i] = &stack.Method{Class: "shop/C" + strconv.Itoa(i), Name: "m", Desc: "()V"}
	}
	last := map[int][]stack.Frame{}
	var out []stack.Stack
	for i := range n {
		tid := 1 + r.IntN(4)
		frames := last[tid]
		frames = frames[min(len(frames), r.IntN(5)):]
		var inner []stack.Frame
		for range r.IntN(6) {
			inner = append(inner, stack.Frame{
				Method: methods[r.IntN(len(methods))], Kind: stack.Kind(r.IntN(8)), BCI: r.IntN(100) - 1, Line: r.IntN(50),
				Slot: uint64(1<<40 - 8*r.IntN(1000)), Return: r.Uint64() >> 16, Words: uint64(r.Uint32()),
			})
		}
		frames = append(inner, frames...)
		last[tid] = frames
		s := stack.Stack{
			Time: begin + int64(i)*second/19, Weight: second / 19, TID: tid, Thread: "t" + strconv.Itoa(tid), Java: tid > 1,
			State: stack.State(r.IntN(9)), Complete: r.IntN(5) > 0, Heuristic: r.IntN(9) == 0,
		}
		if len(frames) > 0 {
			s.Frames = frames
		}
		if r.IntN(6) == 0 {
			s.Monitor = "java/lang/Object"
		}
		if !s.Complete {
			s.Broken = "no return address"
		}
		if r.IntN(7) == 0 {
			s.Thread = "renamed"
		}
		out = append(out, s)
	}
	return out
}

// write makes a folder of samples, and flushes them in pieces.
func write(t *testing.T, limits Limits, all []stack.Stack, piece int) string {
	t.Helper()
	dir := t.TempDir()
	c := &clock{all[0].Time}
	w, err := Create(dir, limits, c.head)
	if err != nil {
		t.Fatal(err)
	}
	for len(all) > 0 {
		n := min(piece, len(all))
		c.now = all[n-1].Time
		if err := errors.Join(w.Add(all[:n]), w.Flush(c.now)); err != nil {
			t.Fatal(err)
		}
		all = all[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, path string, from, until int64) (out []stack.Stack, damaged int64) {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Read(from, until, func(h *Header, c *Chunk) error {
		if h.Main != "shop.Main" {
			t.Errorf("%+v", h)
		}
		out = append(out, c.Stacks...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out, r.Damaged
}

// equal compares samples, methods by what they are.
func equal(a, b []stack.Stack) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if len(a[i].Frames) != len(b[i].Frames) {
			return false
		}
	}
	return reflect.DeepEqual(plain(a), plain(b))
}

func plain(all []stack.Stack) (out []any) {
	for _, s := range all {
		for _, f := range s.Frames {
			out = append(out, *f.Method)
			f.Method = nil
			out = append(out, f)
		}
		s.Frames = nil
		out = append(out, s)
	}
	return out
}

var forever = Limits{Keep: 1000 * time.Hour, Bytes: 1 << 40, File: 5 * time.Second}

// TestRoundTrip reads what was written, all of it and a part, from several files.
func TestRoundTrip(t *testing.T) {
	all := stacks(rand.New(rand.NewPCG(1, 2)), 500, 1000*second)
	dir := write(t, forever, all, 37)
	files, _ := filepath.Glob(filepath.Join(dir, "*"+fileEnd))
	if len(files) < 4 {
		t.Errorf("%d files for %d s", len(files), len(all)/19)
	}
	if got, damaged := read(t, dir, 0, 1<<62); !equal(got, all) || damaged != 0 {
		t.Errorf("%d samples, %d damaged chunks", len(got), damaged)
	}
	if got, _ := read(t, dir, all[100].Time, all[300].Time); !equal(got, all[100:301]) {
		t.Errorf("%d samples of 201", len(got))
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Summary()
	if err != nil || s.Samples != 500 || s.First != all[0].Time || s.Last != all[499].Time || s.Files != len(files) || s.Header.PID != 7 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestNotes keeps what is no sample.
func TestNotes(t *testing.T) {
	dir := t.TempDir()
	c := &clock{5 * second}
	w, err := Create(dir, forever, c.head)
	if err != nil {
		t.Fatal(err)
	}
	all := stacks(rand.New(rand.NewPCG(3, 4)), 3, 4*second)
	w.Moved(3*second, 4*second+5)
	w.Note(2, 700)
	w.Note(1, 300)
	if err := errors.Join(w.Add(all), w.Close()); err != nil {
		t.Fatal(err)
	}
	r, _ := Open(dir)
	n := 0
	r.Read(0, 1<<62, func(_ *Header, c *Chunk) error {
		n++
		if c.Lost != 3 || c.CPU != 1000 || len(c.Moves) != 1 || c.Moves[0] != (Span{3 * second, 4*second + 5}) || len(c.Stacks) != 3 {
			t.Errorf("%+v", c)
		}
		return nil
	})
	if n != 1 {
		t.Errorf("%d chunks", n)
	}
}

// TestCrash cuts a file at many places: what lies before is read, and a new writer goes on.
func TestCrash(t *testing.T) {
	all := stacks(rand.New(rand.NewPCG(5, 6)), 60, second)
	limits := forever
	limits.File = time.Hour
	dir := write(t, limits, all, 20)
	files, _ := filepath.Glob(filepath.Join(dir, "*"+fileEnd))
	text, err := os.ReadFile(files[0])
	if err != nil || len(files) != 1 {
		t.Fatal(len(files), err)
	}
	best := 0
	for cut := 0; cut < len(text); cut += 1 + cut%41 {
		if err := os.WriteFile(files[0], text[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(files[0])
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		err = r.Read(0, 1<<62, func(_ *Header, c *Chunk) error { n += len(c.Stacks); return nil })
		if n%20 != 0 || n < best || err != nil && (n > 0 || !errors.Is(err, ErrFormat)) {
			t.Fatalf("cut at %d of %d: %d samples, before %d: %v", cut, len(text), n, best, err)
		}
		best = n
	}
	if best != 40 {
		t.Errorf("%d samples without the last byte", best)
	}
	c := &clock{10 * second}
	w, err := Create(dir, limits, c.head)
	if err != nil {
		t.Fatal(err)
	}
	more := stacks(rand.New(rand.NewPCG(7, 8)), 20, 10*second)
	if err := errors.Join(w.Add(more), w.Close()); err != nil {
		t.Fatal(err)
	}
	if got, damaged := read(t, dir, 0, 1<<62); len(got) != 60 || damaged != 1 {
		t.Errorf("%d samples, %d damaged", len(got), damaged)
	}
}

// TestFlip changes many bytes: no sample is wrong, and at most one chunk is lost where
// the others can be found.
func TestFlip(t *testing.T) {
	all := stacks(rand.New(rand.NewPCG(9, 10)), 40, second)
	limits := forever
	limits.File = time.Hour
	dir := write(t, limits, all, 10)
	files, _ := filepath.Glob(filepath.Join(dir, "*"+fileEnd))
	text, _ := os.ReadFile(files[0])
	for i := 0; i < len(text); i += 1 + i%37 {
		text[i] ^= 0x40
		if err := os.WriteFile(files[0], text, 0o600); err != nil {
			t.Fatal(err)
		}
		text[i] ^= 0x40
		r, _ := Open(files[0])
		var got []stack.Stack
		if err := r.Read(0, 1<<62, func(_ *Header, c *Chunk) error { got = append(got, c.Stacks...); return nil }); err != nil {
			continue
		}
		for _, s := range got {
			if at := int((s.Time - second) * 19 / second); at >= len(all) || !equal([]stack.Stack{s}, all[at:at+1]) && !equal([]stack.Stack{s}, all[min(at+1, 39):min(at+1, 39)+1]) {
				t.Fatalf("byte %d changed: a wrong sample at %d", i, s.Time)
			}
		}
	}
}

// TestLimits removes what is too old or too much, and nothing else.
func TestLimits(t *testing.T) {
	all := stacks(rand.New(rand.NewPCG(11, 12)), 19*120, 1000*second)
	dir := write(t, Limits{Keep: 30 * time.Second, Bytes: 1 << 40, File: 5 * time.Second}, all, 19)
	got, _ := read(t, dir, 0, 1<<62)
	first, end := got[0].Time, all[len(all)-1].Time
	if kept := time.Duration(end - first); kept < 30*time.Second || kept > 45*time.Second {
		t.Errorf("%v are kept of 30 s", kept)
	}
	dir = write(t, Limits{Keep: time.Hour, Bytes: 64 << 10, File: time.Hour}, all, 19)
	r, _ := Open(dir)
	if s, err := r.Summary(); err != nil || s.Bytes > 64<<10 || s.Bytes < 32<<10 || s.Last != end {
		t.Errorf("%+v, %v", s, err)
	}
	os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o600)
	c := &clock{end + 10*3600*second}
	w, err := Create(dir, Limits{Keep: time.Second, Bytes: 1 << 20, File: time.Second}, c.head)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := os.Stat(filepath.Join(dir, "notes.txt")); err != nil {
		t.Error("a file of somebody else's was removed")
	}
}

// TestFile copies a part that reads alone.
func TestFile(t *testing.T) {
	all := stacks(rand.New(rand.NewPCG(13, 14)), 300, second)
	dir := write(t, forever, all, 19)
	to := filepath.Join(t.TempDir(), "capture.samples")
	n, err := File(dir, to, all[50].Time, all[200].Time)
	if err != nil || n < 151 || n > 200 {
		t.Fatal(n, err)
	}
	if got, _ := read(t, to, all[50].Time, all[200].Time); !equal(got, all[50:201]) {
		t.Errorf("%d samples", len(got))
	}
	if n, err := File(dir, to+"2", 1<<60, 1<<61); n != 0 || err != nil {
		t.Error(n, err)
	}
	if _, err := os.Stat(to + "2"); err == nil {
		t.Error("a file without samples was made")
	}
}

// TestFull goes on after an error, as when a disk is full.
func TestFull(t *testing.T) {
	dir := t.TempDir()
	c := &clock{second}
	w, err := Create(dir, forever, c.head)
	if err != nil {
		t.Fatal(err)
	}
	all := stacks(rand.New(rand.NewPCG(15, 16)), 20, second)
	w.file.Close()
	if err := errors.Join(w.Add(all), w.Flush(second)); err == nil || w.Dropped != 20 {
		t.Errorf("%d dropped: %v", w.Dropped, err)
	}
	w.file = nil
	if err := errors.Join(w.Add(all), w.Close()); err != nil {
		t.Fatal(err)
	}
	if got, _ := read(t, dir, 0, 1<<62); !equal(got, all) {
		t.Errorf("%d samples", len(got))
	}
}

func FuzzDecode(f *testing.F) {
	b := newBuilder()
	for _, s := range stacks(rand.New(rand.NewPCG(17, 18)), 20, second) {
		b.add(&s)
	}
	payload, err := b.chunk()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(payload)
	// What is packed is fuzzed as it is unpacked: else nothing gets through.
	f.Add(append(payload[:headSize:headSize], b.raw...))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := decode(data, names{})
		if (err == nil) == (c == nil) {
			t.Errorf("%v, %v", c, err)
		}
		p := &parser{b: data, names: names{}}
		for i := 0; i < 1<<16 && p.err == nil && len(p.b) > 0; i++ {
			p.sample()
		}
	})
}
