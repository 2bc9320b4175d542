// Package clock is the time of a target: its System.nanoTime as seen from here, and the tick
// clock, which its probes read in place of it.
package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Monotonic is CLOCK_MONOTONIC in ns, which System.nanoTime is in the same
// time namespace; 0 where it can't be read. It is safe for concurrent use.
func Monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}

// OffsetTo is what to add, in ns, to [Monotonic] to get the target's nanoTime, given a
// reading of it that has just arrived. A small difference is the message's
// way; a large one is another time namespace. It is safe for concurrent use.
func OffsetTo(nanoTime int64) int64 {
	d := nanoTime - Monotonic()
	if d > -int64(time.Second) && d < int64(time.Second) {
		return 0
	}
	return d
}
