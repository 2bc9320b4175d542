package session

import (
	"context"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// outlineUnread learns from the target's memory which methods those classes have whose
// code is not read, since nothing is to be retransformed. What they call stays unknown.
func (s *Session) outlineUnread(ctx context.Context) error {
	unread := map[string]bool{}
	if err := s.do(ctx, func() {
		s.loop.h.Classes(func(m *cha.ClassMirror) bool {
			if m.Methods == nil && !m.Excluded && !m.Hidden {
				unread[m.ID.Name] = true
			}
			return true
		})
	}); err != nil || len(unread) == 0 {
		return err
	}
	classes, err := vmstructs.Classes(s.proc.PID)
	if err != nil {
		s.log.Debug("classes without a file can't be read from outside", "classes", len(unread), "reason", err)
		return nil
	}
	known := map[string][]cha.Method{}
	for i := range classes {
		if unread[classes[i].Name] {
			known[classes[i].Name] = roots.Outlined(classes[i].Methods)
		}
	}
	return s.do(ctx, func() {
		for name, methods := range known {
			for _, m := range s.loop.h.Named(name) {
				if m.Methods == nil && !m.Excluded {
					c := *m
					c.Methods, c.NoBytes = methods, true
					s.loop.h.Add(&c)
				}
			}
		}
	})
}
