package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/spec"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
	"github.com/rivulet-profiler/rivulet/scheme"
)

// LargeReach is from how many methods within reach on Scheme A is the better choice where
// D can't be had: C's first plan takes longer then than A's, and threads wait for it
// (docs/figures/servers.md).
const LargeReach = 10_000

// ErrUnobservable is wrapped by the error of a recording that asks for Scheme D where
// that can't be had.
var ErrUnobservable = errors.New("scheme D has to read from the target's memory which methods are active")

// FewCalls of the roots say little about what they call.
const FewCalls = 20

// errLaunched says that there was nothing to be observed.
var errLaunched = errors.New("the program has only just begun")

// errIdle says why Scheme D is no choice for a root that is not called.
var errIdle = errors.New("no root was called while the target was observed, and its first calls are to be recorded whole")

// beginObserving begins to take the first reading where the recording's scheme may need
// it. A program that was launched has nothing to be observed yet.
func (s *Session) beginObserving(rec Recording) earlyLook {
	switch {
	case rec.Scheme != "D" && rec.Scheme != spec.SchemeAuto:
		return earlyLook{}
	case rec.Scheme == spec.SchemeAuto && s.running != nil:
		return earlyLook{wait: func() error { return errLaunched }}
	case s.early.wait != nil:
		return s.early
	}
	return earlyLook{s.observe(), time.Now()}
}

// An earlyLook is a first reading that may not be there yet.
type earlyLook struct {
	wait  func() error // nil: there is none
	began time.Time
}

// chooseScheme decides on a scheme where the recording leaves that open, when the first
// reading is there. A recording that asks for D gets it or an error.
func (s *Session) chooseScheme(ctx context.Context, rec Recording, ids []cha.MethodID, first earlyLook) (string, error) {
	if first.wait == nil {
		return rec.Scheme, nil
	}
	s.stage.begin("observing", 0)
	problem := s.observable(ctx, rec, ids, first)
	if err := errors.Join(ctx.Err(), context.Cause(s.ctx)); err != nil {
		return "", err
	}
	if problem == nil {
		return "D", nil
	}
	name := "C"
	err := s.do(ctx, func() {
		l := &s.loop
		s.watching = nil
		if rec.Scheme == "D" || errors.Is(problem, errLaunched) {
			return
		}
		if l.isLarge(ids) {
			name = "A"
		}
		l.stats.notes = append(l.stats.notes, fmt.Sprintf("Scheme %s was chosen in place of D, in which no thread waits: %v.", name, problem))
	})
	if rec.Scheme == "D" && err == nil {
		err = fmt.Errorf("%w: %w; --scheme auto takes another one", ErrUnobservable, problem)
	}
	s.log.Debug("scheme", "name", name, "in place of D", problem)
	return name, err
}

// observable says why Scheme D can't be had, or is no choice where that is left open. It
// waits until the target has been observed.
func (s *Session) observable(ctx context.Context, rec Recording, ids []cha.MethodID, first earlyLook) error {
	open := rec.Scheme == spec.SchemeAuto
	if open && len(ids) == 0 { // their classes are not loaded
		return errIdle
	}
	if err := first.wait(); err != nil {
		return err
	}
	if err := s.observed(ctx, first.began, rec.Observe); err != nil || !open {
		return err
	}
	return s.suits(ctx, ids)
}

// suits says why Scheme D does not suit the roots: none of them is active, or they were
// called a few times only. Then an invocation is long, and what it is going to call need
// not have been active while the target was observed. In a large subgraph that is the
// lesser evil.
func (s *Session) suits(ctx context.Context, ids []cha.MethodID) error {
	active, calls := false, int64(0)
	for _, id := range ids {
		k := vmstructs.KeyOf(id.Class.Name, id.Name, id.Desc)
		active = active || s.watching.observer.Active(k)
		if n := s.watching.observer.Calls(k); n >= 0 && calls < FewCalls {
			calls += n
		} else {
			calls = FewCalls
		}
	}
	large := false
	if err := s.do(ctx, func() { large = s.loop.isLarge(ids) }); err != nil {
		return err
	}
	return suited(active, calls, large)
}

// suited is the rule of suits.
func suited(active bool, calls int64, large bool) error {
	switch {
	case !active:
		return errIdle
	case calls < FewCalls && !large:
		return fmt.Errorf("the roots were called %d times while the target was observed, so most of what they call may not have been seen (--observe)", calls)
	}
	return nil
}

// isLarge tells whether a subgraph is large, see LargeReach.
func (l *loop) isLarge(ids []cha.MethodID) bool {
	end := l.analyse()
	defer end()
	reach, _ := scheme.Reach(l.h, ids, LargeReach)
	return reach >= LargeReach
}
