package cli

import (
	"context"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/compare"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
)

// CompareSchemes implements live.Comparer.
func (b *liveBackend) CompareSchemes(ctx context.Context, pid int, t live.Trial, tell live.TrialProgress) (*export.Comparison, error) {
	out, err := b.app.backend.compare(ctx, pid, compare.Options{
		Recording: t.Recording, Schemes: t.Schemes, For: time.Duration(t.Seconds * float64(time.Second)), Config: b.config(t.Recording.Memory, tell.Warn),
		Say: tell.Step, Show: tell.Partial,
	})
	return out, asInput(err)
}
