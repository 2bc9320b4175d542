package web

import (
	"context"
	"errors"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// ErrRoot is wrapped by errors about roots that can't be any.
var ErrRoot = errors.New("root refused")

// A Backend finds JVMs and attaches to them.
type Backend interface {
	// Targets lists the JVMs of this machine.
	Targets(ctx context.Context) ([]Target, error)
	// Attach opens a session. memory is in bytes, 0 for the default. tell
	// gets what the user should know before it is done.
	Attach(ctx context.Context, pid int, memory int64, tell func(string)) (Session, error)
	// Demo starts the sample program, or finds the one that it started before,
	// and says how it is profiled. It lives as long as the backend.
	Demo(ctx context.Context) (Demo, error)
}

// A Demo is the sample program at work.
type Demo struct {
	PID  int    `json:"pid"`
	Root string `json:"root"` // a root to begin with
}

// A Target is a JVM that was found.
type Target struct {
	PID        int       `json:"pid"`
	User       string    `json:"user"`
	Java       string    `json:"java"` // "" if unknown
	Main       string    `json:"main"`
	Started    time.Time `json:"started"`
	Attachable bool      `json:"attachable"`
	Reason     string    `json:"reason,omitempty"` // why not, with the way out
}

// A Method is one of the application's, in a loaded class.
type Method struct {
	Name   string `json:"name"` // pkg.Outer$Inner.method(descriptor)return
	Loader string `json:"loader"`
	Flags  string `json:"flags"`            // "public static"
	Reason string `json:"reason,omitempty"` // why it can't be a root; or what it means as one, if Root
	Root   bool   `json:"root"`             // it can be a root
}

// A Recording says what to record.
type Recording struct {
	Roots      []string `json:"roots"`              // pkg.Class.method, or with a descriptor
	Scheme     string   `json:"scheme"`             // "A", "B" or "C"
	Clock      string   `json:"clock"`              // "tick" or "precise"
	UntilCalls int64    `json:"until_calls"`        // 0 is never
	Wait       bool     `json:"wait"`               // for a root whose class nobody knows yet
	Timeline   bool     `json:"timeline,omitempty"` // keep one; records events
	Filter     []string `json:"filter,omitempty"`   // rules in order: "--include PATTERN", "--exclude PATTERN", "--jdk"
}

// A Session is one attached JVM. Finish or Close must be called at the end,
// and nothing but Target after that.
type Session interface {
	Target() export.Target
	// Methods lists the methods of all the application's loaded classes.
	Methods(ctx context.Context) ([]Method, error)
	// Start begins a recording. After an error that wraps [ErrRoot] it may be
	// called again, after any other the session is of no more use.
	Start(ctx context.Context, r Recording) error
	// Done is closed when the recording has ended by itself or the target has.
	Done() <-chan struct{}
	// Snapshot is the report so far, at no cost to the target.
	Snapshot(ctx context.Context) (*export.Report, error)
	// Room says how many bytes of the room for trees are taken, and how many
	// there are.
	Room() (used, most int64)
	// Diagnose says why no root invocation has been recorded; it costs the
	// target a thread dump. "" where there is nothing to say.
	Diagnose(ctx context.Context) string
	// Actions are what else can be done to a recording that is on, by name:
	// "pause", "resume", "reset", and with a value "clock" and "scheme". Those
	// that it can't do are absent.
	Actions() map[string]func(ctx context.Context, value string) error
	// Finish ends the recording, restores the target and detaches. A report
	// beside an error is one that lacks something.
	Finish(ctx context.Context) (*export.Report, error)
	Close() error
}
