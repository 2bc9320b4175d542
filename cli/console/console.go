// Package console is a terminal session with one JVM, as a set of commands: to
// search methods, choose roots, record, look, compare and save. A script is a
// line for each command ([Console.Script]); the screen of package tui carries
// out the same ones.
//
// The recording, the rate at which it is read, and the snapshots are those of
// [live.Live], as on the page. Of commands that change the recording, one runs at a
// time; others get [live.ErrBusy] meanwhile.
package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/filter"
	"github.com/rivulet-profiler/rivulet/controller/live"
)

// ErrQuit is returned by [Console.Exec] for the command quit.
var ErrQuit = errors.New("quit")

// ErrUsage is wrapped by errors about commands that make no sense, or that name something
// that does not exist. It has no text of its own.
var ErrUsage = errors.New("")

// A Config says what a [Console] is made of. All functions are needed.
type Config struct {
	Live   *live.Live
	PID    int   // of the JVM
	Memory int64 // bytes for trees, 0 for the default

	// ParseRoot checks a root's form and returns the one that reports use.
	ParseRoot func(string) (string, error)
	// Save writes a report to a file, in a format or in that of the file's name.
	Save func(path, format string, r *export.Report) error
	// Load reads a report that was saved as JSON.
	Load func(path string) (*export.Report, error)

	Wait  bool // roots are waited for whose class nobody knows yet
	Color bool // in what commands print
	Width int  // columns that tables are cut to; 0 cuts nothing
}

// Settings are what the next recording begins with.
type Settings struct {
	Roots      []string
	Filter     []string // rules, as live.Recording has them
	Scheme     string   // "A", "B", "C"
	Clock      string   // "tick", "precise"
	UntilCalls int64    // 0: until it is stopped
}

// A Console is one terminal session. Its methods are safe for concurrent use.
type Console struct {
	cfg  Config
	live *live.Live

	mu  sync.Mutex
	set Settings
}

// New makes a console. Its JVM is attached to by [Console.Attach].
func New(cfg Config, s Settings) *Console { return &Console{cfg: cfg, live: cfg.Live, set: s} }

// Attach opens the session in the JVM. Errors are those of [live.Live.Attach].
func (c *Console) Attach(ctx context.Context) error {
	return c.live.Attach(ctx, c.cfg.PID, c.cfg.Memory)
}

// Live is the model that the console works on.
func (c *Console) Live() *live.Live { return c.live }

// Settings returns a copy of the settings.
func (c *Console) Settings() Settings {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.set
	s.Roots, s.Filter = slices.Clone(s.Roots), slices.Clone(s.Filter)
	return s
}

// AddRoot adds a root for the next recording, unless it is one already. The error says why
// the text can't be a root, and is that of [Config].ParseRoot.
func (c *Console) AddRoot(text string) error {
	root, err := c.cfg.ParseRoot(text)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.set.Roots, root) {
		c.set.Roots = append(c.set.Roots, root)
	}
	return nil
}

// DropRoot removes a root; false if it was none.
func (c *Console) DropRoot(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.set.Roots)
	c.set.Roots = slices.DeleteFunc(c.set.Roots, func(r string) bool { return r == text })
	return len(c.set.Roots) < n
}

// addRule appends a rule of the filter.
func (c *Console) addRule(rule string) error {
	var s filter.Set
	if err := s.Parse(rule); err != nil {
		return fmt.Errorf("%w%w; patterns are com.acme.*, com.acme.**, com.acme.Foo, com.acme.Foo.get*", ErrUsage, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if rule != "--jdk" || !slices.Contains(c.set.Filter, rule) {
		c.set.Filter = append(c.set.Filter, rule)
	}
	return nil
}

// Start begins a recording with the settings, and attaches first if needed. Errors wrap
// [ErrUsage] if no root is chosen, or are those of [live.Live.Start].
func (c *Console) Start(ctx context.Context) error {
	s := c.Settings()
	if len(s.Roots) == 0 {
		return wrong("no root is chosen: root CLASS.METHOD chooses one, find WORDS searches them")
	}
	if c.live.Phase() == live.Idle {
		if err := c.Attach(ctx); err != nil {
			return err
		}
	}
	return c.live.Start(ctx, live.Recording{
		Roots: s.Roots, Scheme: s.Scheme, Clock: s.Clock, UntilCalls: s.UntilCalls, Filter: s.Filter, Wait: c.cfg.Wait,
	})
}

// SetScheme chooses the scheme. A recording that is on ends, is kept as a snapshot, and
// another one begins with the same roots: classes instrumented by one scheme can't be used by
// another. After an error the choice is as before. Errors wrap [ErrUsage], or are those of
// [live.Live.SwitchScheme].
func (c *Console) SetScheme(ctx context.Context, scheme string) error {
	scheme = strings.ToUpper(scheme)
	if !slices.Contains([]string{"A", "B", "C"}, scheme) {
		return wrong("scheme %q: there are A, B and C", scheme)
	}
	if c.live.Phase() == live.InRecording {
		if err := c.live.SwitchScheme(ctx, scheme); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set.Scheme = scheme
	return nil
}

// SetClock chooses the clock, also of a recording that is on. Errors wrap [ErrUsage], or are
// those of [live.Live.Do].
func (c *Console) SetClock(ctx context.Context, clock string) error {
	if clock != "tick" && clock != "precise" {
		return wrong("clock %q: there are tick and precise", clock)
	}
	if c.live.Phase() == live.InRecording {
		if err := c.live.Do(ctx, "clock", clock); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set.Clock = clock
	return nil
}

// wrong is an error about a command that makes no sense.
func wrong(format string, args ...any) error {
	return fmt.Errorf("%w"+format, append([]any{ErrUsage}, args...)...)
}
