package cli

import (
	"context"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// scrape samples a JVM for whoever asks the page's server for pprof: as rivulet sample does
// without options.
func (a *app) scrape(ctx context.Context, pid int, length time.Duration) (*export.Report, error) {
	s, err := a.sample(ctx, pid, (&sampleFlags{}).plain(), time.Now())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	ended, err := s.run(ctx)
	if err != nil && s.collector.Samples() == 0 {
		return nil, err
	}
	return s.report(ended), nil
}
