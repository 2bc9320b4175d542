package pauses

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// causeCounters are counters with texts.
type causeCounters struct {
	fakeCounters
	texts map[string]string
}

func (c causeCounters) Text(name string) string { return c.texts[name] }

// TestCollections reports collections that ended while parts of a recording were on,
// with causes and rate, and none of those beside. Once the counters are gone the
// figures stay.
func TestCollections(t *testing.T) {
	const base = 1_000_000_000_000
	k := causeCounters{fakeCounters{"sun.os.hrt.frequency": 1e9}, map[string]string{}}
	for _, prefix := range []string{"sun.gc.collector.0.", "sun.gc.collector.1."} {
		for _, name := range []string{"invocations", "time", "lastEntryTime", "lastExitTime"} {
			k.fakeCounters[prefix+name] = 0
		}
	}
	now := int64(base)
	c := &Collections{now: func() int64 { return now }, every: gcEvery, marks: event.NewMarks(100), causes: map[string]int64{}}
	if err := c.use(k, map[string]any{"sun.gc.collector.0.name": "G1 young collection pauses", "sun.gc.collector.1.name": "G1 concurrent cycle pauses"}); err != nil {
		t.Fatal(err)
	}
	collect := func(collector, cause string, from, to, words int64) {
		prefix := "sun.gc.collector." + collector + "."
		k.fakeCounters[prefix+"invocations"]++
		k.fakeCounters[prefix+"lastEntryTime"], k.fakeCounters[prefix+"lastExitTime"] = from*1e6, to*1e6
		k.fakeCounters[prefix+"time"] += (to - from) * 1e6
		k.fakeCounters["sun.gc.tlab.alloc"] = words
		k.texts["sun.gc.cause"], k.texts["sun.gc.lastCause"] = noCause, cause
		k.fakeCounters["sun.rt.safepoints"]++
		k.fakeCounters["sun.rt.safepointTime"] += (to - from + 1) * 1e6
		k.fakeCounters["sun.rt.safepointSyncTime"] += 1e5
	}
	look := func(ms int64) {
		now = base + ms*1e6
		c.mu.Lock()
		c.look()
		c.mu.Unlock()
	}
	collect("0", "System.gc()", 5, 9, 1000) // before the recording
	look(10)
	now += 1e6
	c.Renew()
	c.Part(true)
	collect("0", "G1 Evacuation Pause", 19, 21, 4000)
	look(25)
	collect("1", "G1 Evacuation Pause", 26, 27, 4000) // its cause is the last one's, and so are the words
	look(30)
	collect("0", "Metadata GC Threshold", 31, 32, 10)
	collect("0", "G1 Evacuation Pause", 33, 36, 20) // two between two looks
	look(40)
	now += 1e6
	c.Part(false)
	collect("0", "System.gc()", 50, 90, 1)
	look(95)
	now += 1e6
	c.Part(true)
	collect("0", "System.gc()", 101, 102, 2000)
	look(103)
	collect("0", "System.gc()", 102, 103, 2001) // at once: nothing ran between them

	now += 10e6
	c.Part(false)
	c.mu.Lock()
	c.from = nil // the session has ended
	c.mu.Unlock()
	c.Part(true)
	c.Part(false)
	want := &export.Pauses{
		Resolution: int64(gcEvery), Collections: 6, Time: 9e6, Longest: 4e6, LongestOfSeveral: true,
		Collectors: []export.Collector{{Name: "G1 young collection pauses", Collections: 5, Time: 8e6}, {Name: "G1 concurrent cycle pauses", Collections: 1, Time: 1e6}},
		Causes:     []export.GCCause{{Cause: "G1 Evacuation Pause", Collections: 2}, {Cause: "System.gc()", Collections: 2}, {Cause: "G1 concurrent cycle", Collections: 1}},
		Unseen:     1,
		Safepoints: &export.Safepoints{Count: 6, Time: 15e6, Sync: 6e5},
		Allocated:  &export.Allocated{Bytes: 8 * 6000, Over: 10e6 + 11e6},
	}
	if diff := cmp.Diff(want, c.Report()); diff != "" {
		t.Error(diff)
	}
	// The bounds of an invocation hold wherever the JVM's time lies.
	of := []export.Invocation{{Start: 0, Took: 200e6}, {Start: 200e6, Took: 5e6}}
	c.Within(of, base)
	if p := of[0].Paused; p == nil || p.Least > 53e6 || p.Most < 53e6 || p.Most > 53e6 {
		t.Errorf("an invocation around all: %+v", p)
	}
	if p := of[1].Paused; p == nil || p.Least != 0 || p.Most != 0 {
		t.Errorf("an invocation after all: %+v", p)
	}
	c.watch.collectors[1].name = "Shenandoah concurrent"
	of[0].Paused = nil
	if c.Within(of[:1], base); of[0].Paused != nil {
		t.Errorf("of a collector that works beside the program: %+v", of[0].Paused)
	}
	if r := c.Report(); r.Unknown == "" || r.Collections != 0 || r.Safepoints == nil || len(r.Lines()) != 2 {
		t.Errorf("of a collector that works beside the program: %+v", r)
	}
	var none *Collections
	none.Part(true)
	none.Renew()
	none.Within(of, 0)
	if none.Report() != nil {
		t.Error("nobody watched, and there is a report")
	}
	c = &Collections{every: time.Second}
	c.refuse(os.ErrNotExist)
	if r := c.Report(); !strings.Contains(r.Unknown, "UsePerfData") || len(r.Lines()) != 1 {
		t.Errorf("without counters %+v", r)
	}
}
