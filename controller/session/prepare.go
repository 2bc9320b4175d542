package session

import (
	"context"
	"errors"

	"github.com/rivulet-profiler/rivulet/cha"
)

// bootClass is the one class of Rivulet's in the target that its class path knows.
const bootClass = "rivulet/boot/Boot1"

// Prepare has the JVM redefine one of Rivulet's own classes, with the bytes that it has.
// The first redefinition in a JVM that was started without an agent throws away all
// compiled code; later ones throw away only code of the classes that they change. So the
// price is paid now. Nothing else changes. Errors say what failed.
func (s *Session) Prepare(ctx context.Context) error {
	var system uint32
	known := false
	if err := s.do(ctx, func() {
		for id, name := range s.loop.loaders {
			if name == "app" {
				system, known = id, true
			}
		}
	}); err != nil {
		return err
	}
	if !known {
		return errors.New("the system class loader is not known")
	}
	before := 0
	if err := s.wait(ctx, func(done func()) {
		before = s.loop.stats.transforms
		s.loop.enqueue(&job{classes: []cha.ClassID{{Loader: system, Name: bootClass}}, all: true, bytes: true, done: func([]cha.ClassID) { done() }})
	}); err != nil {
		return err
	}
	var problem error
	err := s.do(ctx, func() {
		if s.loop.stats.transforms == before {
			problem = errors.New("the JVM did not redefine Rivulet's class")
		}
	})
	return errors.Join(err, problem)
}
