package live

import "io"

// OpenMetrics writes what users' scripts emit in the OpenMetrics text format: of the recording
// that is on, or of none its end alone.
func (l *Live) OpenMetrics(w io.Writer) error {
	l.mu.Lock()
	s := l.session
	l.mu.Unlock()
	if with, ok := s.(Agents); ok {
		return with.OpenMetrics(w)
	}
	_, err := io.WriteString(w, "# EOF\n")
	return err
}
