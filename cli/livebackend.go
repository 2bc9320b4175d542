package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/rivulet-profiler/rivulet/controller/agent"
	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/spec"
	"github.com/rivulet-profiler/rivulet/jvmside"
	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
)

// A liveBackend is the commands' backend in the terms of package live, for the page and for
// the terminal session.
type liveBackend struct {
	app  *app
	java string // command for the sample program; "" is the first JDK found

	packages []string // the application's, as a person has named them

	agents []agent.Source                                        // scripts that run beside recordings
	steer  func(ctx context.Context, action, value string) error // by which they change these

	quiet bool         // stderr belongs to somebody else, who tells what happens
	log   hclog.Logger // with quiet, the session's

	mu   sync.Mutex
	demo *demoTarget // nil until it is asked for
}

// Targets implements live.Backend.
func (b *liveBackend) Targets(ctx context.Context) ([]live.Target, error) {
	found, err := b.app.backend.processes(ctx)
	if err != nil {
		return nil, err
	}
	var out []live.Target
	for _, p := range found {
		if errors.Is(p.Err, attach.ErrStarting) {
			p.Reason = "is starting" // it is going to be attachable; a long text would have the list move then
		}
		out = append(out, live.Target{
			PID: p.PID, User: export.Clean(p.User), Java: export.Clean(p.JavaVersion), Main: export.Clean(p.Main), Started: p.Started,
			Attachable: p.Attachable, Reason: export.Clean(p.Reason),
		})
	}
	return out, nil
}

// Attach implements live.Backend.
func (b *liveBackend) Attach(ctx context.Context, pid int, how live.AttachOptions, tell func(string)) (live.Session, error) {
	flush, unknown := b.app.backend.flush(ctx, pid)
	cfg := b.config(how.Memory, tell)
	cfg.FullHeap = cfg.FullHeap || how.FullHeap
	s, err := b.app.backend.attach(ctx, pid, cfg)
	switch {
	case errors.Is(err, session.ErrFullHeap):
		return nil, fullHeapError{err}
	case err != nil:
		return nil, err
	}
	s = withAgents(s, b.agents, tell)
	if with, ok := s.(*agentSession); ok {
		with.steer = b.steer
	}
	redefinition := ""
	if unknown == nil && flush.All() {
		redefinition = flush.String()
	}
	return liveSession{attached: s, redefinition: redefinition, suggestBySamples: func(ctx context.Context) (*live.Suggestions, error) {
		return b.app.suggestBySamples(ctx, pid, b.packages)
	}}, nil
}

// A fullHeapError says what the session's says.
type fullHeapError struct{ error }

func (e fullHeapError) Unwrap() []error { return []error{e.error, live.ErrFullHeap} }

// config is that of a session whose warnings go to tell, too.
func (b *liveBackend) config(memory int64, tell func(string)) session.Config {
	c := b.app.config(memory)
	c.Observe = true // a recording may come that needs it
	warn := c.Warn
	c.Warn = func(text string) { tell(text); warn(text) }
	if b.quiet {
		c.Warn, c.Log = tell, b.log
	}
	return c
}

// Demo implements live.Backend. The sample program ends with close.
func (b *liveBackend) Demo(context.Context) (live.Demo, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.demo != nil {
		select {
		case <-b.demo.done:
			b.demo.stop()
			b.demo = nil
		default:
		}
	}
	if b.demo == nil {
		java := b.java
		if java == "" {
			found, ok := jdk.Default()
			if !ok {
				return live.Demo{}, errors.New("no Java found: install one (on Debian and Ubuntu: apt install default-jdk-headless), or set JAVA_HOME")
			}
			java = found.Java()
		}
		t, err := startDemo(context.Background(), java, io.Discard)
		if err != nil {
			return live.Demo{}, err
		}
		b.demo = t
	}
	return live.Demo{PID: b.demo.pid(), Root: jvmside.DemoRoot}, nil
}

// close ends the sample program, if there is one.
func (b *liveBackend) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.demo != nil {
		b.demo.stop()
		b.demo = nil
	}
}

// A liveSession is a session in the terms of package live.
type liveSession struct {
	attached
	suggestBySamples func(context.Context) (*live.Suggestions, error) // nil: there is no sampler
	redefinition     string
}

// Redefinition implements live.Forecaster.
func (s liveSession) Redefinition() string { return s.redefinition }

// Target implements live.Session.
func (s liveSession) Target() export.Target { return export.Target(s.attached.Target()) }

// Methods implements live.Session.
func (s liveSession) Methods(ctx context.Context) ([]live.Method, error) {
	all, err := s.AllMethods(ctx)
	out := make([]live.Method, 0, len(all))
	for _, m := range all {
		out = append(out, live.Method{Name: m.Name, Loader: m.Loader, Flags: m.Flags, Reason: m.Reason, Root: m.Probeable || m.Abstract})
	}
	return out, err
}

// Timeline implements live.Timeliner.
func (s liveSession) Timeline(ctx context.Context, q event.Query) (*export.TimelineView, error) {
	t, ok := own(s.attached).(live.Timeliner)
	if !ok {
		return nil, export.ErrNoTimeline
	}
	return t.Timeline(ctx, q)
}

// Agents implements live.Agents.
func (s liveSession) Agents() []export.Agent {
	if a, ok := s.attached.(*agentSession); ok {
		return a.Agents()
	}
	return nil
}

// OpenMetrics implements live.Agents.
func (s liveSession) OpenMetrics(w io.Writer) error {
	if a, ok := s.attached.(*agentSession); ok {
		return a.OpenMetrics(w)
	}
	return (&agentSession{}).OpenMetrics(w)
}

// A modeSetter is a session that can give methods a mode while it records.
type modeSetter interface {
	SetMode(context.Context, spec.ModeRule) (changed int, err error)
}

// Actions implements live.Session.
func (s liveSession) Actions() map[string]func(context.Context, string) error {
	out := map[string]func(context.Context, string) error{}
	plain := func(name string, do func(context.Context) error) {
		out[name] = func(ctx context.Context, _ string) error { return do(ctx) }
	}
	of := own(s.attached)
	if p, ok := of.(interface{ Pause(context.Context) error }); ok {
		plain("pause", p.Pause)
	}
	if p, ok := of.(interface{ Resume(context.Context) error }); ok {
		plain("resume", p.Resume)
	}
	if p, ok := of.(interface{ Reset(context.Context) error }); ok {
		plain("reset", p.Reset)
	}
	if p, ok := of.(interface {
		SetClock(context.Context, string) error
	}); ok {
		out["clock"] = p.SetClock
	}
	if p, ok := of.(interface {
		SetScheme(context.Context, string) error
	}); ok {
		out["scheme"] = p.SetScheme
	}
	if p, ok := of.(interface {
		SetRoots(context.Context, []string) error
	}); ok {
		out["roots"] = func(ctx context.Context, value string) error {
			return asInput(p.SetRoots(ctx, strings.Split(value, "\n")))
		}
	}
	if p, ok := of.(modeSetter); ok {
		out["mode"] = func(ctx context.Context, value string) error {
			rule, err := spec.ParseModeRule(value)
			if err == nil {
				_, err = p.SetMode(ctx, rule)
			}
			return asInput(err)
		}
	}
	return out
}
