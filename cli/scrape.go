package cli

import (
	"context"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// scrape samples a JVM for whoever asks the page's server for pprof: as rivulet sample does
// without options.
func (a *app) scrape(ctx context.Context, pid int, length time.Duration) (*export.Report, error) {
	return a.sampleQuietly(ctx, pid, (&sampleFlags{}).plain(), length)
}
