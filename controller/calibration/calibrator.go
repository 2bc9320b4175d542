package calibration

import (
	"maps"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/rivulet-profiler/rivulet/calibrate"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/controller/shm"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// A Host is the session that a [Calibrator] works for.
type Host interface {
	Send(c link.Command)
	Now() int64      // of the target's clock, ns
	Redefines() bool // the agent redefines classes, for which threads may wait
	Leaves() bool    // the agent was told to go
	Aside()          // what the sample's thread records is nobody's from now on
}

// A Calibrator measures, one run at a time, and keeps what was found.
type Calibrator struct {
	host  Host
	data  *shm.File
	plain []byte // the sample as it is
	log   hclog.Logger

	interpreted bool

	run   run
	costs map[byte]*Cost // by mode; without those that could not be measured
	next  schedule
}

// New makes one for the sample's class file.
func New(host Host, data *shm.File, sample []byte, log hclog.Logger) *Calibrator {
	return &Calibrator{host: host, data: data, plain: sample, log: log, costs: map[byte]*Cost{}}
}

// Interprets says that the target compiles nothing, so that its probes may cost what interpreted ones do.
func (c *Calibrator) Interprets() { c.interpreted = true }

// MostTimerCost is the dearest that a timer can be in this target, in ns, with room for slow machines.
func (c *Calibrator) MostTimerCost() float64 {
	if c.interpreted {
		return slower * mostTimerCost
	}
	return mostTimerCost
}

// Cost is what calls of a mode cost, as far as it was measured; nil if it was not.
func (c *Calibrator) Cost(mode byte) *Cost { return c.costs[mode] }

// Costs are those of all modes that were measured.
func (c *Calibrator) Costs() map[byte]*Cost { return maps.Clone(c.costs) }

// On tells whether a run is under way.
func (c *Calibrator) On() bool { return c.run.Done != nil }

// Batches are those of the last run, or of the one under way.
func (c *Calibrator) Batches() []calibrate.Batch { return c.run.batches }

// Begin begins a run with the sample as it was rewritten; nil for one that the agent has.
// The gate has to be open.
func (c *Calibrator) Begin(r Run, rewritten []byte) {
	now := time.Now()
	next := run{Run: r, interpreted: c.interpreted, number: c.run.number + 1, begin: now, heard: now, part: c.data.Part()}
	if !r.Timer {
		c.setModes(r.Mode)
		c.host.Aside()
		next.callee, next.caller = c.times()
	}
	c.run = next
	plain := c.plain
	if r.Again {
		plain = nil
	}
	c.send(firstCalls, plain, rewritten)
}

// setModes has the sample be recorded by a mode.
func (c *Calibrator) setModes(mode byte) {
	d := c.data
	switch {
	case mode == wire.ModeOff: // the thread stays outside, and passes a dormant probe
		d.SetMode(SampleCaller, wire.ModeOff)
		d.SetMode(SampleCallee, wire.ModeTick)
	case Counts(mode):
		d.SetMode(SampleCaller, d.Clock()|wire.ModeRoot)
		d.SetMode(SampleCallee, mode)
	default:
		d.SetMode(SampleCaller, mode|wire.ModeRoot)
		d.SetMode(SampleCallee, mode)
	}
}

func (c *Calibrator) send(calls uint32, plain, rewritten []byte) {
	c.host.Send(&link.Calibrate{Number: c.run.number, Calls: calls, Leaf: c.run.Mode == wire.ModeLeaf, Plain: plain, Probed: rewritten})
}

// Took takes a batch that the agent has run: how many calls the next one has, 0 for none.
func (c *Calibrator) Took(q *link.Calibrated) (next uint32) {
	r := &c.run
	if r.Done == nil || q.Number != r.number || c.host.Leaves() {
		return 0
	}
	r.heard = time.Now()
	if next = c.took(calibrate.Batch{Calls: int64(q.Calls), Bare: q.Bare, Probed: q.Probed}); next == 0 {
		c.end()
	} else if !c.mayRun() {
		r.held, r.next, next = time.Now(), next, 0
		c.Resume()
	}
	return next
}

// took takes a batch: the number of calls of the next, 0 for none. One
// during which the gate was shut says nothing.
func (c *Calibrator) took(b calibrate.Batch) (next uint32) {
	r := &c.run
	if b.Calls == 0 {
		return 0
	}
	callee, caller := c.times()
	b.Callee, b.Caller = callee-r.callee, caller-r.caller
	r.callee, r.caller = callee, caller
	part := r.part
	if r.part = c.data.Part(); part == 0 || part != r.part {
		return firstCalls
	}
	return r.take(b)
}

// mayRun reports whether the gate is open and the agent has nothing else
// to do: threads may wait for that.
func (c *Calibrator) mayRun() bool { return c.data.IsOpen() && !c.host.Redefines() && !c.run.yield }

// Yield has the agent leave the sample after the batch under way: there is another command for it.
func (c *Calibrator) Yield() { c.run.yield = true }

// Resume sends the agent back to the sample if it has left it, behind
// the commands that it was sent meanwhile.
func (c *Calibrator) Resume() {
	r := &c.run
	if r.held.IsZero() || c.host.Leaves() || c.host.Redefines() || !c.data.IsOpen() {
		return
	}
	r.begin = r.begin.Add(time.Since(r.held)) // it has a time for itself
	r.held, r.yield, r.heard = time.Time{}, false, time.Now()
	r.part = c.data.Part()
	c.send(r.next, nil, nil)
}

// times are the self times that the recorder has charged to the sample.
func (c *Calibrator) times() (callee, caller int64) {
	tree, err := cct.ReadWith(c.data.Memory(), cct.Options{Sample: true})
	if err != nil {
		return 0, 0
	}
	for _, f := range cct.FlatOf(tree.Roots()) {
		switch f.Method {
		case SampleCallee:
			callee = f.Self
		case SampleCaller:
			caller = f.Self
		}
	}
	return callee, caller
}

// end keeps what was found, if it is better than what was known.
func (c *Calibrator) end() {
	d, r := c.data, &c.run
	if !r.Beside {
		d.Shut(c.host.Now())
	}
	d.SetMode(SampleCaller, wire.ModeOff)
	d.SetMode(SampleCallee, wire.ModeOff)
	if m, ok := r.found(); ok && !r.Timer {
		if Counts(r.Mode) { // a counted method has no time of its own
			m.Inner, m.Outer = 0, m.Total()
		}
		c.costs[r.Mode] = c.costs[r.Mode].with(m, len(r.batches), time.Now())
	}
	c.log.Debug("calibrated", "mode", r.Mode, "cost", c.costs[r.Mode], "batches", len(r.batches), "took", time.Since(r.begin))
	done := r.Done
	r.Done = nil
	done()
}

// Check gives the run under way up if nothing more comes of it:
// somebody may wait for its end. What was found by then counts.
func (c *Calibrator) Check() {
	r := &c.run
	if r.Done == nil || c.host.Leaves() || !r.held.IsZero() {
		return
	}
	if c.host.Redefines() { // the agent comes to the sample after that
		r.heard = time.Now()
	}
	if time.Since(r.heard) < silent {
		return
	}
	level := hclog.Warn
	if c.costs[r.Mode] != nil { // it was measured before
		level = hclog.Debug
	}
	c.log.Log(level, "the probes' cost is not measured: the agent has been silent", "mode", r.Mode, "batches", len(r.batches), "for", time.Since(r.heard))
	c.end()
}
