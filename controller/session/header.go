package session

// Header is the text form of the data file's header, for a bug report; "" when the session has
// ended.
func (s *Session) Header() (text string) {
	s.mapped.RLock()
	defer s.mapped.RUnlock()
	if s.data.Memory() == nil {
		return ""
	}
	s.guard(func() { text = s.data.Text() })
	return text
}
