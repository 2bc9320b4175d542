package session

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/clock"
	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/priority"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

const (
	// drainIdle is how long the drain sleeps when nothing has come: far less than
	// a thread needs to fill a large ring (some 30 ms at the fastest seen).
	drainIdle = time.Millisecond
	// drainSome is how long it sleeps when little has come.
	drainSome = 200 * time.Microsecond
	// drainFew is how many words are little.
	drainFew = 4096
)

// events drain the target's streams while it records.
type events struct {
	treeRecorder

	mu      sync.Mutex
	main    *event.Rings // of the recording; nil before it begins
	side    *event.Rings // of a calibration, whose events nobody wants
	builder *event.Builder
	dump    *event.Dump  // nil where nobody asked; renewed with the builder
	marks   *event.Marks // with a timeline, except for collections; renewed with the builder
	err     error
}

// eventModes are the modes with events of those without.
var eventModes = map[byte]byte{wire.ModeTick: wire.ModeEventTick, wire.ModePrecise: wire.ModeEventPrecise}

// ticks tells whether a mode reads the tick clock.
func ticks(mode byte) bool { return mode == wire.ModeTick || mode == wire.ModeEventTick }

// startEvents has events recorded from the next opening of the gate on. It is
// the loop's.
func (s *Session) startEvents(rec Recording, clock byte) {
	s.data.SetEvents(eventModes[clock])
	e := &events{treeRecorder: treeRecorder{s}}
	e.renew(rec)
	s.loop.kind = e
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		s.guard(e.run)
	}()
}

// run drains until the session ends. Where threads are many and cores few, the
// reader's fair share of a core is too small, and all of them wait for it: so it
// goes before them where the kernel lets it. It works no more by that, and what
// it does not get done in time they would spend waiting.
func (e *events) run() {
	runtime.LockOSThread() // and never unlocked: the thread ends with its priority
	priority.Raise(unix.Gettid())
	for e.s.ctx.Err() == nil {
		n := e.drain()
		if n > drainFew {
			continue
		}
		pause := drainIdle
		if n > 0 {
			pause = drainSome
		}
		clock.Sleep(pause)
	}
}

// drain takes what there is.
func (e *events) drain() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	var n, ignored int64
	if e.main != nil && e.err == nil {
		n, e.err = e.main.Drain(func(record int, words []event.Word) {
			e.dump.Take(record, words)
			e.builder.Take(record, words)
		})
	}
	if e.side != nil && e.err == nil {
		ignored, e.err = e.side.Drain(func(int, []event.Word) {})
	}
	return n + ignored
}

// renew begins anew for a recording; its first root invocation is still to come.
func (e *events) renew(rec Recording) {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := event.NewBuilder()
	if rec.Slowest > 0 {
		b.Slowest = event.NewSlowest(rec.Slowest, int64(rec.Over))
		b.Paths = rec.Follow
	}
	if rec.Timeline > 0 {
		b.Timeline = event.NewTimeline(rec.Timeline)
		e.marks = event.NewMarks(event.MostMarks)
	}
	e.builder, e.dump = b, nil
	if rec.Stream > 0 {
		e.dump = event.NewDump(rec.Stream)
	}
	e.main = event.NewRings(e.s.data.Memory(), e.s.data.Epoch())
	e.side = nil
}

// forget leaves rings that are about to be freed.
func (e *events) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.main, e.side = nil, nil
}

// aside drains a calibration's events, too. All calibrations beside one recording have one reader: a record's first
// ring is another's once it was left, so a second reader would find words that are not for it, and none that are.
func (e *events) aside() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.side == nil {
		e.side = event.NewRings(e.s.data.Memory(), ^e.s.data.Epoch())
	}
}

// report adds what the events say. now is the target's time at the end, or 0.
// same is the recorded tree to compare with, as it was read.
func (e *events) report(r *export.Report, same *cct.Snapshot, b correctionInputs, closed map[int64]int64, now int64) {
	e.drain()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.main == nil {
		return
	}
	stats, err := e.main.Stats()
	if err = errors.Join(e.err, err); err != nil {
		r.Notes = append(r.Notes, "The events could not be read to the end: "+err.Error()+".")
	}
	r.Events = &export.Events{
		Words: stats.Words, Dropped: stats.Dropped, Muted: stats.Muted, Waits: stats.Waits, Waited: stats.Waited,
		Rings: stats.Rings, RingBytes: stats.Bytes, Bad: stats.Bad + e.builder.Bad(), Began: e.s.loop.rec.began,
	}
	r.Stream = e.dump
	ends := make([]int64, 0, len(closed))
	for _, at := range closed {
		ends = append(ends, at)
	}
	slices.Sort(ends)
	tree := e.builder.Snapshot(func(ns int64) int64 {
		for _, end := range ends {
			if end >= ns {
				return end
			}
		}
		return now
	})
	if stats.Dropped+stats.Muted == 0 && tree.Overflow == 0 {
		n, some := event.Differences(same, tree)
		r.Events.Differ = &n
		for _, d := range some {
			e.s.log.Debug("events and tree differ", "path", d.Path, "tree", d.A, "events", d.B)
		}
	}
	e.slowest(r, same, b, e.s.loop.rec.Recording)
}
