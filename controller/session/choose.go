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

// largeReach is from how many methods within reach on Scheme A is the better choice where
// D can't be had: C's first plan takes longer then than A's, and threads wait for it
// (docs/figures/servers.md).
const largeReach = 10_000

// errIdle says why Scheme D is no choice for a root that is not called.
var errIdle = errors.New("no root was called while the target was observed, and its first calls are to be recorded whole")

// beginObserving takes the first reading where the recording's scheme may need it. A
// program that was launched has nothing to be observed yet.
func (s *Session) beginObserving(rec Recording) error {
	s.watching = nil
	switch {
	case rec.Scheme == "D":
		return s.observe()
	case rec.Scheme != spec.SchemeAuto:
		return nil
	case s.running != nil:
		return errors.New("the program has only just begun")
	}
	return s.observe()
}

// chooseScheme decides on a scheme where the recording leaves that open. problem is what
// stood in the way of observing. A recording that asks for D gets it or an error.
func (s *Session) chooseScheme(ctx context.Context, rec Recording, began time.Time, ids []cha.MethodID, problem error) (string, error) {
	if rec.Scheme != spec.SchemeAuto && rec.Scheme != "D" {
		return rec.Scheme, nil
	}
	if problem == nil {
		problem = s.observed(ctx, began, max(rec.Observe, 0))
	}
	if problem == nil && rec.Scheme == spec.SchemeAuto && !s.anyActive(ids) {
		problem = errIdle
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if problem == nil {
		return "D", nil
	}
	s.watching = nil
	if rec.Scheme == "D" {
		return "", fmt.Errorf("scheme D has to read from the target's memory which methods are active: %w; --scheme auto takes another one", problem)
	}
	name := "C"
	if s.running == nil {
		if err := s.do(ctx, func() {
			end := s.loop.analyse()
			defer end()
			if reach, _ := scheme.Reach(s.loop.h, ids, largeReach); reach >= largeReach {
				name = "A"
			}
		}); err != nil {
			return "", err
		}
	}
	s.log.Debug("scheme", "name", name, "not D", problem)
	return name, s.do(ctx, func() {
		why := fmt.Sprintf("Scheme %s was chosen in place of D, in which no thread waits: %v.", name, problem)
		if s.running == nil {
			s.loop.stats.notes = append(s.loop.stats.notes, why)
		}
	})
}

// anyActive tells whether one of several methods is active.
func (s *Session) anyActive(ids []cha.MethodID) bool {
	for _, id := range ids {
		if s.watching.observer.Active(vmstructs.KeyOf(id.Class.Name, id.Name, id.Desc)) {
			return true
		}
	}
	return false
}
