package session

import "testing"

// TestOneReader: all calibrations beside a recording with events have their events read by one reader. A second one
// would begin at the first ring of the sample's record, which was given back when a larger one followed: the sample waited
// two seconds for a reader, and the ring, another thread's by then, had two.
func TestOneReader(t *testing.T) {
	s, _ := fake(t, shop(t))
	e := &events{treeRecorder: treeRecorder{s}}
	e.renew(Recording{})
	e.aside()
	first := e.side
	if e.aside(); e.side != first {
		t.Error("a second calibration beside the same recording has another reader")
	}
	e.renew(Recording{})
	if e.aside(); e.side == first {
		t.Error("the reader of an earlier recording's rings is still there")
	}
}
