package session

import (
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// An again says when to calibrate the next time.
type again struct {
	at  time.Time
	gap time.Duration
}

// checkAgain measures the recording's clock once more, for a moment, when it is
// time to, and leaves behind it. Machines are fast and slow by turns, by a factor of two where
// strangers share them, and one moment is not what a recording's calls cost.
func (l *loop) checkAgain() {
	a, now := &l.again, time.Now()
	if !l.armed || l.leaving || l.rec.since == 0 {
		*a = again{}
		return
	}
	if a.gap == 0 {
		*a = again{at: now.Add(againFirst), gap: againFirst}
	}
	mode := l.s.data.MainMode()
	if now.Before(a.at) || l.calibration.done != nil || l.round != nil || l.costs[mode] == nil || !l.kind.again() || !l.s.data.HasSpare() {
		return
	}
	a.gap = min(a.gap+a.gap/2, againLongest)
	a.at = now.Add(a.gap)
	l.calibrate(calibration{mode: mode, beside: true, again: true, done: l.leavesAgain}, nil)
}

func (l *loop) leavesAgain() {
	if l.armed && !l.leaving && l.rec.since != 0 && l.costs[wire.ModeLeaf] != nil && l.s.data.HasSpare() {
		l.calibrate(calibration{mode: wire.ModeLeaf, beside: true, again: true, done: func() {}}, nil)
	}
}
