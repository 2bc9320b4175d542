package session

import (
	"time"

	"github.com/rivulet-profiler/rivulet/controller/pauses"
)

// beginPauses forgets what was before a redefinition. A JVM that has only just begun
// makes its counters one by one: as long as some lack, they are looked for again.
func (l *loop) beginPauses() {
	if l.pauses == nil {
		l.pauses = pauses.OpenSafepoints(l.s.proc.PID)
	}
	l.pauses.Lap()
}

// endPauses takes what a redefinition of some classes has stopped all threads for.
// It returns the longest pause, -1 where it is not known.
func (l *loop) endPauses(classes int) time.Duration {
	longest, total, known := l.pauses.Lap()
	if !known {
		return -1
	}
	l.stats.pauseKnown = true
	l.stats.longestPause = max(l.stats.longestPause, longest)
	l.stats.pauses += total
	l.pace.Note(classes, longest)
	return longest
}

// watchCollections has the counters of the target's collectors read until the session ends,
// often where events are recorded.
func (s *Session) watchCollections(often bool) {
	s.collections = pauses.WatchCollections(s.proc.PID, s.now, often)
	s.wg.Go(func() { s.collections.Run(s.ctx) })
}
