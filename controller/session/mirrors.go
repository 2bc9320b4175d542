package session

import (
	"context"
	"os"
	"slices"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/controller/priority"
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

// mirrorClasses builds the mirrors of what is loaded. Classes that are loaded while
// it works are announced by the load hook; a class that was just being loaded
// when the hook was registered shows in a later listing.
func (s *Session) mirrorClasses(ctx context.Context, steps *stepLog) error {
	for _, tids := range priority.Threads(os.Getpid()) {
		priority.ShortSlices(tids...)
	}
	threads := priority.Threads(s.proc.PID)
	priority.ShortSlices(threads["rivulet-agent"]...)
	priority.ExactSleeps(threads["rivulet-agent"]...)
	priority.ShortSlices(threads["rivulet-watch"]...)
	if err := s.raiseThreads(ctx, threads); err != nil {
		return err
	}
	s.stage.begin("listing classes", 0)
	if _, err := s.list(ctx); err != nil {
		return err
	}
	steps.done("listing classes")
	if err := s.fetch(ctx); err != nil {
		return err
	}
	steps.done("reading class files")
	s.log.Debug("mirrored", "classes", s.loop.h.Len(), "analysis", s.loop.stats.analysis)
	return nil
}

// raiseThreads has the threads go before others that all threads wait for while
// classes are redefined: the agent's, and the JVM's own which does it in the end; and
// afterwards its compiler's.
func (s *Session) raiseThreads(ctx context.Context, threads map[string][]int) error {
	tids := threads["rivulet-agent"]
	var g *priority.Guard
	var c *priority.Compilers
	if vm := threads["VM Thread"]; len(vm) > 0 {
		tid := slices.Min(vm) // a thread that it has just begun has its name for a moment
		var err error
		c = priority.NewCompilers(s.proc.PID, threads)
		if g, err = priority.NewGuard(s.proc.PID, tid, c.Nice()); err == nil {
			tids = append(tids, tid)
		} else {
			c = nil
			s.log.Debug("the VM thread goes before nobody", "error", err)
		}
	}
	if err := s.do(ctx, func() {
		s.loop.boost.Add(tids...)
		s.loop.guard, s.loop.compilers = g, c
	}); err != nil {
		g.End()
		return err
	}
	return nil
}

// hasten has the loop and the agent go before others, where they may, until the
// returned function is called.
func (s *Session) hasten(ctx context.Context) (settle func()) {
	set := func(on bool) {
		_ = s.do(context.WithoutCancel(ctx), func() { s.loop.arming = on }) // a session that ends hastens nobody
	}
	set(true)
	return func() { set(false) }
}

// list asks for the loaded classes and returns those that are news.
func (s *Session) list(ctx context.Context) (fresh []cha.ClassID, err error) {
	s.listing.Lock()
	defer s.listing.Unlock()
	err = s.wait(ctx, func(done func()) {
		s.loop.fresh = nil
		s.loop.listed = func() {
			fresh = s.loop.fresh
			s.loop.fresh = nil
			done()
		}
		s.loop.send(&link.List{JDK: s.loop.opened.on})
	})
	return fresh, err
}

// fetch gets the bytes that the analysis lacks: from where the classes' code
// sources lie; as resources of their loaders, which costs the target little; what
// has none (proxies, generated classes) by a retransformation that changes nothing.
func (s *Session) fetch(ctx context.Context) error {
	s.stage.begin("reading class files", 0)
	for range 4 { // a superclass may want a superclass
		need, err := s.fetchFiles(ctx)
		if err == nil && len(need) == 0 {
			break
		}
		if err != nil {
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
	if s.cfg.Look {
		return s.outlineUnread(ctx)
	}
	return nil
}

// fetchFiles gets the class files that the analysis lacks, as far as there are
// any, and returns what it was about.
func (s *Session) fetchFiles(ctx context.Context) (need []cha.ClassID, err error) {
	var ask []cha.ClassID
	var known []placed
	if err := s.do(ctx, func() {
		l := &s.loop
		need = l.h.NeedBytes()
		for _, id := range need {
			if place := l.places[id]; place != "" {
				known = append(known, placed{id, place})
			} else {
				ask = append(ask, id)
			}
		}
		clear(l.places)
	}); err != nil {
		return nil, err
	}
	s.stage.more(len(need))
	rest := make(chan []cha.ClassID, 1)
	go func() { rest <- s.readPlaced(known) }()
	err = s.request(ctx, ask)
	missing := <-rest
	s.log.Debug("class files", "read", len(known)-len(missing), "asked for", len(ask)+len(missing))
	if err == nil {
		err = s.request(ctx, missing)
	}
	return need, err
}

// request asks the agent for class files.
func (s *Session) request(ctx context.Context, ids []cha.ClassID) error {
	if len(ids) == 0 {
		return nil
	}
	return s.wait(ctx, func(done func()) {
		s.loop.fetched = done
		s.loop.send(&link.Fetch{Classes: ids})
	})
}

// unreadable notes that a class's bytes can't be had, if they weren't.
func (l *loop) unreadable(id cha.ClassID) {
	if m := l.h.Class(id); m != nil && m.Methods == nil {
		c := *m
		c.NoBytes = true
		l.h.Add(&c)
	}
}
