package shm

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// Beat tells the agent that the controller lives. now is the target's time, in
// ns.
func (d *File) Beat(now int64) { d.store(wire.HHeartbeat, now) }

// Controller tells the agent which process the controller is: pid is its number in the
// target's PID namespace, 0 if that is not known.
func (d *File) Controller(pid int) { d.store32(wire.HController, uint32(pid)) }

// Tick sets the tick clock. now is the target's time, in ns.
func (d *File) Tick(now int64) { d.store(wire.HTick, now) }

// AnyInside tells whether some thread is in a root invocation.
func (d *File) AnyInside() bool { return d.load32(wire.HGate) != 0 }

// State is how far the agent is, a wire.State number.
func (d *File) State() uint32 { return d.load32(wire.HState) }

// Reason is why the agent left by itself, a wire.Reason number.
func (d *File) Reason() uint32 { return d.load32(wire.HReason) }

// Ended is when the agent shut the gate by itself, in the target's time (ns);
// 0 if it did not.
func (d *File) Ended() int64 { return d.load(wire.HEnded) }

// Bell tells the agent whether the controller wants to be woken by the FIFO
// (false) or looks at the boxes by itself (true).
func (d *File) Bell(looks bool) { d.store32(wire.HBell, bit(looks)) }

// Clock is the mode of methods in a tree that no rule gives another.
func (d *File) Clock() byte { return byte(d.load32(wire.HClock)) }

// SetClock sets it.
func (d *File) SetClock(mode byte) { d.store32(wire.HClock, uint32(mode)) }

// Events is the mode of methods that write events, 0 where a tree is recorded.
func (d *File) Events() byte { return byte(d.load32(wire.HEvents)) }

// SetEvents sets it.
func (d *File) SetEvents(mode byte) { d.store32(wire.HEvents, uint32(mode)) }

// MainMode is the mode of methods that no rule gives another, be it for a tree
// or for events.
func (d *File) MainMode() byte {
	if events := d.Events(); events != 0 {
		return events
	}
	return d.Clock()
}

// TimeSince says when a timing began, in the target's time (ns): invocations that
// began before are not timed. A recording has no use for it.
func (d *File) TimeSince(now int64) { d.store(wire.TSince, now) }

// Follow has the probes take notice of tasks that are handed to other threads.
func (d *File) Follow() { d.store32(wire.HFollow, 1) }

// Fold sets whether recursion is folded.
func (d *File) Fold(on bool) { d.store32(wire.HFold, bit(on)) }

// Every has the probes admit one of n root invocations in a row.
func (d *File) Every(n uint32) { d.store32(wire.HEvery, n) }

// Patience bounds how long a root invocation waits for the controller in all; 0 is no
// bound but the agent's.
func (d *File) Patience(most time.Duration) { d.store(wire.HPatience, int64(most)) }

// Admit has the probes admit n root invocations more; [All] for all.
func (d *File) Admit(n int64) { d.store(wire.HBudget, n) }

// All is every root invocation, for [File.Admit].
const All = math.MaxInt64

// ToAdmit is how many root invocations are still to be admitted. It may be
// below zero.
func (d *File) ToAdmit() int64 { return d.load(wire.HBudget) }

// Refused counts the root invocations that were not admitted.
func (d *File) Refused() int64 { return d.load(wire.HRefused) }

// Seen counts the root invocations of which some were admitted, see [File.Every].
func (d *File) Seen() int64 { return d.load(wire.HSeen) }

// Unanswered counts the classes whose load went on without an answer.
func (d *File) Unanswered() int64 { return d.load(wire.HUnanswered) }

// LongestWait is how long a thread waited for the controller at the longest.
func (d *File) LongestWait() time.Duration { return time.Duration(d.load(wire.HLongestWait)) }

// GivenUp is how often a thread went on without probes since its patience had run out.
func (d *File) GivenUp() int64 { return d.load(wire.HGivenUp) }

// Untold is how many targets of reflection, method handles and call sites the controller does
// not know of at the moment, though they were used.
func (d *File) Untold() int64 { return d.load(wire.HUntold) }

// Redefined is how often classes of the target were redefined.
func (d *File) Redefined() int64 { return d.load(wire.HRedefined) }

// Incomplete notes a call whose callees may lack probes.
func (d *File) Incomplete() { d.add(wire.HIncomplete, 1) }

// Epoch is the number of the recording.
func (d *File) Epoch() uint32 { return d.load32(wire.HEpoch) }

// Renew makes every record begin a new tree at its next root invocation. The
// gate must be shut. It is for the owner alone.
func (d *File) Renew() {
	d.store32(wire.HEpoch, d.load32(wire.HEpoch)+1)
	for _, w := range counters {
		d.store(w, 0)
	}
	d.trackAgain()
	d.forgetTimes()
	d.forgetSlow()
}

// counters are the words of the header that count in a recording. HMute is none,
// but belongs to the recording as they do.
var counters = []int64{
	wire.HRefused, wire.HOverflow, wire.HLost, wire.HIncomplete, wire.HGivenUp, wire.HUnfollowed,
	wire.HUncounted, wire.HSeen, wire.HMute, wire.HCollections, wire.HUntracked,
}

// Keep notes the recording's number and what was counted in it; the result puts
// them back.
func (d *File) Keep() (restore func()) {
	return d.keep(append([]int64{wire.HEpoch &^ 7}, counters...)...)
}

// keep notes words of the header; the result puts them back.
func (d *File) keep(words ...int64) (restore func()) {
	values := make([]int64, len(words))
	for i, w := range words {
		values[i] = d.load(w)
	}
	return func() {
		for i, w := range words {
			d.store(w, values[i])
		}
	}
}

// Mode is how a method is recorded: a wire.Mode, with wire.ModeRoot for a root.
func (d *File) Mode(method int32) byte {
	w, shift := d.modeWord(method)
	return byte(d.load32(w) >> shift)
}

// SetMode sets it. Beside the controller, a thread whose wait for a reveal was
// given up writes a mode byte; neither undoes what the other does to other methods.
func (d *File) SetMode(method int32, m byte) {
	w, shift := d.modeWord(method)
	for {
		old := d.load32(w)
		if d.swap32(w, old, old&^(0xff<<shift)|uint32(m)<<shift) {
			return
		}
	}
}

// modeWord is the 32-bit word with a method's mode, and where in it that is.
func (d *File) modeWord(method int32) (off int64, shift int) {
	at := int64(wire.OffModes) + int64(method)
	n := int(at & 3)
	if bigEndian {
		n = 3 - n
	}
	return at &^ 3, 8 * n
}

var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
