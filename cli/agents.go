package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/rivulet-profiler/rivulet/controller/agent"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// agentFlags name the scripts that run beside a recording.
type agentFlags struct {
	paths, args []string
	dir         string
	sources     []agent.Source // once read is called
}

func (f *agentFlags) add(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.paths, "agent", nil, "run this Starlark `FILE` beside the recording, in Rivulet's own process (docs/agents.md); may be repeated")
	fs.StringArrayVar(&f.args, "agent-arg", nil, "`NAME=VALUE` that scripts have in args; may be repeated")
	fs.StringVar(&f.dir, "agent-dir", ".", "`folder` below which the agent of NAME.star writes its files, to NAME.out")
}

// read reads and tries the scripts: their top levels run.
func (f *agentFlags) read(r *spec.Recording) error {
	args := map[string]string{}
	for _, a := range f.args {
		name, value, ok := strings.Cut(a, "=")
		if !ok || name == "" {
			return usage("--agent-arg %q: write NAME=VALUE", a)
		}
		args[name] = value
	}
	if len(f.paths) == 0 && len(f.args) > 0 {
		return usage("--agent-arg is for scripts: give --agent with it")
	}
	f.sources = nil
	for _, path := range f.paths {
		src, err := agent.Read(path, f.dir, args)
		if err != nil {
			return usage("--agent: %w", err)
		}
		f.sources = append(f.sources, src)
	}
	h, err := agent.New(f.sources, agent.Config{})
	if err != nil {
		return usage("--agent: %w", err)
	}
	if name := h.NeedsBytecodes(); name != "" && !slices.Contains(r.Count, metric.CountBytecodes) && !slices.Contains(r.Count, metric.CountBlocks) {
		return usage("agent %s is activated by executed bytecodes: give --count %s with it", name, metric.CountBytecodes)
	}
	return nil
}

// An agentSession is an attached JVM whose recordings have agents beside them, new ones each.
type agentSession struct {
	attached
	sources []agent.Source
	tell    func(string)
	steer   func(ctx context.Context, action, value string) error // nil: the session's own actions

	metrics agent.Metrics
	done    chan struct{} // closed when the recording ends by itself or by a script
	over    chan struct{} // closed by Finish
	mu      sync.Mutex
	host    *agent.Host // nil where nothing was recorded yet
	started bool        // the host was
}

// withAgents has scripts run beside the recordings of a session. What they print, and that one
// fails, goes to tell.
func withAgents(s attached, sources []agent.Source, tell func(string)) attached {
	if len(sources) == 0 {
		return s
	}
	return &agentSession{attached: s, sources: sources, tell: tell, done: make(chan struct{}), over: make(chan struct{})}
}

// own is a session without the agents beside it.
func own(s attached) attached {
	if a, ok := s.(*agentSession); ok {
		return a.attached
	}
	return s
}

// Start implements attached.
func (s *agentSession) Start(ctx context.Context, r spec.Recording) error {
	rec, ok := s.attached.(agent.Recorder)
	if !ok {
		return errors.New("agents can't look at this session")
	}
	h, err := agent.New(s.sources, agent.Config{Tell: s.tell, Steer: s.change, Metrics: &s.metrics})
	if err != nil {
		return err
	}
	warm := r.HasWarmup()
	if !warm {
		h.Prepare(rec)
	}
	if err := s.attached.Start(ctx, r); err != nil {
		rec.WatchExits(false, 0, 0)
		return err
	}
	s.mu.Lock()
	s.host = h
	s.mu.Unlock()
	go func() {
		select {
		case <-h.Stopped():
		case <-s.attached.Done():
		case <-s.over:
			return
		}
		close(s.done)
	}()
	if !warm {
		s.begin(h)
	}
	return nil
}

func (s *agentSession) begin(h *agent.Host) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started {
		s.started = true
		h.Start()
	}
}

// Warm implements attached. Agents begin when the warm-up is over.
func (s *agentSession) Warm(ctx context.Context) error {
	err := s.attached.Warm(ctx)
	s.mu.Lock()
	h, started := s.host, s.started
	s.mu.Unlock()
	if err != nil || h == nil || started {
		return err
	}
	h.Prepare(s.attached.(agent.Recorder))
	s.begin(h)
	return nil
}

// Done implements attached.
func (s *agentSession) Done() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.host == nil {
		return s.attached.Done()
	}
	return s.done
}

// Finish implements attached.
func (s *agentSession) Finish(ctx context.Context) (*export.Report, error) {
	s.mu.Lock()
	h := s.host
	s.started = true // from here on a warm-up that ends begins nothing
	s.mu.Unlock()
	if h != nil {
		close(s.over)
		h.Halt(ctx)
	}
	r, err := s.attached.Finish(ctx)
	if h != nil && r != nil {
		h.Finish(ctx, r)
	}
	return r, err
}

// Agents implements live.Agents.
func (s *agentSession) Agents() []export.Agent {
	s.mu.Lock()
	h := s.host
	s.mu.Unlock()
	if h == nil {
		return nil
	}
	return h.Results()
}

// OpenMetrics implements live.Agents.
func (s *agentSession) OpenMetrics(w io.Writer) error {
	_, err := s.metrics.WriteTo(w)
	return err
}

// busyFor is how long an agent waits for another action to end.
const busyFor = 2 * time.Second

// change carries out an action that a script wants.
func (s *agentSession) change(ctx context.Context, action, value string) error {
	if s.steer == nil {
		do := liveSession{attached: s.attached}.Actions()[action]
		if do == nil {
			return fmt.Errorf("this session knows no action %q", action)
		}
		return do(ctx, value)
	}
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := s.steer(ctx, action, value)
		if !errors.Is(err, live.ErrBusy) && !errors.Is(err, live.ErrPhase) || time.Since(begin) > busyFor {
			return err
		}
	}
}
