package unwinder

import "github.com/rivulet-profiler/rivulet/controller/vmstructs"

// An Anchor is what the JVM's record of a thread says at one moment: what it does, and
// where it last left Java code.
type Anchor struct {
	State      ThreadState
	PC, SP, FP uint64 // SP is 0 if it runs Java code, or has no Java frames
	Pending    uint64 // the monitor that it waits to enter; 0 if none, or not known
	Waiting    uint64 // the monitor in which it waits to be notified
	OK         bool   // it could be read
}

// A ThreadState is that of a JavaThread.
type ThreadState uint8

// States; those in between count as that which they lead to or come from.
const (
	OtherState  ThreadState = iota
	InNative                // runs native code, or waits in it
	InVM                    // runs the JVM's own code
	InJava                  // runs Java code
	BlockedInVM             // waits in the JVM
)

// Anchors reads those of many threads with one call. It fills out, which has one for each.
func (u *Unwinder) Anchors(threads []Thread, out []Anchor) {
	l := u.l
	anchorEnd := l.Anchor + max(l.LastSP, l.LastPC, l.LastFP) + 8
	first, last := min(l.Anchor, l.State), max(anchorEnd, l.State+4)
	for _, f := range []uint64{l.PendingMonitor, l.WaitingMonitor} {
		if f != none {
			first, last = min(first, f), max(last, f+8)
		}
	}
	size := int(last - first)
	if cap(u.spans) < len(threads) {
		u.spans = make([]vmstructs.Span, len(threads))
	}
	if need := size * len(threads); cap(u.room) < need {
		u.room = make([]byte, need)
	}
	spans := u.spans[:len(threads)]
	for i, t := range threads {
		spans[i] = vmstructs.Span{At: t.At + first, P: u.room[i*size : (i+1)*size : (i+1)*size]}
		out[i] = Anchor{}
	}
	if len(spans) == 0 || u.mem.ReadMany(spans) != nil {
		return
	}
	u.reads++
	for i, s := range spans {
		if !s.OK {
			continue
		}
		at := l.Anchor - first
		a := Anchor{PC: word(s.P, at+l.LastPC), SP: word(s.P, at+l.LastSP), FP: word(s.P, at+l.LastFP), OK: true}
		a.State = l.state(int64(int32(half(s.P, l.State-first))))
		if l.PendingMonitor != none {
			a.Pending = word(s.P, l.PendingMonitor-first)
		}
		if l.WaitingMonitor != none {
			a.Waiting = word(s.P, l.WaitingMonitor-first)
		}
		out[i] = a
	}
}

func (l *Layout) state(v int64) ThreadState {
	switch v &^ 1 {
	case l.StateInNative:
		return InNative
	case l.StateInVM:
		return InVM
	case l.StateInJava:
		return InJava
	case l.StateWait:
		return BlockedInVM
	}
	return OtherState
}
