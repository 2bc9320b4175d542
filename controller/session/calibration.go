package session

import (
	"context"
	"fmt"
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
	// the latest after calibrationLongest.
	calibrationShortest = 120 * time.Millisecond
	calibrationLongest  = 700 * time.Millisecond
	calibrationSteady   = 12 // batches
)

// mostCost is the dearest that a compiled probe pair can be, in ns, with room
// for slow machines.
var mostCost = map[byte]float64{wire.ModeTick: 40, wire.ModePrecise: 400}

// A calibration is under way, or done.
type calibration struct {
	begin          time.Time
	batches        []calibrate.Batch
	callee, caller int64 // self times up to the last batch
	best           float64
	steady         int // batches since the best
	done           func()
}

// calibrate measures what the probes cost with the recording's clock, in this
// target, with its compiler. It needs the gate open, so it comes before any
// root is armed. A target that can't do it is recorded uncorrected.
func (s *Session) calibrate(ctx context.Context) error {
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
		l.calibration = calibration{begin: time.Now(), done: done}
		s.data.setMode(sampleCaller, l.clock()|wire.ModeRoot)
		s.data.setMode(sampleCallee, l.clock())
		s.data.setGate(true)
		l.send(wire.CmdCalibrate, &w)
	})
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
		return 0
	}
	n := float64(b.Calls) * float64(calibrationBatch) / float64(max(b.Probed, 1))
	return uint32(min(max(n, 1000), mostCalls))
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

// endCalibration closes the gate and takes the sample out of the data file:
// its thread is outside, so nobody else writes its record.
func (l *loop) endCalibration() {
	d, c := l.s.data, &l.calibration
	d.setGate(false)
	d.setMode(sampleCaller, wire.ModeOff)
	d.setMode(sampleCallee, wire.ModeOff)
	for i := int64(1); i < min(d.load(wire.HNextRecord), wire.Records); i++ {
		r := wire.OffRecords + i<<wire.RecordShift
		for _, word := range []int64{wire.REntries, wire.RReturns, wire.RSuspended} {
			d.store(r+word, 0)
		}
		top := wire.OffNodes + int64(d.load32(r+wire.RTop))<<wire.NodeShift
		d.store32(top+wire.NChild, 0)
		d.store32(top+wire.NCache, 0)
	}
	// On a machine without a free core no batch may run undisturbed, or the
	// compiler may not get to the sample. What comes out then, or differs by
	// more than itself from batch to batch, would take more off than it mends.
	if cost, ok := calibrate.Measure(c.batches); ok && cost.Total() <= mostCost[l.clock()] && cost.Spread <= cost.Total() {
		l.cost = &cost
	}
	l.s.log.Debug("calibrated", "cost", l.cost, "batches", len(c.batches), "took", time.Since(c.begin))
	c.done()
	c.done = nil
}

// correct takes the probes' cost off a report's tree, where it is known; where
// it isn't, the report's calibration is null and says so. The agent's own
// thread, which ran the sample, is nobody's business.
func (s *Session) correct(r *export.Report) {
	r.Tree.Threads = slices.DeleteFunc(r.Tree.Threads, func(t *cct.Thread) bool {
		return t.RootEntries == 0 && len(t.Roots) == 0
	})
	l := &s.loop
	if l.cost == nil {
		return
	}
	r.Calibration = &export.Calibration{Inner: l.cost.Inner, Outer: l.cost.Outer, Spread: l.cost.Spread, Batches: len(l.calibration.batches)}
	clock := cct.Clock{Cost: *l.cost}
	if s.ticker != nil {
		r.Calibration.Tick = s.ticker.figures()
		clock.Tick = float64(tickPeriod)
		if k := r.Calibration.Tick; k != nil {
			clock.Tick = k.Period
		}
	}
	r.Correction = r.Tree.Correct(func(int32) cct.Clock { return clock })
}

func (l *loop) clockName() string {
	if l.clock() == wire.ModeTick {
		return "tick"
	}
	return "precise"
}
