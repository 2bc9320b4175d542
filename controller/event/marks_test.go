package event_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// TestMarks keeps the longest of a kind, the newest of those of equal length,
// and nothing of one kind makes another go.
func TestMarks(t *testing.T) {
	m := event.NewMarks(10)
	for i := range int64(1000) {
		m.Add(event.Mark{Kind: event.Loading, Start: i})
		m.Add(event.Mark{Kind: event.GC, Start: i, Took: i * 7919 % 1000})
	}
	m.Add(event.Mark{Kind: event.Revealing, Start: 5, Took: 10})
	m.Add(event.Mark{Kind: event.MarkKinds})
	m.Add(event.Mark{Kind: event.Redefining, Took: -1})
	m.Add(event.Mark{Kind: event.Redefining, Name: strings.Repeat("é", 1<<20)})
	all, left := m.Since(0)
	kinds := map[event.MarkKind]int64{}
	for _, k := range all {
		kinds[k.Kind]++
		if len(k.Name) > 500 || !utf8.ValidString(k.Name) {
			t.Errorf("a name of %d bytes", len(k.Name))
		}
		if k.Kind == event.Loading && k.Start < 980 {
			t.Errorf("an old one is kept: %+v", k)
		}
	}
	longest := int64(0)
	for _, k := range all {
		if k.Kind == event.GC {
			longest = max(longest, k.Took)
		}
	}
	if longest != 999 || kinds[event.Revealing] != 1 || kinds[event.Redefining] != 1 || kinds[event.Loading] == 0 {
		t.Errorf("kept %v, the longest %d", kinds, longest)
	}
	for _, k := range []event.MarkKind{event.GC, event.Loading} {
		if kinds[k]+left[k] != 1000 || kinds[k] >= 10 {
			t.Errorf("%v: %d kept, %d left out", k, kinds[k], left[k])
		}
	}
	if late, _ := m.Since(16); len(late) >= len(all) {
		t.Errorf("%d of %d since the reveal", len(late), len(all))
	}
}

// TestCut answers queries: what meets the range, of a thread, and the longest
// where there are too many.
func TestCut(t *testing.T) {
	var all []event.Slice
	for i := range int64(100) {
		all = append(all, event.Slice{Thread: 1 + i%2, Start: 100 * i, Took: 10 + i, Depth: 1})
	}
	all = append(all, event.Slice{Thread: 2, Start: 0, Took: 10_000, Root: true})
	for name, c := range map[string]struct {
		q           event.Query
		kept        int
		left, least int64
	}{
		"all":       {event.Query{}, 101, 0, 0},
		"range":     {event.Query{From: 1000, To: 1999}, 11, 0, 0},
		"thread":    {event.Query{From: 1000, To: 1999, Thread: 1}, 5, 0, 0},
		"few":       {event.Query{Most: 11}, 11, 90, 100},
		"one":       {event.Query{From: 1000, To: 1999, Most: 1}, 1, 10, 30},
		"nothing":   {event.Query{From: 20_000}, 0, 0, 0},
		"no thread": {event.Query{Thread: 7}, 0, 0, 0},
		"too many":  {event.Query{Most: 1 << 40}, 101, 0, 0},
	} {
		w := event.Cut(all, c.q)
		if len(w.Slices) != c.kept || w.Left != c.left || w.Least != c.least || len(w.Lanes) != 2 || w.Lanes[0] != 1 {
			t.Errorf("%s: %d slices, %d left out below %d, lanes %v", name, len(w.Slices), w.Left, w.Least, w.Lanes)
		}
		for i, s := range w.Slices {
			if i > 0 && w.Slices[i-1].Start > s.Start {
				t.Errorf("%s: not in order: %+v", name, w.Slices)
			}
		}
	}
}

// TestKept has what is under way: from when it began to now, callers longest.
func TestKept(t *testing.T) {
	b := event.NewBuilder()
	b.Timeline = event.NewTimeline(100)
	words, err := event.Parse("thread 9\nroot 1000\nenter 1 +0\nenter 2 +5\nexit 2 +10\nenter 3 +1")
	if err != nil {
		t.Fatal(err)
	}
	b.Take(1, words)
	all, _, _ := b.Kept(2000)
	want := []event.Slice{
		{Record: 1, Thread: 9, Method: 2, Depth: 1, Start: 1005, Took: 10},
		{Record: 1, Thread: 9, Method: 3, Depth: 1, Open: true, Start: 1016, Took: 984},
		{Record: 1, Thread: 9, Method: 1, Root: true, Open: true, Start: 1000, Took: 1000},
	}
	if len(all) != len(want) {
		t.Fatalf("got %+v", all)
	}
	for i := range all {
		if all[i] != want[i] {
			t.Errorf("slice %d is %+v, want %+v", i, all[i], want[i])
		}
	}
	if w := event.Cut(all, event.Query{}); w.Slices[0].Method != 1 || w.Slices[1].Method != 2 {
		t.Errorf("callers don't come first: %+v", w.Slices)
	}
}

// TestDeep bounds what is shown of very many invocations under way.
func TestDeep(t *testing.T) {
	b := event.NewBuilder()
	b.Timeline = event.NewTimeline(100)
	words := []event.Word{event.Valued(wire.EvRoot, 1)}
	for range 100_000 {
		words = append(words, event.Timed(wire.EvEnter, 1, 1))
	}
	b.Take(1, words)
	all, _, _ := b.Kept(1 << 30)
	if len(all) == 0 || len(all) > 5000 || !all[len(all)-1].Root {
		t.Errorf("%d slices", len(all))
	}
}
