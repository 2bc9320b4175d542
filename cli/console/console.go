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
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// ErrQuit is returned by [Console.Exec] for the command quit.
var ErrQuit = errors.New("quit")

// ErrUsage is wrapped by errors about commands that make no sense, or that name something
// that does not exist. It has no text of its own.
var ErrUsage = errors.New("")

// A Config says what a [Console] is made of. All functions are needed.
type Config struct {
	Live *live.Live
	PID  int // of the JVM

	// Save writes a report to a file, in a format or in that of the file's name.
	Save func(path, format string, r *export.Report) error
	// Load reads a report that was saved as JSON.
	Load func(path string) (*export.Report, error)

	App []string // the application's packages, as of [live.Config]

	Color bool // in what commands print
	Width int  // columns that tables are cut to; 0 cuts nothing
}

// A Console is one terminal session. Its methods are safe for concurrent use.
type Console struct {
	cfg  Config
	live *live.Live

	mu  sync.Mutex
	set spec.Recording // what the next recording begins with

	unfolded bool // levels of frameworks are shown
}

// New makes a console whose first recording begins with next. Its JVM is attached to by
// [Console.Attach].
func New(cfg Config, next spec.Recording) *Console {
	return &Console{cfg: cfg, live: cfg.Live, set: next.Clone()}
}

// Attach opens the session in the JVM. Errors are those of [live.Live.Attach].
func (c *Console) Attach(ctx context.Context) error {
	return c.live.Attach(ctx, c.cfg.PID, live.AttachOptions{Memory: c.Settings().Memory})
}

// Live is the model that the console works on.
func (c *Console) Live() *live.Live { return c.live }

// Settings is a copy of what the next recording begins with.
func (c *Console) Settings() spec.Recording {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.set.Clone()
}

// Set gives an option of the next recording a value, or adds one to a list; "clear" empties
// a list. Errors are [*spec.Error] and wrap [ErrUsage].
func (c *Console) Set(o *spec.Option, value string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.IsList() && value == "clear" {
		o.Clear(&c.set)
		return nil
	}
	return senseless(o.Set(&c.set, value))
}

// AddRoot adds a root for the next recording, unless it is one already. The error is a
// [*spec.Error] that says why the text can't be a root.
func (c *Console) AddRoot(text string) error { return c.Set(spec.Find("root"), text) }

// DropRoot removes a root; false if it was none.
func (c *Console) DropRoot(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.set.Roots)
	c.set.Roots = slices.DeleteFunc(c.set.Roots, func(r string) bool { return r == text })
	return len(c.set.Roots) < n
}

// Start begins a recording with the settings, and attaches first if needed. Errors wrap
// [ErrUsage] if no root is chosen, are [*spec.Error] if options exclude each other, or are
// those of [live.Live.Start].
func (c *Console) Start(ctx context.Context) error {
	s := c.Settings()
	if len(s.Roots) == 0 {
		return wrong("no root is chosen: root CLASS.METHOD chooses one, find WORDS searches them")
	}
	if err := s.Validate(); err != nil {
		return senseless(err)
	}
	if c.live.Phase() == live.Idle {
		if err := c.Attach(ctx); err != nil {
			return err
		}
	}
	return c.live.Start(ctx, s)
}

// SetScheme chooses the scheme. A recording that is on ends, is kept as a snapshot, and
// another one begins with the same roots: classes instrumented by one scheme can't be used by
// another. After an error the choice is as before. Errors are as for
// [Console.Set], or those of
// [live.Live.SwitchScheme].
func (c *Console) SetScheme(ctx context.Context, scheme string) error {
	if scheme = strings.ToUpper(scheme); scheme == "AUTO" {
		scheme = "auto"
	}
	return c.switchOn("scheme", scheme, func() error { return c.live.SwitchScheme(ctx, scheme) })
}

// SetClock chooses the clock, also of a recording that is on. Errors are as for [Console.Set], or
// those of [live.Live.Do].
func (c *Console) SetClock(ctx context.Context, clock string) error {
	return c.switchOn("clock", clock, func() error { return c.live.Do(ctx, "clock", clock) })
}

// AddMode gives the methods that match a pattern a mode, "PATTERN=MODE", also in a recording
// that is on. Errors are as for [Console.Set], or those of [live.Live.Do].
func (c *Console) AddMode(ctx context.Context, rule string) error {
	return c.switchOn("mode", rule, func() error { return c.live.Do(ctx, "mode", rule) })
}

// switchOn sets an option, in a recording that is on by now.
func (c *Console) switchOn(option, value string, now func() error) error {
	o, trial := spec.Find(option), c.Settings()
	if err := o.Set(&trial, value); err != nil {
		return senseless(err)
	}
	if c.live.Phase() == live.InRecording {
		if err := now(); err != nil {
			return err
		}
	}
	return c.Set(o, value)
}

// senseless marks an error of package spec as [ErrUsage]; nil stays nil.
func senseless(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w%w", ErrUsage, err)
}

// wrong is an error about a command that makes no sense.
func wrong(format string, args ...any) error {
	return fmt.Errorf("%w"+format, append([]any{ErrUsage}, args...)...)
}
