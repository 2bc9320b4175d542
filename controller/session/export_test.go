package session

import "context"

// Calibrations is how often the cost of the recording's clock has been found.
func (s *Session) Calibrations(ctx context.Context) (n int, err error) {
	err = s.do(ctx, func() {
		if c := s.loop.costs[s.data.mainMode()]; c != nil {
			n = len(c.found)
		}
	})
	return n, err
}

// HoldEvents keeps the session from reading events until release is called.
func (s *Session) HoldEvents() (release func()) {
	s.events.mu.Lock()
	return s.events.mu.Unlock
}
