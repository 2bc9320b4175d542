package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
)

// answerWithin is how long the JVM has for its answer after the caller has given up.
const answerWithin = 5 * time.Second

// loadAgent has the JVM load the agent. A caller that gives up waits for the JVM's answer all the same, for a while: a JVM
// that finds no jar where it has put one on its class path never looks there again.
func (s *Session) loadAgent(ctx context.Context) error {
	patient, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(answerWithin, end) })()
	err := s.vm.LoadAgent(patient, s.room.Boot, s.room.Dir)
	var refused *attach.Error
	if errors.As(err, &refused) && refused.Code == attach.AgentStartError && s.room.SharesBoot() && s.room.AgentError() == "" && ctx.Err() == nil {
		if err := s.room.OwnBoot(s.bundle.Boot); err != nil {
			return fmt.Errorf("pid %d: %w", s.proc.PID, err)
		}
		err = s.vm.LoadAgent(patient, s.room.Boot, s.room.Dir)
	}
	s.room.Unanswered = (patient.Err() != nil || errors.Is(err, attach.ErrNoAnswer)) && s.vm.Alive() == nil
	switch {
	case ctx.Err() == nil:
		return err
	case err == nil || errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("pid %d: attach: %w", s.proc.PID, context.Cause(ctx))
	case patient.Err() != nil:
		return &attach.Error{
			PID: s.proc.PID, Kind: attach.ErrNoAnswer, Cause: "the JVM's attach listener did not load the agent in time",
			Fix: "another tool may keep it busy, or the JVM is overloaded: try again",
		}
	}
	return err
}
