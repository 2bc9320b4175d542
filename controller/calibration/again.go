package calibration

import (
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// While a recording is on, the cost is measured again: after a while that
// grows by half each time, with few batches, some 12 ms in all.
const (
	againFirst   = 300 * time.Millisecond
	againLongest = 10 * time.Second
)

// A schedule says when to measure the next time.
type schedule struct {
	at  time.Time
	gap time.Duration
}

// Again measures the recording's clock once more, for a moment, when it is
// time to, and leaves behind it. Machines are fast and slow by turns, by a factor of two where
// strangers share them, and one moment is not what a recording's calls cost. on says that a recording is; may that
// a run would disturb nothing.
func (c *Calibrator) Again(on func() bool, may func() bool) {
	a, now := &c.next, time.Now()
	if !on() {
		*a = schedule{}
		return
	}
	if a.gap == 0 {
		*a = schedule{at: now.Add(againFirst), gap: againFirst}
	}
	mode := c.data.MainMode()
	if now.Before(a.at) || c.On() || c.host.Redefines() || c.costs[mode] == nil || !may() || !c.data.HasSpare() {
		return
	}
	a.gap = min(a.gap+a.gap/2, againLongest)
	a.at = now.Add(a.gap)
	c.Begin(Run{Mode: mode, Beside: true, Again: true, Done: func() {
		if on() && c.costs[wire.ModeLeaf] != nil && c.data.HasSpare() {
			c.Begin(Run{Mode: wire.ModeLeaf, Beside: true, Again: true, Done: func() {}}, nil)
		}
	}}, nil)
}
