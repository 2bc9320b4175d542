package session

import (
	"time"

	"github.com/rivulet-profiler/rivulet/controller/agent"
	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/shm"
)

// withData runs f unless the data file is gone.
func (s *Session) withData(f func(d *shm.File)) {
	s.mapped.RLock()
	defer s.mapped.RUnlock()
	if s.data.Memory() != nil {
		f(s.data)
	}
}

// Exits implements agent.Recorder.
func (s *Session) Exits() (out []agent.Exit) {
	s.withData(func(d *shm.File) {
		for _, e := range d.Exits() {
			out = append(out, agent.Exit(e))
		}
	})
	return out
}

// WatchExits implements agent.Recorder.
func (s *Session) WatchExits(watch bool, over, hold time.Duration) {
	s.withData(func(d *shm.File) {
		if watch {
			d.WatchExits(over, hold)
		} else {
			d.LeaveExits()
		}
	})
}

// Release implements agent.Recorder.
func (s *Session) Release(e agent.Exit) { s.withData(func(d *shm.File) { d.Release(shm.Exit(e)) }) }

// Unheld implements agent.Recorder.
func (s *Session) Unheld() (n int64) {
	s.withData(func(d *shm.File) { n = d.Unheld() })
	return n
}

// Mark implements agent.Recorder.
func (s *Session) Mark(text string) {
	now := s.now()
	s.do(s.ctx, func() { //nolint:errcheck // the session has ended, and with it the timeline
		if e := s.loop.events(); e != nil && e.marks != nil && s.loop.isRecording() == nil {
			e.marks.Add(event.Mark{Kind: event.Agent, Name: text, Start: now, Count: 1, Pause: -1})
		}
	})
}
