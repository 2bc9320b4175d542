package cli

import (
	"context"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/session"
)

// CompareSchemes implements live.Comparer. What the command line said of single
// invocations, tasks and the warm-up is nothing for it.
func (b *liveBackend) CompareSchemes(ctx context.Context, pid int, t live.Trial, tell live.TrialProgress) (*export.Comparison, error) {
	rec, err := liveSession{base: b.base}.recording(t.Recording())
	if err != nil {
		return nil, err
	}
	rec.Events, rec.Slowest, rec.Over, rec.Timeline, rec.Follow, rec.CPU = false, 0, 0, 0, false, false
	rec.Warmup, rec.WarmupCalls = 0, 0
	out, err := b.app.backend.compare(ctx, pid, session.Comparing{
		Recording: rec, Schemes: t.Schemes, For: time.Duration(t.Seconds * float64(time.Second)), Config: b.config(t.Memory, tell.Warn),
		Say: tell.Step, Show: tell.Partial,
	})
	return out, asInput(err)
}
