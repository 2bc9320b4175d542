package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
)

// ErrWinding reports an agent that does not end restoring classes.
var ErrWinding = errors.New("the agent of an earlier session still restores classes")

const (
	windingLook    = 20 * time.Millisecond
	windingLongest = 2 * time.Minute
)

// Restore waits until an agent that is restoring classes by itself has ended; progress, unless it
// is nil, is told the share that is done, 0 to 1. It returns at once where no agent is restoring.
// The error is that of ctx, or wraps [ErrWinding].
func Restore(ctx context.Context, p attach.Process, progress func(share float64)) error {
	share := -1.0
	return Wound(ctx, p.PID, windingLongest, func(s float64) {
		if progress != nil && s != share {
			share = s
			progress(s)
		}
	})
}

// Wound waits until no agent is restoring classes by itself, for so long at the most. The error is that
// of ctx, or wraps [ErrWinding].
func Wound(ctx context.Context, pid int, longest time.Duration, progress func(share float64)) error {
	over := time.After(longest)
	for {
		share, winding := attach.Winding(pid)
		if !winding {
			return nil
		}
		if progress != nil {
			progress(share)
		}
		select {
		case <-time.After(windingLook):
		case <-ctx.Done():
			return ctx.Err()
		case <-over:
			return fmt.Errorf("pid %d: %w: %.0f %% are done", pid, ErrWinding, 100*share)
		}
	}
}
