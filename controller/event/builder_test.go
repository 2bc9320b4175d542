package event_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// streams are streams in their text form, and the trees that they make: a
// line a context with its method, calls, thrown and self time, then root
// invocations begun and ended, and words that make no sense.
var streams = []struct{ name, text, want string }{
	{"nothing", "", "0 0 bad 0"},
	{"two calls of one callee", `
		thread 7
		root 1000
		enter 1 +0
		enter 2 +10
		exit 2 +5
		enter 2 +1
		thrown 2 +5
		exit 1 +3`, "1 1 0 14/ 2 2 1 10/1 1 bad 0"},
	{"recursion, and a root entered twice", `
		root 0
		enter 1 +0
		enter 1 +1
		exit 1 +2
		exit 1 +3
		root 100
		enter 1 +0
		exit 1 +7`, "1 2 0 11/ 1 1 0 2/2 2 bad 0"},
	{"time that is nobody's", `
		root 0
		enter 1 +0
		suspend 0 +5
		adjust 1000
		charge 0 +2
		adjust -1
		exit 1 +3`, "1 1 0 10/1 1 bad 0"},
	{"root calls that end after the last tick, and one that a tick falls in", `
		root 0
		enter 1 +0
		charge 8 +30
		exit 1 +0
		root 100
		enter 1 +0
		charge 8 +20
		exit 1 +0
		root 200
		enter 1 +0
		enter 2 +0
		charge 9 +50
		exit 2 +10
		charge 0 +3
		charge 8 +4
		exit 1 +0`, "1 3 0 7/ 2 1 0 60/3 3 bad 0"},
	{"tails that no tick has followed", `
		root 0
		enter 1 +0
		enter 2 +7
		exit 2 +0
		charge 8 +30
		exit 1 +0
		root 50
		enter 3 +0
		exit 3 +8
		root 100
		enter 1 +0
		enter 2 +0`, "1 2 0 7/ 2 2 0 30/3 1 0 8/3 2 bad 0"},
	{"a time of more than 42 bits", `
		root 0
		enter 1 +0
		time 4398046511104
		exit 1 +1`, "1 1 0 4398046511105/1 1 bad 0"},
	{"a pause, and the next part", `
		root 0
		enter 1 +0
		enter 2 +1
		cut 50
		root 500
		enter 1 +0
		exit 1 +1`, "1 2 0 2/ 2 1 0 50/2 1 bad 0"},
	{"dropped events", `
		root 0
		enter 1 +0
		enter 2 +1
		lost 99
		root 500
		enter 1 +0
		exit 1 +1`, "1 2 0 2/ 2 1 0 0/2 1 bad 0"},
	{"an exit that was followed by an exception", `
		root 0
		enter 1 +0
		enter 2 +1
		exit 2 +1
		late 2 +1
		exit 1 +1`, "1 1 0 3/ 2 1 1 1/1 1 bad 0"},
	{"damage: exits of others, an exit outside, a word of no kind", `
		exit 1 +0
		root 0
		enter 1 +0
		enter 2 +1
		exit 1 +1
		exit 9 +1
		word 0x0
		late 5 +0`, "1 1 0 1/ 2 1 0 1/1 1 bad 5"},
}

func TestBuilder(t *testing.T) {
	for _, c := range streams {
		t.Run(c.name, func(t *testing.T) {
			words, err := event.Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			for size := 1; size <= len(words)+1; size += 1 + len(words)/3 { // however it comes in pieces
				b := event.NewBuilder()
				b.Slowest, b.Timeline = event.NewSlowest(2, 0), event.NewTimeline(4)
				for rest := words; len(rest) > 0; {
					n := min(size, len(rest))
					b.Take(3, rest[:n])
					rest = rest[n:]
				}
				if diff := cmp.Diff(c.want, draw(b.Snapshot(func(int64) int64 { return 0 }))); diff != "" {
					t.Errorf("in pieces of %d: %s", size, diff)
				}
			}
		})
	}
}

// TestTail: a root invocation's own figures have what it took itself, with its end
// and without those of others.
func TestTail(t *testing.T) {
	words, err := event.Parse(streams[slices.IndexFunc(streams, func(s struct{ name, text, want string }) bool {
		return strings.HasPrefix(s.name, "root calls that end after")
	})].text)
	if err != nil {
		t.Fatal(err)
	}
	b := event.NewBuilder()
	b.Slowest = event.NewSlowest(3, 0)
	b.Take(1, words)
	kept, _ := b.SlowestSoFar()
	var got []int64
	for _, k := range kept {
		got = append(got, k.Took, cct.Sum([]*cct.Node{k.Tree}).Self)
	}
	if diff := cmp.Diff([]int64{30, 30, 20, 20, 17, 17}, got); diff != "" {
		t.Error(diff)
	}
}

func draw(s *cct.Snapshot) string {
	var out strings.Builder
	var entries, returns int64
	for n, depth := range cct.All(s.Roots()) {
		fmt.Fprintf(&out, "%s%d %d %d %d/", strings.Repeat(" ", depth), n.Method, n.Calls, n.Thrown, n.Self)
	}
	for _, t := range s.Threads {
		entries += t.RootEntries
		returns += t.RootReturns
	}
	fmt.Fprintf(&out, "%d %d bad %d", entries, returns, s.Bad)
	return out.String()
}

// TestOpen charges what is open up to when it counts.
func TestOpen(t *testing.T) {
	for _, c := range []struct {
		text             string
		until, want, sus int64
	}{
		{"root 100\nenter 1 +0\ncharge 0 +5", 0, 5, 0},
		{"root 100\nenter 1 +0\ncharge 0 +5", 200, 100, 0},
		{"root 100\nenter 1 +0\ncharge 0 +5", 101, 5, 0},
		{"root 100\nenter 1 +0\nsuspend 0 +5", 200, 5, 95},
	} {
		words, err := event.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		b := event.NewBuilder()
		b.Take(1, words)
		s := b.Snapshot(func(began int64) int64 {
			if began != 100 {
				t.Errorf("began at %d", began)
			}
			return c.until
		})
		th := s.Threads[0]
		if th.Roots[0].Self != c.want || th.Suspended != c.sus || !th.Open {
			t.Errorf("%q until %d: self %d, suspended %d, want %d, %d", c.text, c.until, th.Roots[0].Self, th.Suspended, c.want, c.sus)
		}
	}
}

// TestSlowestBound keeps the right ones of many, in the order in which they
// should be, with trees of their own.
func TestSlowestBound(t *testing.T) {
	b := event.NewBuilder()
	b.Slowest = event.NewSlowest(3, 50)
	for i := range int64(1000) {
		took := i * 7919 % 1000 // each of 0 to 999 once
		var words []event.Word
		words = append(words, event.Valued(wire.EvThread, 1), event.Valued(wire.EvRoot, i*10000), event.Timed(wire.EvEnter, 1, 0))
		for range took {
			words = append(words, event.Timed(wire.EvEnter, 2, 0), event.Timed(wire.EvExit, 2, 1))
		}
		b.Take(1, append(words, event.Timed(wire.EvExit, 1, 0)))
	}
	kept, of := b.SlowestSoFar()
	if len(kept) != 3 || of != 949 {
		t.Fatalf("kept %d of %d", len(kept), of)
	}
	for k, i := range kept {
		if want := int64(999 - k); i.Took != want || i.Tree.Children[0].Calls != want || i.Tree.Calls != 1 || i.Tree.Total != want {
			t.Errorf("%d: took %d, tree %+v", k, i.Took, i.Tree)
		}
	}
}

// TestSlowestCut bounds a tree of very many contexts, and loses no time.
func TestSlowestCut(t *testing.T) {
	b := event.NewBuilder()
	b.Slowest = event.NewSlowest(event.MostSlowest, 0) // room for 1,048 contexts each
	words := []event.Word{event.Valued(wire.EvRoot, 1), event.Timed(wire.EvEnter, 1, 0)}
	for m := range int32(5000) {
		words = append(words, event.Timed(wire.EvEnter, 10+m, 1), event.Timed(wire.EvExit, 10+m, 1))
	}
	b.Take(1, append(words, event.Timed(wire.EvExit, 1, 0)))
	kept, _ := b.SlowestSoFar()
	i := kept[0]
	sums := cct.Sum([]*cct.Node{i.Tree})
	if i.Took != 10000 || sums.Self != 10000 || sums.Nodes+i.Cut != 5001 || sums.Calls+i.CutCalls != 5001 || i.Cut == 0 {
		t.Errorf("took %d, tree %+v, cut %d with %d calls", i.Took, sums, i.Cut, i.CutCalls)
	}
}

// TestTimelineBound keeps the longest slices, and says what it left out.
func TestTimelineBound(t *testing.T) {
	b := event.NewBuilder()
	b.Timeline = event.NewTimeline(100)
	for i := range int64(5000) {
		b.Take(1, []event.Word{event.Valued(wire.EvRoot, i*1e7), event.Timed(wire.EvEnter, 1, 0), event.Timed(wire.EvExit, 1, i*100)})
	}
	kept, left, least := b.Slices()
	if int64(len(kept))+left != 5000 || len(kept) == 0 || len(kept) >= 100 || least == 0 {
		t.Fatalf("%d kept, %d left out, least %d", len(kept), left, least)
	}
	for _, s := range kept {
		if s.Took < least || !s.Root || s.Took != s.Start/1e7*100 {
			t.Errorf("%+v", s)
		}
	}
	if longest := kept[len(kept)-1]; longest.Took != 499900 {
		t.Errorf("the longest is gone: %+v", longest)
	}
}

func TestParse(t *testing.T) {
	for _, text := range []string{"enter", "enter 1", "enter 1 5", "enter -1 +5", "enter 262144 +1", "enter 1 +4398046511104", "adjust", "adjust 1 2", "leave 1 +1", "word x", "word", "adjust 576460752303423488"} {
		if w, err := event.ParseWord(text); err == nil {
			t.Errorf("%q is %v", text, w)
		}
	}
	if _, err := event.Parse("root 1\n# all\n\nenter 1 +1 # so\nrubbish"); err == nil || !strings.Contains(err.Error(), "line 5") {
		t.Errorf("error %v", err)
	}
}

// FuzzWords feeds a Builder with anything: it must stand it, and all words
// survive their text form.
func FuzzWords(f *testing.F) {
	for _, c := range streams {
		words, err := event.Parse(c.text)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytesOf(words))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		words := wordsOf(data)
		b := event.NewBuilder()
		b.Slowest, b.Timeline, b.Paths = event.NewSlowest(2, 0), event.NewTimeline(8), true
		b.Take(1, words)
		b.SlowestSoFar()
		if all, left, _ := b.Kept(1 << 40); int64(len(all))+left > int64(2*len(words)) || len(all) > 8+len(words) || len(event.Cut(all, event.Query{Most: 3}).Slices) > 3 {
			t.Errorf("%d words made %d slices", len(words), len(all))
		}
		s := b.Snapshot(func(ns int64) int64 { return ns })
		if sums := cct.Sum(s.Roots()); sums.Nodes > int64(len(words)) || sums.Calls > int64(len(words)) || sums.Thrown > sums.Calls {
			t.Errorf("%d words made %+v", len(words), sums)
		}
		again, err := event.Parse(event.Format(words))
		if err != nil || !cmp.Equal(again, words, cmp.Comparer(func(a, b event.Word) bool { return a.String() == b.String() })) {
			t.Errorf("%v: %v came back as %v", err, words, again)
		}
	})
}

func bytesOf(words []event.Word) (out []byte) {
	for _, w := range words {
		for i := range 8 {
			out = append(out, byte(w>>(8*i)))
		}
	}
	return out
}

func wordsOf(data []byte) (out []event.Word) {
	for ; len(data) >= 8; data = data[8:] {
		var w event.Word
		for i := range 8 {
			w |= event.Word(data[i]) << (8 * i)
		}
		out = append(out, w)
	}
	return out
}

// fib is the stream of a recursive fib(n).
func fib(out []event.Word, n int) []event.Word {
	out = append(out, event.Timed(wire.EvEnter, 2, 0))
	if n > 1 {
		out = fib(fib(out, n-1), n-2)
	}
	return append(out, event.Timed(wire.EvExit, 2, 3))
}

// BenchmarkBuilder is how fast one core makes trees of events.
func BenchmarkBuilder(b *testing.B) {
	root := []event.Word{event.Valued(wire.EvRoot, 1), event.Timed(wire.EvEnter, 1, 0)}
	wide := append([]event.Word(nil), root...)
	for i := range int32(300_000) { // thirty callees in turn
		wide = append(wide, event.Timed(wire.EvEnter, 10+i%30, 1), event.Timed(wire.EvExit, 10+i%30, 1))
	}
	for _, c := range []struct {
		name  string
		words []event.Word
		with  func(*event.Builder)
	}{
		{"fib", fib(root, 24), func(*event.Builder) {}},
		{"wide", wide, func(*event.Builder) {}},
		{"fib-slowest", fib(root, 24), func(b *event.Builder) { b.Slowest = event.NewSlowest(10, 0) }},
		{"fib-timeline", fib(root, 24), func(b *event.Builder) { b.Timeline = event.NewTimeline(event.DefaultSlices) }},
	} {
		words := append(c.words[:len(c.words):len(c.words)], event.Timed(wire.EvExit, 1, 0))
		b.Run(c.name, func(b *testing.B) {
			into := event.NewBuilder()
			c.with(into)
			into.Take(1, words)
			b.ReportAllocs()
			for b.Loop() {
				into.Take(1, words)
			}
			b.ReportMetric(float64(len(words))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}
