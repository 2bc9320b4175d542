package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/rivulet-profiler/rivulet/calibrate"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// Method ids of the sample, above those of the ledger.
const (
	sampleCaller = wire.Sample
	sampleCallee = wire.Sample + 1
	ledgerMax    = sampleCaller
)

const (
	// calibrationBatch is how long a batch of calls should take: many ticks.
	calibrationBatch = 1500 * time.Microsecond
	firstCalls       = 1000
	mostCalls        = 1 << 20
	// A calibration ends when the cheapest batch has stayed so for a while, at
	// the latest after calibrationLongest; where no core is free and what was
	// found by then can't be believed, after calibrationPatient.
	calibrationShortest = 120 * time.Millisecond
	calibrationLongest  = 700 * time.Millisecond
	calibrationPatient  = 2500 * time.Millisecond
	calibrationSteady   = 12 // batches
	// calibrationSilent is how long a batch may take. The agent gives up after two
	// seconds without an answer, and then there is never another one.
	calibrationSilent = 10 * time.Second

	// While a recording is on, the cost is measured again: after a while that
	// grows by half each time, with few batches, some 12 ms in all.
	againFirst   = 300 * time.Millisecond
	againLongest = 10 * time.Second
	againBatches = 8
	againMost    = 5 * againBatches // while they don't agree
	mostFound    = 400              // of a mode; of more, every second one is forgotten
)

// A calibration is under way, or done.
type calibration struct {
	number         uint32 // of the calibration; what comes of an earlier one is not for this one
	mode           byte
	beside         bool // the recording is on, and its gate is not ours to shut
	again          bool // and it is not the first
	begin          time.Time
	batches        []calibrate.Batch
	callee, caller int64 // self times up to the last batch
	part           int64 // H_TAG when the batch under way began
	best           float64
	steady         int       // batches since the best
	heard          time.Time // when the agent was last told to go on
	done           func()

	// The agent's thread has other commands to obey, too: it leaves the sample
	// between two batches, and comes back when they are done.
	yield bool      // there is another command
	held  time.Time // since when it has left; zero while it is there
	next  uint32    // calls of the next batch, when it has left
}

// calibrate measures what the probes of a mode cost in this target, with its
// compiler, while nothing is recorded: before any root is armed, or afterwards. A
// target that can't do it is recorded uncorrected.
func (s *Session) calibrate(ctx context.Context, mode byte) error {
	rewritten, err := s.rewriteSample(mode)
	if err != nil {
		return err
	}
	return s.wait(ctx, func(done func()) {
		s.data.Open()
		s.loop.calibrate(calibration{mode: mode, done: done}, rewritten)
	})
}

// calibrateBeside does the same while the recording is on, with one mode after
// the other, and returns at once. The sample has a tree of its own, which is
// nobody's (wire.Sample). What has not been found when the recording ends is
// measured then.
func (s *Session) calibrateBeside(ctx context.Context, modes []byte) error {
	samples := map[byte][]byte{}
	for _, m := range modes {
		b, err := s.rewriteSample(m)
		if err != nil {
			return err
		}
		samples[m] = b
	}
	var next func()
	next = func() {
		l := &s.loop
		for len(modes) > 0 && !l.leaving && l.final == nil && s.data.HasSpare() {
			m := modes[0]
			modes = modes[1:]
			if l.costs[m] == nil {
				l.calibrate(calibration{mode: m, beside: true, done: next}, samples[m])
				return
			}
		}
	}
	return s.do(ctx, next)
}

// rewriteSample puts the probes of a mode into the sample.
func (s *Session) rewriteSample(mode byte) ([]byte, error) {
	in, err := probe.NewInjector(probe.Tokens(s.hooks()))
	if err == nil {
		in, err = in.WithStarts(probe.Start{Call: s.rootHook(), Is: func(k probe.MethodKey) bool { return k.Name == "accept" }})
	}
	if err == nil && mode == wire.ModeLeaf {
		class, count, thrown := s.leafHooks()
		in, err = in.WithLeaves(class, count, thrown, func(k probe.MethodKey) bool { return k.Name == "leaf" })
	}
	if err != nil {
		return nil, err
	}
	r, err := in.Rewrite(s.bundle.Sample, func(k probe.MethodKey) (int32, bool) {
		switch k.Name {
		case "accept":
			return sampleCaller, true
		case "leaf":
			return sampleCallee, true
		}
		return 0, false
	})
	if err != nil || len(r.Rewritten) != 2 || (mode == wire.ModeLeaf) != (len(r.Leaves) == 1) {
		return nil, fmt.Errorf("the agent's sample can't be rewritten: %w", err)
	}
	return r.Bytes, nil
}

// calibrate begins a calibration of probes. The gate has to be open.
func (l *loop) calibrate(c calibration, rewritten []byte) {
	d := l.s.data
	switch {
	case c.mode == wire.ModeOff: // the thread stays outside, and passes a dormant probe
		d.SetMode(sampleCaller, wire.ModeOff)
		d.SetMode(sampleCallee, wire.ModeTick)
	case counts(c.mode):
		d.SetMode(sampleCaller, l.clock()|wire.ModeRoot)
		d.SetMode(sampleCallee, c.mode)
	default:
		d.SetMode(sampleCaller, c.mode|wire.ModeRoot)
		d.SetMode(sampleCallee, c.mode)
	}
	l.kind.aside()
	c.callee, c.caller = l.sampleTimes()
	l.beginCalibration(c, rewritten)
}

// beginCalibration has the agent run the sample, as it is and rewritten.
func (l *loop) beginCalibration(c calibration, rewritten []byte) {
	c.number, c.begin, c.part = l.calibration.number+1, time.Now(), l.s.data.Part()
	c.heard = c.begin
	l.calibration = c
	plain := l.s.bundle.Sample
	if c.again { // the agent has both
		plain = nil
	}
	l.runSample(firstCalls, plain, rewritten)
}

func (l *loop) runSample(calls uint32, plain, rewritten []byte) {
	l.send(&link.Calibrate{Number: l.calibration.number, Calls: calls, Leaf: l.calibration.mode == wire.ModeLeaf, Plain: plain, Probed: rewritten})
}

// remeasure calibrates, after the recording, the modes that were not when it
// began, or only on a busy machine; what is measured better counts. Roots are
// none any more then, so that only the sample is recorded.
func (s *Session) remeasure(ctx context.Context) {
	var want []byte
	err := s.do(ctx, func() {
		l := &s.loop
		d := s.data
		if !l.armed || d.State() != wire.StateUp {
			return
		}
		if !d.HasSpare() {
			return
		}
		l.final = make([]byte, l.ledger.Len())
		used := map[byte]bool{d.MainMode(): true}
		for id := int32(1); id < l.ledger.Len(); id++ {
			l.final[id] = s.data.Mode(id) &^ wire.ModeRoot
			used[l.final[id]] = true
			s.data.SetMode(id, wire.ModeOff)
		}
		for _, mode := range []byte{wire.ModeCounted, wire.ModeLeaf, wire.ModeTick, wire.ModePrecise, wire.ModeEventTick, wire.ModeEventPrecise} {
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
func (l *loop) onCalibrated(q *link.Calibrated, box int) {
	b := calibrate.Batch{Calls: int64(q.Calls), Bare: q.Bare, Probed: q.Probed}
	c := &l.calibration
	next := uint32(0)
	if c.done != nil && q.Number == c.number && !l.leaving {
		c.heard = time.Now()
		if next = l.calibrated(b); next == 0 {
			l.endCalibration()
		} else if !l.sampleMayRun() {
			c.held, c.next, next = time.Now(), next, 0
			l.resumeCalibration()
		}
	}
	l.link.Reply(box, &link.NextBatch{Calls: next})
}

// calibrated takes a batch: the number of calls of the next, 0 for none. One
// during which the gate was shut says nothing.
func (l *loop) calibrated(b calibrate.Batch) (next uint32) {
	c := &l.calibration
	if b.Calls == 0 {
		return 0
	}
	callee, caller := l.sampleTimes()
	b.Callee, b.Caller = callee-c.callee, caller-c.caller
	c.callee, c.caller = callee, caller
	part := c.part
	if c.part = l.s.data.Part(); part == 0 || part != c.part {
		return firstCalls
	}
	return c.take(b)
}

// sampleMayRun reports whether the gate is open and the agent has nothing else
// to do: threads may wait for that.
func (l *loop) sampleMayRun() bool {
	return l.s.data.IsOpen() && l.round == nil && !l.calibration.yield
}

// resumeCalibration sends the agent back to the sample if it has left it, behind
// the commands that it was sent meanwhile.
func (l *loop) resumeCalibration() {
	c := &l.calibration
	if c.held.IsZero() || l.leaving || l.round != nil || !l.s.data.IsOpen() {
		return
	}
	c.begin = c.begin.Add(time.Since(c.held)) // it has a time for itself
	c.held, c.yield, c.heard = time.Time{}, false, time.Now()
	c.part = l.s.data.Part()
	l.runSample(c.next, nil, nil)
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
	if c.again && len(c.batches) > againBatches {
		if m, ok := c.found(); ok && !busy(m) || len(c.batches) > againMost {
			return 0
		}
	}
	if passed > calibrationLongest || passed > calibrationShortest && c.steady >= calibrationSteady {
		if _, ok := c.found(); ok || passed > calibrationPatient {
			return 0
		}
	}
	n := float64(b.Calls) * float64(calibrationBatch) / float64(max(b.Probed, 1))
	return uint32(min(max(n, firstCalls), mostCalls))
}

// found is what the batches so far say. On a machine without a free core none
// may run undisturbed, or the compiler may not get to the sample. What comes
// out then, or differs by more than itself from batch to batch, would take more
// off than it mends.
func (c *calibration) found() (calibrate.Cost, bool) {
	charged := c.mode == wire.ModeOff || slices.ContainsFunc(c.batches, func(b calibrate.Batch) bool { return b.Callee+b.Caller > 0 })
	m, ok := calibrate.Measure(c.batches)
	return m, ok && charged && m.Total() <= mostCost[c.mode] && m.Spread <= m.Total()
}

// sampleTimes are the self times that the recorder has charged to the sample.
func (l *loop) sampleTimes() (callee, caller int64) {
	tree, err := cct.ReadWith(l.s.data.Memory(), cct.Options{Sample: true})
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

// endCalibration keeps what was found, if it is better than what was known.
func (l *loop) endCalibration() {
	d, c := l.s.data, &l.calibration
	if !c.beside {
		d.Shut(l.s.now())
	}
	d.SetMode(sampleCaller, wire.ModeOff)
	d.SetMode(sampleCallee, wire.ModeOff)
	if m, ok := c.found(); ok {
		if counts(c.mode) { // a counted method has no time of its own
			m.Inner, m.Outer = 0, m.Total()
		}
		l.costs[c.mode] = l.costs[c.mode].with(m, len(c.batches), time.Now())
	}
	l.s.log.Debug("calibrated", "mode", c.mode, "cost", l.costs[c.mode], "batches", len(c.batches), "took", time.Since(c.begin))
	done := c.done
	c.done = nil
	done()
}

// checkCalibration gives the calibration under way up if nothing more comes of it:
// somebody may wait for its end. What was found by then counts.
func (l *loop) checkCalibration() {
	c := &l.calibration
	if c.done == nil || l.leaving || !c.held.IsZero() {
		return
	}
	if l.round != nil { // the agent comes to the sample after that
		c.heard = time.Now()
	}
	if time.Since(c.heard) < calibrationSilent {
		return
	}
	level := hclog.Warn
	if l.costs[c.mode] != nil { // it was measured before
		level = hclog.Debug
	}
	l.s.log.Log(level, "the probes' cost is not measured: the agent has been silent", "mode", c.mode, "batches", len(c.batches), "for", time.Since(c.heard))
	l.endCalibration()
}
