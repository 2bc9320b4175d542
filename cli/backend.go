package cli

import (
	"context"
	"errors"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/compare"
	"github.com/rivulet-profiler/rivulet/controller/doctor"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/controller/sampler"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/spec"
	"github.com/rivulet-profiler/rivulet/controller/threads"
)

// A backend is what the commands stand on: the real one, or a fake in tests.
type backend interface {
	processes(ctx context.Context) ([]attach.Process, error)
	attach(ctx context.Context, pid int, cfg session.Config) (attached, error)
	launch(ctx context.Context, argv []string, std session.Stdio, cfg session.Config) (launched, error)
	compare(ctx context.Context, pid int, c compare.Options) (*export.Comparison, error)
	compareRuns(ctx context.Context, argv []string, std session.Stdio, c compare.Options) (*export.Comparison, error)
	inspect(ctx context.Context, pid int) (attach.Process, error)
	outline(ctx context.Context, pid int) (listing, error)
	sample(ctx context.Context, pid int, o sampler.Options) (sampling, error)
	histogram(ctx context.Context, pid int, all bool) (*attach.Histogram, error)
	deadlocks(ctx context.Context, pid int) ([]threads.Deadlock, error)
	doctor(ctx context.Context, pid int, root string, cfg session.Config) []doctor.Check
	gather(ctx context.Context, pid int, root string, cfg session.Config) *doctor.Evidence
	flush(ctx context.Context, pid int) (doctor.Flush, error)
}

// A listing tells what is loaded: an [attached], or a *roots.Outline.
type listing interface {
	Classes(ctx context.Context, pattern string) ([]roots.ClassInfo, error)
	Methods(ctx context.Context, class string) ([]roots.MethodInfo, error)
}

// An attached is one attached JVM: *session.Session. Finish, FinishTiming or Close must be
// called at the end, and nothing but Target after that.
type attached interface {
	listing
	Target() session.Target
	Start(ctx context.Context, r spec.Recording) error
	Warm(ctx context.Context) error
	StartTiming(ctx context.Context, t session.Timing) error
	DryRun(ctx context.Context, r spec.Recording) (*export.Preview, error)
	Done() <-chan struct{}
	Progress() session.Progress
	Diagnose(ctx context.Context) string
	Finish(ctx context.Context) (*export.Report, error)
	TimedLooks(ctx context.Context) ([]session.TimedLook, error)
	FinishTiming(ctx context.Context) (*export.Timing, error)
	Prepare(ctx context.Context) error
	Close() error

	// What the live page needs beyond that.
	Snapshot(ctx context.Context) (*export.Report, error)
	AllMethods(ctx context.Context) ([]roots.MethodInfo, error)
	Suggest(ctx context.Context) (*roots.Suggestions, error)
}

type system struct{}

func (system) processes(ctx context.Context) ([]attach.Process, error) { return attach.List(ctx) }

func (system) attach(ctx context.Context, pid int, cfg session.Config) (attached, error) {
	s, err := session.Attach(ctx, pid, cfg)
	if err != nil {
		return nil, err // not a nil *Session in an interface
	}
	return s, nil
}

func (system) compare(ctx context.Context, pid int, c compare.Options) (*export.Comparison, error) {
	return compare.Running(ctx, pid, c)
}

func (system) compareRuns(ctx context.Context, argv []string, std session.Stdio, c compare.Options) (*export.Comparison, error) {
	return compare.Runs(ctx, argv, std, c)
}

func (system) inspect(_ context.Context, pid int) (attach.Process, error) { return attach.Inspect(pid) }

func (system) outline(_ context.Context, pid int) (listing, error) {
	o, err := roots.ReadOutline(pid)
	if err != nil {
		return nil, err // not a nil *Outline in an interface
	}
	return o, nil
}

func (system) sample(ctx context.Context, pid int, o sampler.Options) (sampling, error) {
	return theSamplers.open(ctx, pid, o)
}

func (system) histogram(ctx context.Context, pid int, all bool) (*attach.Histogram, error) {
	vm, err := attach.Open(ctx, pid)
	if err != nil {
		return nil, err
	}
	return vm.Histogram(ctx, all)
}

func (system) deadlocks(ctx context.Context, pid int) ([]threads.Deadlock, error) {
	l, err := lookThreads(ctx, pid, 0, lookHow{source: autoSource})
	if err != nil {
		return nil, err
	}
	return l.deadlocks, nil
}

func (system) doctor(ctx context.Context, pid int, root string, cfg session.Config) []doctor.Check {
	return doctor.Examine(ctx, pid, root, cfg)
}

func (system) gather(ctx context.Context, pid int, root string, cfg session.Config) *doctor.Evidence {
	return doctor.Gather(ctx, pid, root, cfg)
}

// isBadInput reports errors about things that don't exist or can't be what
// they are asked to be: the command was wrong, nothing failed.
func isBadInput(err error) bool {
	var wrong *spec.Error
	if errors.As(err, &wrong) {
		return true
	}
	for _, kind := range []error{roots.ErrNoRoot, attach.ErrNoProcess, attach.ErrNotJVM} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func (system) flush(ctx context.Context, pid int) (doctor.Flush, error) {
	p, err := attach.Inspect(pid)
	if err != nil {
		return doctor.Flush{}, err
	}
	return doctor.FlushOf(ctx, p)
}
