package session

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/calibrate"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// Method ids of the sample, above those of the ledger.
const (
	sampleCaller = wire.MaxMethods - 2
	sampleCallee = wire.MaxMethods - 1
	ledgerMax    = sampleCaller
)

const (
	// calibrationBatch is how long a batch of calls should take: many ticks.
	calibrationBatch = 1500 * time.Microsecond
	mostCalls        = 1 << 20
	// A calibration ends when the cheapest batch has stayed so for a while, at
	// the latest after calibrationLongest; where no core is free and what was
	// found by then can't be believed, after calibrationPatient.
	calibrationShortest = 120 * time.Millisecond
	calibrationLongest  = 700 * time.Millisecond
	calibrationPatient  = 2500 * time.Millisecond
	calibrationSteady   = 12 // batches
)

// mostCost is the dearest that a compiled probe pair can be, in ns, with room
// for slow machines.
var mostCost = map[byte]float64{wire.ModeCounted: 40, wire.ModeTick: 40, wire.ModePrecise: 400, wire.ModeEventTick: 100, wire.ModeEventPrecise: 460}

// A calibration is under way, or done.
type calibration struct {
	mode           byte
	begin          time.Time
	batches        []calibrate.Batch
	callee, caller int64 // self times up to the last batch
	best           float64
	steady         int // batches since the best
	done           func()
}

// A cost is what calibration found for a mode.
type cost struct {
	calibrate.Cost
	batches int
}

// doubtful tells whether batches differed so much that the machine can't have
// been quiet.
func (c *cost) doubtful() bool { return c == nil || c.Spread > c.Total()/2 }

// calibrate measures what the probes of a mode cost in this target, with its
// compiler. It needs the gate open and a tree of its own, so it comes before
// any root is armed, or afterwards. A target that can't do it is recorded
// uncorrected.
func (s *Session) calibrate(ctx context.Context, mode byte) error {
	classes := s.bundle.Sample
	r, err := probe.Rewrite(classes, s.hooks(), func(k probe.MethodKey) (int32, bool) {
		switch k.Name {
		case "accept":
			return sampleCaller, true
		case "leaf":
			return sampleCallee, true
		}
		return 0, false
	})
	if err != nil || len(r.Rewritten) != 2 {
		return fmt.Errorf("the agent's sample can't be rewritten: %w", err)
	}
	var w wire.Writer
	w.Block(classes)
	w.Block(r.Bytes)
	return s.wait(ctx, func(done func()) {
		l := &s.loop
		l.calibration = calibration{mode: mode, begin: time.Now(), done: done}
		if mode == wire.ModeCounted {
			s.data.setMode(sampleCaller, l.clock()|wire.ModeRoot)
		} else {
			s.data.setMode(sampleCaller, mode|wire.ModeRoot)
		}
		s.data.setMode(sampleCallee, mode)
		s.data.store32(wire.HEpoch, s.data.load32(wire.HEpoch)+1)
		if s.events != nil {
			s.events.aside()
		}
		s.data.store(wire.HBudget, math.MaxInt64) // what a recording left of it is not for the sample
		s.data.open()
		l.send(wire.CmdCalibrate, &w)
	})
}

// remeasure calibrates, after the recording, the modes that were not when it
// began, or only on a busy machine; what is measured better counts. Roots are
// none any more then, so that only the sample is recorded.
func (s *Session) remeasure(ctx context.Context) {
	var want []byte
	err := s.do(ctx, func() {
		l := &s.loop
		d := s.data
		if !l.armed || d.load32(wire.HState) != wire.StateUp {
			return
		}
		// The sample needs a record, and room for its tree, that nobody's is in.
		if d.load(wire.HNextRecord) >= d.load(wire.HRecordMax) || d.load(wire.HNextNode)+2*wire.NodeChunk > d.load(wire.HNodeMax) {
			return
		}
		l.final = make([]byte, l.ledger.Len())
		used := map[byte]bool{d.mainMode(): true}
		for id := int32(1); id < l.ledger.Len(); id++ {
			l.final[id] = s.data.mode(id) &^ wire.ModeRoot
			used[l.final[id]] = true
			s.data.setMode(id, wire.ModeOff)
		}
		for _, mode := range []byte{wire.ModeCounted, wire.ModeTick, wire.ModePrecise, wire.ModeEventTick, wire.ModeEventPrecise} {
			if used[mode] && l.costs[mode].doubtful() {
				want = append(want, mode)
			}
		}
	})
	if err != nil {
		return
	}
	for _, mode := range want {
		bounded, cancel := context.WithTimeout(ctx, 2*calibrationPatient)
		err := s.calibrate(bounded, mode)
		cancel()
		if err != nil {
			s.log.Debug("not calibrated again", "mode", mode, "error", err)
			return
		}
	}
}

// onCalibrated takes a batch and answers with the size of the next.
func (l *loop) onCalibrated(r *wire.Reader) ([]byte, error) {
	b := calibrate.Batch{Calls: int64(r.U32()), Bare: int64(r.U64()), Probed: int64(r.U64())}
	if r.Err() != nil {
		return nil, r.Err()
	}
	c := &l.calibration
	if c.done == nil {
		return nil, nil
	}
	next := uint32(0)
	if b.Calls > 0 {
		callee, caller := l.sampleTimes()
		b.Callee, b.Caller = callee-c.callee, caller-c.caller
		c.callee, c.caller = callee, caller
		next = c.take(b)
	}
	if next == 0 {
		l.endCalibration()
	}
	var w wire.Writer
	w.U32(next)
	return w.Bytes(), nil
}

// take judges a batch: the number of calls of the next, 0 when it is enough.
func (c *calibration) take(b calibrate.Batch) uint32 {
	c.batches = append(c.batches, b)
	each := float64(b.Probed) / float64(b.Calls)
	c.steady++
	if c.best == 0 || each < 0.97*c.best {
		c.best, c.steady = each, 0
	}
	passed := time.Since(c.begin)
	if passed > calibrationLongest || passed > calibrationShortest && c.steady >= calibrationSteady {
		if _, ok := c.found(); ok || passed > calibrationPatient {
			return 0
		}
	}
	n := float64(b.Calls) * float64(calibrationBatch) / float64(max(b.Probed, 1))
	return uint32(min(max(n, 1000), mostCalls))
}

// found is what the batches so far say. On a machine without a free core none
// may run undisturbed, or the compiler may not get to the sample. What comes
// out then, or differs by more than itself from batch to batch, would take more
// off than it mends.
func (c *calibration) found() (calibrate.Cost, bool) {
	charged := slices.ContainsFunc(c.batches, func(b calibrate.Batch) bool { return b.Callee+b.Caller > 0 })
	m, ok := calibrate.Measure(c.batches)
	return m, ok && charged && m.Total() <= mostCost[c.mode] && m.Spread <= m.Total()
}

// sampleTimes are the self times that the recorder has charged to the sample.
func (l *loop) sampleTimes() (callee, caller int64) {
	tree, err := cct.Read(l.s.data.mem, 0)
	if err != nil {
		return 0, 0
	}
	for _, f := range cct.FlatOf(tree.Roots()) {
		switch f.Method {
		case sampleCallee:
			callee = f.Self
		case sampleCaller:
			caller = f.Self
		}
	}
	return callee, caller
}

// endCalibration closes the gate and keeps what was found, if it is better than
// what was known. The sample's tree is one of its own, which nobody reads.
func (l *loop) endCalibration() {
	d, c := l.s.data, &l.calibration
	d.shut(l.s.now())
	d.setMode(sampleCaller, wire.ModeOff)
	d.setMode(sampleCallee, wire.ModeOff)
	d.store32(wire.HEpoch, d.load32(wire.HEpoch)+1)
	d.store(wire.HLost, 0)
	if m, ok := c.found(); ok {
		if c.mode == wire.ModeCounted { // a counted method has no time of its own
			m.Inner, m.Outer = 0, m.Total()
		}
		if old := l.costs[c.mode]; old == nil || m.Total() < old.Total() || m.Spread < old.Spread && old.doubtful() {
			l.costs[c.mode] = &cost{m, len(c.batches)}
		}
	}
	l.s.log.Debug("calibrated", "mode", c.mode, "cost", l.costs[c.mode], "batches", len(c.batches), "took", time.Since(c.begin))
	c.done()
	c.done = nil
}

// basis is that of the recording that has ended.
func (s *Session) basis() basis {
	b := s.loop.basis()
	if s.loop.final != nil {
		b.modes = s.loop.final
	}
	return b
}

// A basis is what correcting goes by, at one moment.
type basis struct {
	clock byte
	modes []byte // of methods by id
	costs map[byte]*cost
	tick  *export.Tick // nil where the tick clock has not run
}

// basis is that of the recording that is on.
func (l *loop) basis() basis {
	b := basis{clock: l.s.data.mainMode(), modes: make([]byte, l.ledger.Len()), costs: maps.Clone(l.costs)}
	for id := range b.modes {
		b.modes[id] = l.s.data.mode(int32(id)) &^ wire.ModeRoot
	}
	if l.s.ticker != nil {
		b.tick = l.s.ticker.figures()
	}
	return b
}

// correct takes the probes' cost off a report's tree, where it is known; where
// it isn't, the report's calibration is null and says so.
func (b basis) correct(r *export.Report) {
	r.Tree.Threads = slices.DeleteFunc(r.Tree.Threads, func(t *cct.Thread) bool {
		return t.RootEntries == 0 && len(t.Roots) == 0
	})
	main := b.costs[b.clock]
	if main == nil {
		r.Tree.GiveToCallers(func(id int32) bool { return b.mode(id) == wire.ModeCounted })
		return
	}
	r.Calibration = &export.Calibration{Inner: main.Inner, Outer: main.Outer, Spread: main.Spread, Batches: main.batches}
	if ticks(b.clock) {
		r.Calibration.Tick = b.tick
	}
	r.Correction = b.fix(r.Tree)
}

// mode is how a method was recorded.
func (b basis) mode(id int32) byte {
	if id > 0 && int(id) < len(b.modes) && b.modes[id] >= wire.ModeEventTick {
		return b.modes[id]
	}
	return b.clock
}

// fix gives the time of methods that are counted only to their callers, and
// takes the probes' cost off a tree, where it is known.
func (b basis) fix(tree *cct.Snapshot) cct.Correction {
	tree.GiveToCallers(func(id int32) bool { return b.mode(id) == wire.ModeCounted })
	if b.costs[b.clock] == nil {
		return cct.Correction{}
	}
	period := float64(tickPeriod)
	if b.tick != nil {
		period = b.tick.Period
	}
	return tree.Correct(func(id int32) cct.Clock {
		m := b.mode(id)
		var k cct.Clock
		if c := b.costs[m]; c != nil {
			k.Cost = c.Cost
		}
		if ticks(m) {
			k.Tick = period
		}
		return k
	})
}

func (l *loop) clockName() string {
	if l.clock() == wire.ModeTick {
		return "tick"
	}
	return "precise"
}
