package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// ErrBudgeted reports a recording with a budget for the slow-down: what its roots cost
// was weighed when it began, so they can't be replaced.
var ErrBudgeted = errors.New("a recording with --overhead keeps its roots; end it and begin another one")

// SetRoots replaces the roots of the recording that is on, and begins a new tree. Classes
// that have probes keep them: where the new roots lie below the old ones, their own classes
// alone are redefined. A recording that pauses is resumed. Invocations of the new roots
// count that begin when it returns, or later.
//
// Errors are [*spec.Error] where the roots make no sense, wrap [roots.ErrNoRoot], or are
// [ErrNotRecording] or [ErrBudgeted]: then nothing has changed. After an error of ctx the
// recording may be silent; another call, or Finish, goes on from there.
func (s *Session) SetRoots(ctx context.Context, roots []string) error {
	s.switching.Lock()
	defer s.switching.Unlock()
	var rec Recording
	if err := s.recording(ctx, func(l *loop) { rec = l.rec.Clone() }); err != nil {
		return err
	}
	if s.governing != nil {
		return ErrBudgeted
	}
	rec.Roots = slices.Clone(roots)
	if err := rec.Validate(); err != nil {
		return err
	}
	specs, ids, err := s.resolveRoots(ctx, rec)
	if err != nil {
		return err
	}
	if err := s.recording(ctx, func(l *loop) { l.uproot(specs, rec) }); err != nil {
		return err
	}
	if err := s.wait(ctx, func(done func()) {
		l := &s.loop
		end := l.analyse()
		p := l.scheme.(scheme.Rerooter).Reroot(ids)
		p.Append(l.moreCallbacks())
		end()
		l.s.log.Debug("other roots", "roots", len(ids), "steps", len(p.Steps))
		l.arm(p, done)
	}); err != nil {
		return err
	}
	if s.watching != nil {
		if err := s.settle(ctx); err != nil {
			return err
		}
		if err := s.recording(ctx, func(l *loop) { l.shut() }); err != nil {
			return err
		}
	}
	quiet := s.data.QuarterUsed() && s.awaitProbeExit(ctx)
	return s.anew(context.WithoutCancel(ctx), quiet, func(l *loop) {
		l.timeRoots()
		l.rec.warming, l.rec.warmed, l.rec.armed = false, 0, time.Now()
		l.begin()
	})
}

// uproot shuts the gate, and has roots begin nothing any more.
func (l *loop) uproot(specs []roots.Root, rec Recording) {
	l.shut()
	for id := int32(1); id < l.ledger.Len(); id++ {
		if mode := l.s.data.Mode(id); l.ledger.Method(id).Type == "" && mode&wire.ModeRoot != 0 {
			mode &^= wire.ModeRoot
			if m := l.h.Method(methodID(l.ledger.Method(id))); m != nil && m.Filtered {
				mode = wire.ModeOff // it had probes as a root alone
			}
			l.s.data.SetMode(id, mode)
		}
	}
	l.roots, l.rec.Roots = specs, rec.Roots
}

// timeRoots gives roots that were leaves the mode of other methods, and roots that were off
// the clock.
func (l *loop) timeRoots() {
	for id := int32(1); id < l.ledger.Len(); id++ {
		mode := l.s.data.Mode(id)
		if m := l.ledger.Method(id); m.Type == "" && mode&wire.ModeRoot != 0 && mode&^wire.ModeRoot != wire.ModeFresh {
			l.s.data.SetMode(id, wire.ModeRoot|l.modeOf(methodID(m), true))
		}
	}
}

// anew forgets everything recorded so far, and has f begin again, once the agent follows the objects of
// the new recording. The gate must be shut; quiet as in [loop.anew].
func (s *Session) anew(ctx context.Context, quiet bool, f func(l *loop)) error {
	if !s.survives() {
		return s.recording(ctx, func(l *loop) {
			l.anew(quiet)
			f(l)
		})
	}
	if err := s.recording(ctx, func(l *loop) { l.anew(quiet) }); err != nil {
		return err
	}
	s.untilFollowing(ctx)
	return s.recording(ctx, f)
}

// anew forgets everything recorded so far. The gate must be shut; quiet says that no thread
// is in a probe, so that the room can be used again.
func (l *loop) anew(quiet bool) {
	l.kind.forget()
	if quiet && !l.s.data.IsOpen() {
		if err := l.s.data.Reuse(); err != nil {
			l.stats.notes = append(l.stats.notes, "There is no room for another tree: "+err.Error())
		}
	}
	l.renew()
}
