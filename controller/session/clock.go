package session

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic is CLOCK_MONOTONIC in ns, which System.nanoTime is in the same
// time namespace.
func monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}

// offsetTo is what to add to monotonic to get the target's nanoTime, given a
// reading of it that has just arrived. A small difference is the message's
// way; a large one is another time namespace.
func offsetTo(nanoTime int64) int64 {
	d := nanoTime - monotonic()
	if d > -int64(time.Second) && d < int64(time.Second) {
		return 0
	}
	return d
}
