package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler"
)

// autoSource is the best source that is possible.
const autoSource = "auto"

// sourceNames are the sources of samples, the best first.
var sourceNames = []string{autoSource, sampler.Perf, sampler.Ptrace, jfrName, dumpsName}

// checkSource refuses what a source can't do.
func checkSource(source string, wall bool) error {
	switch {
	case source != "" && !slices.Contains(sourceNames, source):
		return usage("--source %q: there is only %s", source, enumerate(sourceNames))
	case source == jfrName && wall:
		return usage("--source jfr and --wall: %w; give --source threaddump", errOnlyRunning)
	}
	return nil
}

// samplers open the sources of samples.
type samplers struct {
	outside func(pid int, o sampler.Options) (sampling, error) // by perf, or ptrace
	jfr     func(ctx context.Context, pid int, o sampler.Options, why error) (sampling, error)
	dumps   func(ctx context.Context, pid int, o sampler.Options, why error) (sampling, error)
}

var theSamplers = samplers{
	outside: func(pid int, o sampler.Options) (sampling, error) { return opened(sampler.Open(pid, o)) },
	jfr: func(ctx context.Context, pid int, o sampler.Options, why error) (sampling, error) {
		return opened(openJFR(ctx, pid, o, why))
	},
	dumps: func(ctx context.Context, pid int, o sampler.Options, why error) (sampling, error) {
		return opened(openDumps(ctx, pid, o, why))
	},
}

// opened is no nil pointer in an interface.
func opened[S sampling](s S, err error) (sampling, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// open opens the source that is wanted, or else the best one: from outside, where nothing
// has to be done by the JVM; then Flight Recorder; then thread dumps, for which all threads stand still.
func (s samplers) open(ctx context.Context, pid int, o sampler.Options) (sampling, error) {
	switch o.Source {
	case jfrName:
		return s.jfr(ctx, pid, o, nil)
	case dumpsName:
		return s.dumps(ctx, pid, o, nil)
	case sampler.Perf, sampler.Ptrace:
		return s.outside(pid, o)
	}
	o.Source = ""
	from, why := s.outside(pid, o)
	if why == nil || errors.Is(why, os.ErrProcessDone) || ctx.Err() != nil {
		return from, why
	}
	from, err := s.jfr(ctx, pid, o, why)
	if err == nil || ctx.Err() != nil {
		return from, err
	}
	from, failed := s.dumps(ctx, pid, o, fmt.Errorf("%w; by Flight Recorder: %w", why, err))
	if failed != nil {
		return nil, why // what can be done about that helps more
	}
	return from, nil
}

// whySource says why samples are taken as they are; "" where that is by perf, or as it was asked for.
func whySource(st *sampler.Stats) string {
	switch {
	case st.NoPerf == "":
		return ""
	case st.Source == jfrName, st.Source == dumpsName:
		return "sampling from outside is not possible: " + oneLine(st.NoPerf)
	}
	return "there are no perf events: " + oneLine(st.NoPerf)
}

// howSampled says in one line how samples are taken, and why so.
func howSampled(st *sampler.Stats) string {
	by := st.Source
	if st.Event != "" {
		by += " (" + st.Event + ")"
	}
	out := fmt.Sprintf("%s by %s at %d Hz", map[string]string{export.CPUMode: "time on a core", export.WallMode: "all threads"}[st.Mode], by, st.Hz)
	if why := whySource(st); why != "" {
		out += ", since " + why
	}
	return out
}
