package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
)

// ErrRestoring reports an agent that does not end restoring classes.
var ErrRestoring = errors.New("the agent of an earlier session still restores classes")

const (
	restoreLook    = 20 * time.Millisecond
	restoreLongest = 2 * time.Minute
)

// Restore waits until an agent that is restoring classes by itself has ended; progress, unless it
// is nil, is told the share that is done, 0 to 1. It returns at once where no agent is restoring.
// The error is that of ctx, or wraps [ErrRestoring].
func Restore(ctx context.Context, p attach.Process, progress func(share float64)) error {
	share := -1.0
	return AwaitRestored(ctx, p.PID, restoreLongest, func(s float64) {
		if progress != nil && s != share {
			share = s
			progress(s)
		}
	})
}

// AwaitRestored waits until no agent is restoring classes by itself, for so long at the most. The error is that
// of ctx, or wraps [ErrRestoring].
func AwaitRestored(ctx context.Context, pid int, longest time.Duration, progress func(share float64)) error {
	over := time.After(longest)
	for {
		share, restoring := attach.Restoring(pid)
		if !restoring {
			return nil
		}
		if progress != nil {
			progress(share)
		}
		select {
		case <-time.After(restoreLook):
		case <-ctx.Done():
			return ctx.Err()
		case <-over:
			return fmt.Errorf("pid %d: %w: %.0f %% are done", pid, ErrRestoring, 100*share)
		}
	}
}
