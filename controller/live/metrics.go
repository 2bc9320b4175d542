package live

import (
	"context"
	"io"
)

// OpenMetrics writes rates and percentiles of the recording that is on, or of the last one, in the
// OpenMetrics text format, and what users' scripts emit. Errors are the session's, before anything is
// written, or the writer's.
func (l *Live) OpenMetrics(ctx context.Context, w io.Writer) error {
	r, err := l.RecentReport(ctx)
	if err != nil {
		return err
	}
	on := 0
	if p := l.Phase(); p == InRecording {
		on = 1
	}
	if _, err := io.WriteString(w, "# TYPE rivulet_recording gauge\n# HELP rivulet_recording Whether a recording is on; if not, all else is of the last one.\nrivulet_recording "+string('0'+rune(on))+"\n"); err != nil {
		return err
	}
	if r != nil {
		if err := r.OpenMetrics(w, false); err != nil {
			return err
		}
	}
	l.mu.Lock()
	s := l.session
	l.mu.Unlock()
	if with, ok := s.(Agents); ok {
		return with.OpenMetrics(w)
	}
	_, err = io.WriteString(w, "# EOF\n")
	return err
}
