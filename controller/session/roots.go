package session

import (
	"context"

	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/controller/roots"
)

// catalog is a view of the classes that are known.
func (l *loop) catalog() *roots.Catalog { return roots.New(l.h, l.loaders, l.s.cfg.Look) }

// findable asks the target which of its loaders could find a class that isn't
// loaded; 0 stands for the JDK's own.
func (s *Session) findable(ctx context.Context, class string) (loaders []uint32, err error) {
	s.finding.Lock()
	defer s.finding.Unlock()
	err = s.wait(ctx, func(done func()) {
		s.loop.found = func(ids []uint32) {
			loaders = ids
			done()
		}
		s.loop.send(&link.Find{Name: class})
	})
	return loaders, err
}
