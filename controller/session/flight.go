package session

import (
	"context"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/link"
)

// startFlight has Flight Recorder tell what the recording wants. The agent learns of its recording, and ends it
// if this process is gone.
func (s *Session) startFlight(ctx context.Context) {
	name, notes := s.flight.Start(ctx, s.metrics, s.proc.Major(), func() (*attach.VM, error) {
		s.stage.begin("starting Flight Recorder", 0)
		if s.vm != nil {
			return s.vm, nil
		}
		return attach.Open(ctx, s.proc.PID) // a program that was launched
	})
	_ = s.do(s.ctx, func() { // else it has ended
		s.loop.stats.notes = append(s.loop.stats.notes, notes...)
		if name != "" {
			s.loop.send(&link.Flight{Recording: name})
		}
	})
}

// dropFlight removes Flight Recorder's recording, if there is one.
func (s *Session) dropFlight() {
	if err := s.flight.Drop(); err != nil {
		s.log.Debug("Flight Recorder's recording", "error", err)
	}
}

// loadWaits are the waits of the loads so far.
func (s *Session) loadWaits(ctx context.Context) (waits []int64) {
	look := func() { waits = s.loop.loads.waited(s.data.SuspendedAt) }
	if s.do(ctx, look) != nil && s.ctx.Err() != nil {
		s.wg.Wait() // the loop has ended
		look()
	}
	return waits
}
