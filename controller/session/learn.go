package session

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// wait starts something on the loop and waits until it calls done, the
// session ends, or ctx does.
func (s *Session) wait(ctx context.Context, start func(done func())) error {
	finished := make(chan struct{})
	if err := s.do(ctx, func() { start(func() { close(finished) }) }); err != nil {
		return err
	}
	select {
	case <-finished:
		return nil
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// learn builds the mirrors of what is loaded. Classes that are loaded while
// it works are announced by the load hook; a class that was just being loaded
// when the hook was registered shows in a later listing.
func (s *Session) learn(ctx context.Context) error {
	start := time.Now()
	swift(os.Getpid(), nil)
	swift(s.proc.PID, func(name string) bool { return strings.HasPrefix(name, "rivulet-") })
	if c, err := attach.OpenCounters(s.proc.PID); err == nil {
		if err := s.do(ctx, func() { s.loop.counters = c }); err != nil {
			return errors.Join(err, c.Close())
		}
	}
	if _, err := s.list(ctx); err != nil {
		return err
	}
	if err := s.fetch(ctx); err != nil {
		return err
	}
	s.log.Debug("learned", "classes", s.loop.h.Len(), "took", time.Since(start))
	return nil
}

// list asks for the loaded classes and returns those that are news.
func (s *Session) list(ctx context.Context) (fresh []cha.ClassID, err error) {
	err = s.wait(ctx, func(done func()) {
		s.loop.fresh = nil
		s.loop.listed = func() {
			fresh = s.loop.fresh
			s.loop.fresh = nil
			done()
		}
		s.loop.send(wire.CmdList, s.loop.listBody())
	})
	return fresh, err
}

// fetch gets the bytes that the analysis lacks: first as resources of the
// classes' loaders, which costs the target little; what has none (proxies,
// generated classes) by a retransformation that changes nothing.
func (s *Session) fetch(ctx context.Context) error {
	for range 4 { // a superclass may want a superclass
		var need []cha.ClassID
		err := s.wait(ctx, func(done func()) {
			need = s.loop.h.NeedBytes()
			if len(need) == 0 {
				done()
				return
			}
			var w wire.Writer
			writeIDs(&w, need)
			s.loop.fetched = done
			s.loop.send(wire.CmdFetch, &w)
		})
		if err != nil || len(need) == 0 {
			return err
		}
		err = s.wait(ctx, func(done func()) {
			var rest []cha.ClassID
			for _, id := range need {
				m := s.loop.h.Class(id)
				if m == nil || m.Methods != nil {
					continue
				}
				if m.Fixed || m.Hidden || m.Excluded || s.cfg.Look {
					s.loop.unreadable(id)
					continue
				}
				rest = append(rest, id)
			}
			if len(rest) == 0 {
				done()
				return
			}
			s.loop.enqueue(&job{classes: rest, all: true, bytes: true, done: func([]cha.ClassID) {
				for _, id := range rest {
					s.loop.unreadable(id)
				}
				done()
			}})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// unreadable notes that a class's bytes can't be had, if they weren't.
func (l *loop) unreadable(id cha.ClassID) {
	if m := l.h.Class(id); m != nil && m.Methods == nil {
		c := *m
		c.NoBytes = true
		l.h.Add(&c)
	}
}
