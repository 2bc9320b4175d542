package pauses

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// wordBytes is what the unit of sun.gc.tlab.alloc is on a 64-bit JVM, whatever
// its counter says of itself (measured on 8 and 25).
const wordBytes = 8

// ranBetween is how far apart, in ns, collections are between which threads ran.
// The parallel collector does a full collection after one of the young generation within one safepoint,
// and sun.gc.tlab.alloc is then that of the first.
const ranBetween = 1e6

// Collections are what a target's collectors and safepoints do beside a
// recording, from outside: by the counters in hsperfdata. Times of pauses are the
// JVM's own. All methods are safe for concurrent use, and do nothing on a nil one.
type Collections struct {
	now    func() int64
	every  time.Duration
	closer io.Closer // of the counters; nil where there are none

	mu    sync.Mutex
	from  counterSource
	watch *gcWatch
	why   string // not "": nothing is known

	marks   *event.Marks // on the JVM's own time
	open    bool         // a part of the recording is on
	last    totals       // as of the last look
	begin   totals       // as of the beginning of the part
	sum     totals       // of the parts that have ended
	causes  map[string]int64
	seen    int64         // collections with a cause
	most    time.Duration // pause of a mark
	several bool          // that one is of several collections

	stopped   int64 // when the last collection that empties the young generation ended, JVM's ns
	words     int64 // sun.gc.tlab.alloc as of the last of them
	allocated int64 // bytes, between such collections
	between   int64 // ns that these took the threads
}

// totals are counters that only grow.
type totals struct {
	collectors              [mostCollectors][2]int64 // collections, ns
	safepoints, spent, sync int64
}

func (t *totals) add(now, then totals) {
	for i := range t.collectors {
		t.collectors[i][0] += max(now.collectors[i][0]-then.collectors[i][0], 0)
		t.collectors[i][1] += max(now.collectors[i][1]-then.collectors[i][1], 0)
	}
	t.safepoints += max(now.safepoints-then.safepoints, 0)
	t.spent += max(now.spent-then.spent, 0)
	t.sync += max(now.sync-then.sync, 0)
}

// WatchCollections looks which counters a process has, often where events are recorded. now is
// the target's System.nanoTime, ns. Where there are none, the report says why.
func WatchCollections(pid int, now func() int64, often bool) *Collections {
	c := &Collections{now: now, every: gcSeldom, marks: event.NewMarks(event.MostMarks), causes: map[string]int64{}}
	if often {
		c.every = gcEvery
	}
	file, err := attach.OpenCounters(pid)
	if err != nil {
		c.refuse(err)
		return c
	}
	defer file.Close()
	names, err := file.Read()
	if err != nil {
		c.refuse(err)
		return c
	}
	watch, err := file.Watch()
	if err != nil {
		c.refuse(err)
		return c
	}
	if err := c.use(watch, names); err != nil {
		_ = watch.Close()
		c.refuse(err)
		return c
	}
	c.closer = watch
	return c
}

// Run reads the counters until ctx is done, and closes them. It is called once.
func (c *Collections) Run(ctx context.Context) {
	if c.closer == nil {
		return
	}
	tick := time.NewTicker(c.every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.mu.Lock()
			c.look()
			c.mu.Unlock()
		case <-ctx.Done():
			c.mu.Lock()
			defer c.mu.Unlock()
			c.look() // also what a target did that has exited: its file is still open
			c.from = nil
			_ = c.closer.Close() // it was only read
			return
		}
	}
}

// use takes counters. names are those that are texts.
func (c *Collections) use(from counterSource, names map[string]any) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watch, err = newCollectors(from, names); err != nil {
		return err
	}
	c.from = from
	for _, k := range c.watch.collectors {
		c.stopped = max(c.stopped, c.watch.ns(k.prefix+"lastExitTime"))
	}
	c.look()
	return nil
}

func (c *Collections) refuse(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.why = err.Error()
	if errors.Is(err, os.ErrNotExist) {
		c.why = "the target publishes no counters (it was started with -XX:-UsePerfData, or its hsperfdata file was deleted)"
	}
}

// look reads the counters. c.mu is held.
func (c *Collections) look() {
	if c.from == nil {
		return
	}
	var came []event.Mark
	if err := c.watch.look(c.now, func(k event.Mark) { came = append(came, k) }); err != nil {
		c.why, c.from = err.Error(), nil
		return
	}
	c.last = totals{
		safepoints: c.from.Value("sun.rt.safepoints"),
		spent:      c.watch.ns("sun.rt.safepointTime"),
		sync:       c.watch.ns("sun.rt.safepointSyncTime"),
	}
	for i, k := range c.watch.collectors {
		c.last.collectors[i] = [2]int64{k.done, c.watch.ns(k.prefix + "time")}
	}
	words := c.from.Value("sun.gc.tlab.alloc")
	for _, k := range came {
		c.marks.Add(k)
		whole := wholePause(k.Name)
		if c.open {
			c.count(k)
			if words > 0 && words != c.words && whole && k.Count == 1 && len(came) == 1 && c.stopped > 0 && k.Start-c.stopped >= ranBetween {
				c.allocated += words * wordBytes
				c.between += k.Start - c.stopped
			}
		}
		if whole {
			c.stopped = max(c.stopped, k.Start+k.Took)
		}
	}
	if len(came) > 0 {
		c.words = words
	}
}

// wholePause tells whether each pause of a collector is a collection, before which the JVM
// sums up what threads' buffers took. Collectors that work beside the program sum up once for
// several pauses.
func wholePause(collector string) bool {
	for _, prefix := range []string{"Copy", "MSC", "PCopy", "ParNew", "PS", "Serial", "Parallel", "G1"} {
		if strings.HasPrefix(collector, prefix) {
			return !strings.Contains(collector, "concurrent")
		}
	}
	return false
}

// countsPauses tells whether what a collector's counters have are pauses alone. Those of ZGC may, and those of
// Shenandoah do, contain work beside the program: 296 ms where all safepoints took 12 ms (Shenandoah on 17).
func countsPauses(collector string) bool {
	return wholePause(collector) || strings.HasPrefix(collector, "G1") || strings.HasPrefix(collector, "CMS")
}

// untold is why pauses are not known where the counters have no pauses, else "". c.mu is held.
func (c *Collections) untold() string {
	for _, k := range c.watch.collectors {
		if !countsPauses(k.name) {
			return fmt.Sprintf("this collector (%s) may count what it does beside the program as pauses", k.name)
		}
	}
	return ""
}

// count adds a mark's cause and length.
func (c *Collections) count(k event.Mark) {
	if k.Cause != "" { // with several it is the last one's
		c.causes[k.Cause]++
		c.seen++
	}
	if d := time.Duration(k.Pause); d > c.most {
		c.most, c.several = d, k.Count > 1
	}
}

// Part begins or ends a part of a recording.
func (c *Collections) Part(on bool) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == on {
		return
	}
	c.look()
	if c.open = on; on {
		c.begin = c.last
		return
	}
	c.sum.add(c.last, c.begin)
}

// Renew forgets what was.
func (c *Collections) Renew() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	c.begin, c.sum = c.last, totals{}
	c.causes, c.seen, c.most, c.several, c.allocated, c.between = map[string]int64{}, 0, 0, false, 0, 0
}

// Since returns the collections that ended at a time of nanoTime or later, on nanoTime,
// how many are not among those for want of room, and why there are none.
func (c *Collections) Since(began int64) (marks []event.Mark, missed int64, why string) {
	if c == nil {
		return nil, 0, ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watch == nil {
		return nil, 0, c.why
	}
	add, off, known := c.watch.offset()
	if !known {
		return nil, 0, c.why
	}
	all, left := c.marks.Since(began - add - off)
	for i := range all {
		all[i].Start += add
		all[i].Off += off
	}
	return all, left[event.GC], c.why
}

// Report is nil where nobody watched.
func (c *Collections) Report() *export.Pauses {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watch == nil {
		return &export.Pauses{Unknown: c.why}
	}
	c.look()
	sum := c.sum
	if c.open {
		sum.add(c.last, c.begin)
	}
	var safepoints *export.Safepoints
	if sum.safepoints > 0 || sum.spent > 0 {
		safepoints = &export.Safepoints{Count: sum.safepoints, Time: sum.spent, Sync: sum.sync}
	}
	if why := c.untold(); why != "" {
		return &export.Pauses{Unknown: why, Resolution: int64(c.every), Safepoints: safepoints}
	}
	r := &export.Pauses{Unknown: c.why, Resolution: int64(c.every), Safepoints: safepoints, Longest: int64(c.most), LongestOfSeveral: c.several}
	for i, k := range c.watch.collectors {
		n, ns := sum.collectors[i][0], sum.collectors[i][1]
		r.Collectors = append(r.Collectors, export.Collector{Name: k.name, Collections: n, Time: ns})
		r.Collections += n
		r.Time += ns
	}
	for name, n := range c.causes {
		r.Causes = append(r.Causes, export.GCCause{Cause: name, Collections: n})
	}
	slices.SortFunc(r.Causes, func(a, b export.GCCause) int {
		return cmp.Or(cmp.Compare(b.Collections, a.Collections), cmp.Compare(a.Cause, b.Cause))
	})
	r.Unseen = max(r.Collections-c.seen, 0)
	if c.between > 0 {
		r.Allocated = &export.Allocated{Bytes: c.allocated, Over: c.between}
	}
	return r
}

func (c *Collections) untoldNow() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.watch == nil || c.untold() != ""
}

// Within adds to the slowest root invocations how much of each was a pause of a
// collector. began is on nanoTime.
func (c *Collections) Within(of []export.Invocation, began int64) {
	if c == nil {
		return
	}
	marks, missed, why := c.Since(began)
	if c.untoldNow() || why != "" || missed > 0 { // what is missing can lie in any of them
		return
	}
	for i := range of {
		k := &of[i]
		from := began + k.Start
		to := from + k.Took + k.Suspended
		p := &export.Paused{}
		for _, m := range marks {
			least, most := m.Within(from, to)
			p.Least += least
			p.Most += most
		}
		p.Most = min(p.Most, to-from)
		k.Paused = p
	}
}
