package live

import "time"

// For tests of what happens after a while.
const (
	FrameEvery    = frameEvery
	DiagnoseAfter = diagnoseAfter
	ListedFor     = listedFor
)

// Backdate has the recording that is on begun, and the methods listed, so much earlier.
func (l *Live) Backdate(by time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.started, l.listed = l.started.Add(-by), l.listed.Add(-by)
}

// Closing tells whether actions are refused, since it ends.
func (l *Live) Closing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closing
}
