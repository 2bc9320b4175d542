package session

// HoldEvents keeps the session from reading events until release is called.
func (s *Session) HoldEvents() (release func()) {
	s.events.mu.Lock()
	return s.events.mu.Unlock
}
