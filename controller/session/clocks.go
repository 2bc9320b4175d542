package session

import (
	"github.com/rivulet-profiler/rivulet/controller/clock"
	"github.com/rivulet-profiler/rivulet/controller/cputime"
)

// startTicker starts the tick clock unless it runs. It is the loop's.
func (s *Session) startTicker() {
	if s.ticker != nil {
		return
	}
	s.ticker = clock.NewTicker(s.data, s.now)
	s.wg.Go(func() { s.guard(func() { s.ticker.Run(s.ctx) }) })
}

// startCPU has looks tell computing from waiting until the session ends.
func (s *Session) startCPU() {
	s.cpu = cputime.NewInside(s.proc.PID, s.vm, s.data, s.log)
	s.wg.Go(func() { s.cpu.Run(s.ctx) })
}
