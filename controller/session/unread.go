package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// ErrUnread is wrapped where a root can't be looked at, and can be recorded: its class
// was defined from memory, and only a retransformation yields its code, which who only
// looks (Config.Look) leaves alone.
var ErrUnread = errors.New("it has no class file")

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
			known[classes[i].Name] = outlined(classes[i].Methods)
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

// outlined are methods without what they call.
func outlined(methods []vmstructs.Method) []cha.Method {
	out := make([]cha.Method, 0, len(methods))
	for _, f := range methods {
		m := cha.Method{Name: f.Name, Desc: f.Desc, Access: f.Access}
		m.HasCode = !m.IsNative() && !m.IsAbstract()
		out = append(out, m)
	}
	return out
}

// unreadRoot says why a root's class can't be looked at.
func (l *loop) unreadRoot(m *cha.ClassMirror) string {
	if l.s != nil && l.s.cfg.Look {
		return fmt.Sprintf("%s was defined from memory, and has no class file. A recording reads its code from the JVM, which retransforms it once; nothing is retransformed to look only", m.ID)
	}
	return fmt.Sprintf("the bytes of %s can't be had", m.ID)
}
