package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/spec"
	"github.com/rivulet-profiler/rivulet/web"
)

// A sampleBackend samples JVMs where another one attaches to them.
type sampleBackend struct {
	*liveBackend
	o     sampleOptions
	begun time.Time
}

// Attach implements live.Backend: the session samples from its start on.
func (b *sampleBackend) Attach(ctx context.Context, pid int, _ live.AttachOptions, _ func(string)) (live.Session, error) {
	s, err := b.app.sample(ctx, pid, b.o, b.begun)
	if err != nil {
		return nil, err
	}
	return &sampleSession{sampled: s, done: make(chan struct{})}, nil
}

// A sampleSession is a JVM that is sampled, in the terms of package live.
type sampleSession struct {
	*sampled
	done chan struct{} // closed when sampling has ended

	mu    sync.Mutex
	end   context.CancelFunc // nil before the start
	ended string
	err   error
}

// errSampled answers what needs a recording.
var errSampled = fmt.Errorf("%w: this page samples, and records nothing; rivulet serve does", live.ErrInput)

// How says what the session does.
func (s *sampleSession) How() string {
	st := s.source.Stats()
	return fmt.Sprintf("sampling by %s at %d Hz", st.Source, st.Hz)
}

// Target implements live.Session.
func (s *sampleSession) Target() export.Target { return s.collector.Target() }

// Methods implements live.Session: a sampler knows none that it did not meet.
func (s *sampleSession) Methods(context.Context) ([]live.Method, error) { return nil, nil }

// Start implements live.Session. Of the recording's options none count.
func (s *sampleSession) Start(context.Context, spec.Recording) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil {
		return errors.New("it is sampled already")
	}
	ctx, end := context.WithCancel(context.Background())
	s.end = end
	go func() {
		defer close(s.done)
		ended, err := s.run(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended, s.err = ended, err
	}()
	return nil
}

// Warm implements live.Session.
func (s *sampleSession) Warm(context.Context) error { return nil }

// Preview implements live.Session.
func (s *sampleSession) Preview(context.Context, spec.Recording) (*export.Preview, error) {
	return nil, errSampled
}

// Suggest implements live.Session.
func (s *sampleSession) Suggest(context.Context, bool) (*live.Suggestions, error) {
	return nil, errSampled
}

// Done implements live.Session.
func (s *sampleSession) Done() <-chan struct{} { return s.done }

// Snapshot implements live.Session.
func (s *sampleSession) Snapshot(context.Context) (*export.Report, error) { return s.report(""), nil }

// Diagnose implements live.Session.
func (s *sampleSession) Diagnose(context.Context) string { return "" }

// Actions implements live.Session.
func (s *sampleSession) Actions() map[string]func(context.Context, string) error {
	return map[string]func(context.Context, string) error{
		"reset": func(context.Context, string) error { s.collector.Reset(); return nil },
	}
}

// Finish implements live.Session.
func (s *sampleSession) Finish(context.Context) (*export.Report, error) {
	s.Close() //nolint:errcheck // it is told below
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.report(s.ended), s.err
}

// Close implements live.Session.
func (s *sampleSession) Close() error {
	s.mu.Lock()
	end := s.end
	s.mu.Unlock()
	if end == nil {
		return s.close()
	}
	end()
	<-s.done
	return nil
}

// sampleOnPage is sample with its tree on a page while it grows.
func (a *app) sampleOnPage(pid int, o sampleOptions, length time.Duration, listen string, packages []string, begun time.Time) (*export.Report, error) {
	b := &sampleBackend{liveBackend: &liveBackend{app: a}, o: o, begun: begun}
	return a.servePage(web.Config{Backend: b, App: packages}, listen, b.liveBackend, func(ctx context.Context, l *live.Live) (web.Opening, error) {
		if err := l.Attach(ctx, pid, live.AttachOptions{}); err != nil {
			return web.Opening{}, err
		}
		return web.Opening{}, l.Start(ctx, spec.Recording{})
	}, length)
}
