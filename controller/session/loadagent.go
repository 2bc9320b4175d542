package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
)

// ErrJarStays reports that a JVM has not answered before Rivulet left. The folder of the agent's jar stays in its /tmp.
var ErrJarStays = errors.New("the agent's jar (4 KB) stays until the next recording ends, since the JVM may be about to read it")

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
	var stays error
	if s.room.Unanswered && s.room.SharesBoot() {
		stays = fmt.Errorf("%s: %w", s.room.Boot, ErrJarStays)
	}
	switch {
	case ctx.Err() == nil:
		return err
	case err == nil || errors.Is(ctx.Err(), context.Canceled):
		return errors.Join(fmt.Errorf("pid %d: attach: %w", s.proc.PID, context.Cause(ctx)), stays)
	case patient.Err() != nil:
		return errors.Join(&attach.Error{
			PID: s.proc.PID, Kind: attach.ErrNoAnswer, Cause: "the JVM's attach listener did not load the agent in time",
			Fix: "another tool may keep it busy, or the JVM is overloaded: try again",
		}, stays)
	}
	return err
}
