package shm

import (
	"errors"
	"time"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// errLooking says that the agent has not come to an end with looking at objects.
var errLooking = errors.New("the agent is still looking at the objects that it follows")

// looking bounds the wait for the agent's look at objects, which takes some milliseconds.
const looking = time.Second

// Track has the agent follow objects that are allocated, in this recording and all later
// ones. A followed object stands for 2^most objects at the most, 0 <= most <= 32. It is for
// the owner alone.
func (d *File) Track(most int) {
	d.track = uint32(most) + 1
	d.store32(wire.HTrack, d.track)
}

// Following is how many objects the agent can follow at one time; 0 before it does, some 100 ms
// after [File.Track].
func (d *File) Following() int { return int(d.load32(wire.HFollowing)) }

// Collections are those of the garbage collector that the agent has noticed since it follows
// the recording's objects.
func (d *File) Collections() int64 { return d.load(wire.HCollections) }

// Untracked is how many objects could not be followed, for want of a place.
func (d *File) Untracked() int64 { return d.load(wire.HUntracked) }

// untrack has the agent forget all objects, until [File.Renew]. It waits until the agent writes
// nothing of them into nodes any more.
func (d *File) untrack() error {
	d.store32(wire.HTrack, 0)
	for end := time.Now().Add(looking); d.load32(wire.HLooking) != 0; time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			return errLooking
		}
	}
	return nil
}

// trackAgain has the agent follow the objects of a recording that begins.
func (d *File) trackAgain() {
	d.store32(wire.HFollowing, 0)
	d.store32(wire.HTrack, d.track)
}
