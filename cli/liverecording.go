package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/session"
)

// recording is what the page asks for on top of what the command line said.
// Errors wrap [live.ErrInput].
func (s liveSession) recording(r live.Recording) (session.Recording, error) {
	rec := s.base
	fail := func(format string, args ...any) (session.Recording, error) {
		return rec, fmt.Errorf("%w: %w", live.ErrInput, fmt.Errorf(format, args...))
	}
	rec.Roots = nil
	for _, text := range r.Roots {
		root, err := parseRoot(text)
		if err != nil {
			return fail("%w", err)
		}
		rec.Roots = append(rec.Roots, root)
	}
	rec.Filter.Rules = slices.Clip(rec.Filter.Rules)
	for _, text := range r.Filter {
		if err := rec.Filter.Parse(text); err != nil {
			return fail("%w; patterns are com.acme.*, com.acme.**, com.acme.Foo, com.acme.Foo.get*", err)
		}
	}
	rec.Scheme, rec.Clock, rec.UntilCalls, rec.Wait = r.Scheme, r.Clock, r.UntilCalls, r.Wait
	for _, c := range []struct {
		what, value string
		known       []string
	}{
		{"natives", r.Natives, []string{"", session.NativesOff, session.NativesOn, session.NativesAll}},
		{"recursion", r.Recursion, []string{"", "expand", "fold"}},
		{"probes", r.Probes, []string{"", session.ProbesAuto, session.ProbesInlined, session.ProbesCalled}},
	} {
		if !slices.Contains(c.known, c.value) {
			return fail("%s %q: there is only %s", c.what, c.value, enumerate(c.known[1:]))
		}
	}
	if r.Natives != "" {
		rec.Natives = r.Natives
	}
	if r.Probes != "" {
		rec.Probes = r.Probes
	}
	if r.Recursion != "" {
		rec.Fold = r.Recursion == "fold"
	}
	if r.Warmup != "" {
		var w warmup
		if err := w.Set(r.Warmup); err != nil {
			return fail("warmup %q: %w", r.Warmup, err)
		}
		rec.Warmup, rec.WarmupCalls = w.length, w.calls
	}
	if r.Slowest < 0 || r.Slowest > event.MostSlowest {
		return fail("slowest %d: give a number from 1 to %d", r.Slowest, event.MostSlowest)
	}
	if r.Slowest > 0 {
		rec.Slowest, rec.Over = r.Slowest, 0
	}
	if r.Over != "" {
		over, err := time.ParseDuration(r.Over)
		if err != nil || over <= 0 || r.Slowest == 0 {
			return fail("over %q: it says which invocations the slowest ones are of; give a number of these, and a time above zero, such as 50ms", r.Over)
		}
		rec.Over = over
	}
	if r.Timeline {
		rec.Timeline = event.DefaultSlices
	}
	if r.Follow {
		rec.Follow = true
	}
	if rec.Fold && (rec.Events || rec.Slowest > 0 || rec.Timeline > 0) {
		return fail("recursion fold: events are of single invocations, which folding does not tell apart; leave out one of both")
	}
	return rec, nil
}

// Start implements live.Session.
func (s liveSession) Start(ctx context.Context, r live.Recording) error {
	rec, err := s.recording(r)
	if err != nil {
		return err
	}
	return asInput(s.attached.Start(ctx, rec))
}

// Preview implements live.Session.
func (s liveSession) Preview(ctx context.Context, r live.Recording) (*export.Preview, error) {
	rec, err := s.recording(r)
	if err != nil {
		return nil, err
	}
	p, err := s.DryRun(ctx, rec)
	return p, asInput(err)
}

// Suggest implements live.Session.
func (s liveSession) Suggest(ctx context.Context) (*live.Suggestions, error) {
	found, err := s.attached.Suggest(ctx)
	if err != nil {
		return nil, err
	}
	out := &live.Suggestions{Looks: found.Looks, Seconds: found.Time.Seconds(), Busy: found.Busy, Threads: found.Threads, Roots: []live.Suggestion{}}
	for _, r := range found.Roots {
		out.Roots = append(out.Roots, live.Suggestion{
			Root: r.Method, Stacks: r.Stacks, Of: found.Stacks, Threads: len(r.Threads), Thread: export.Clean(r.Threads[0]), Always: r.Always,
		})
	}
	return out, nil
}

// asInput marks errors about what was asked for.
func asInput(err error) error {
	if isBadInput(err) {
		return fmt.Errorf("%w: %w", live.ErrInput, err)
	}
	return err
}
