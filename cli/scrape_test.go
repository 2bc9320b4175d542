package cli

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// TestScrape samples what a scraper asks for, as rivulet sample does without options.
func TestScrape(t *testing.T) {
	f := newFake()
	a := &app{backend: f, stdout: io.Discard, stderr: io.Discard}
	r, err := a.scrape(context.Background(), 4711, time.Minute)
	if err != nil || r.Sampling == nil || r.Sampling.Samples != 101 || r.Sampling.Mode != export.CPUMode || f.sampled.Hz != usualHz {
		t.Errorf("%v %+v", err, r)
	}
	if got := f.steps(); got != "sample close" {
		t.Error("steps:", got)
	}
	if _, err := a.scrape(context.Background(), 1, time.Minute); err == nil {
		t.Error("there is no process 1 here")
	}
}
