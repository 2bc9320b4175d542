package cli

import (
	"context"
	"fmt"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// Start implements live.Session.
func (s liveSession) Start(ctx context.Context, r spec.Recording) error {
	return asInput(s.attached.Start(ctx, r))
}

// Preview implements live.Session.
func (s liveSession) Preview(ctx context.Context, r spec.Recording) (*export.Preview, error) {
	p, err := s.DryRun(ctx, r)
	return p, asInput(err)
}

const noSuggestion = "samples show no method of the program's that takes time and is entered"

// Suggest implements live.Session: by samples where these can be had and find something, else by
// thread dumps, unless they are not allowed.
func (s liveSession) Suggest(ctx context.Context, dumps bool) (*live.Suggestions, error) {
	why := ""
	if s.suggestBySamples != nil {
		found, err := s.suggestBySamples(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil && len(found.Roots) > 0:
			return found, nil
		case err == nil && !dumps:
			found.Why = noSuggestion
			return found, nil
		case err == nil:
			why = noSuggestion
		default:
			why = oneLine(err.Error())
		}
	}
	if !dumps {
		return &live.Suggestions{Why: why, Roots: []live.Suggestion{}}, nil
	}
	found, err := s.attached.Suggest(ctx)
	if err != nil {
		return nil, err
	}
	out := &live.Suggestions{Why: why, Looks: found.Looks, Seconds: found.Time.Seconds(), Busy: found.Busy, Threads: found.Threads, Roots: []live.Suggestion{}}
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
