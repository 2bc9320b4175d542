package pauses

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/event"
)

// fakeCounters are a JVM's, whose time began at base on nanoTime.
type fakeCounters map[string]int64

func (f fakeCounters) Has(name string) bool    { _, ok := f[name]; return ok }
func (f fakeCounters) Read() error             { return nil }
func (f fakeCounters) Value(name string) int64 { return f[name] }
func (f fakeCounters) Text(string) string      { return "" }

// TestGCWatch makes marks of a collector's counters, whose time base nobody
// tells: of one collection between two looks, of several, and of one that is
// under way.
func TestGCWatch(t *testing.T) {
	const base, tick = 1_000_000_000_000, 10 // ns each tick
	c := fakeCounters{"sun.os.hrt.frequency": 1e9 / tick, "sun.os.hrt.ticks": 0}
	for _, name := range []string{"invocations", "time", "lastEntryTime", "lastExitTime"} {
		c["sun.gc.collector.0."+name] = 0
	}
	g, err := newCollectors(c, map[string]any{"sun.gc.collector.0.name": "Copy"})
	if err != nil {
		t.Fatal(err)
	}
	var got []event.Mark
	now := int64(base)
	look := func(at int64) {
		t.Helper()
		now = base + at
		if err := g.look(func() int64 { return now }, func(k event.Mark) { got = append(got, k) }); err != nil {
			t.Fatal(err)
		}
	}
	collect := func(from, to int64) {
		c["sun.gc.collector.0.invocations"]++
		c["sun.gc.collector.0.lastEntryTime"] = from / tick
		if to > 0 {
			c["sun.gc.collector.0.time"] += (to - from) / tick
			c["sun.gc.collector.0.lastExitTime"] = to / tick
		}
	}
	collect(1e6, 2e6) // before anybody looked
	look(10e6)
	collect(11e6, 12e6)
	look(15e6)
	look(20e6)
	collect(21e6, 22e6)
	collect(23e6, 24e6)
	look(25e6)
	collect(26e6, 0) // under way
	look(30e6)
	c["sun.gc.collector.0.time"] += 6e6 / tick
	c["sun.gc.collector.0.lastExitTime"] = 32e6 / tick
	look(35e6)
	for at := int64(40e6); at < 400e6; at += 5e6 { // ticks narrow down where the JVM's time lies
		c["sun.os.hrt.ticks"] = (at - at*7919%5e6) / tick
		look(at)
	}
	want := []event.Mark{
		{Kind: event.GC, Name: "Copy", Start: 11e6, Took: 1e6, Count: 1, Pause: 1e6},
		{Kind: event.GC, Name: "Copy", Start: 22e6, Took: 2e6, Count: 2, Pause: 2e6, Off: 10e6},
		{Kind: event.GC, Name: "Copy", Start: 26e6, Took: 6e6, Count: 1, Pause: 6e6},
	}
	if len(got) != len(want) {
		t.Fatalf("marks %+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("mark %d is %+v, want %+v", i, got[i], want[i])
		}
	}
	add, off, known := g.offset()
	if !known || add-off > base || add+off < base || off > 1e6 {
		t.Errorf("the JVM's time began at %d, found %d ± %d", int64(base), add, off)
	}
	if _, err := newCollectors(fakeCounters{}, nil); err == nil {
		t.Error("no collector, no error")
	}
}

// FuzzGCWatch reads counters that a hostile JVM writes: there are no marks that
// end before they begin, and no more than looks.
func FuzzGCWatch(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	names := []string{"sun.os.hrt.frequency", "sun.os.hrt.ticks"}
	for _, name := range []string{"invocations", "time", "lastEntryTime", "lastExitTime"} {
		names = append(names, "sun.gc.collector.0."+name)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := fakeCounters{}
		for _, name := range names {
			c[name] = 1
		}
		g, err := newCollectors(c, nil)
		if err != nil {
			t.Fatal(err)
		}
		marks, now, got, looks := event.NewMarks(100), int64(0), 0, 0
		for ; len(data) >= 9; data = data[9:] {
			c[names[int(data[0])%len(names)]] = int64(binary.NativeEndian.Uint64(data[1:]))
			now += 5e6
			looks++
			if err := g.look(func() int64 { return now }, func(k event.Mark) { got++; marks.Add(k) }); err != nil {
				t.Fatal(err)
			}
		}
		all, left := marks.Since(math.MinInt64)
		for _, k := range all {
			if k.Took < 0 || k.Count < 1 {
				t.Errorf("%+v", k)
			}
		}
		if got > looks || len(all)+int(left[event.GC]) > got {
			t.Errorf("%d looks made %d marks", looks, got)
		}
	})
}
