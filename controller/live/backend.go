package live

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// ErrInput is wrapped by errors about a request that can't be fulfilled, such as a root that
// no class has. Nothing was done; ask for something else.
var ErrInput = errors.New("refused")

// ErrFullHeap is wrapped by errors about a JVM whose heap is full, which [AttachOptions.FullHeap] would attach to.
var ErrFullHeap = errors.New("heap full")

// AttachOptions are how a session is opened.
type AttachOptions struct {
	Memory   int64 // the room for trees in bytes, 0 for the default
	FullHeap bool  // even into a JVM whose heap is full
}

// A Backend finds JVMs and attaches to them. Its methods must be safe for concurrent use.
type Backend interface {
	// Targets lists the JVMs of this machine.
	Targets(ctx context.Context) ([]Target, error)
	// Attach opens a session. tell gets what the user should know before it is done. Errors wrap [ErrFullHeap], or say
	// what failed.
	Attach(ctx context.Context, pid int, how AttachOptions, tell func(string)) (Session, error)
	// Demo starts the sample program, or finds the one that it started before,
	// and says how it is profiled. It lives as long as the backend.
	Demo(ctx context.Context) (Demo, error)
}

// A Demo is the sample program while it runs.
type Demo struct {
	PID  int    `json:"pid"`
	Root string `json:"root"` // a root to begin with
}

// A Forecaster is a [Session] that knows what a recording is going to cost the JVM.
type Forecaster interface {
	// Redefinition is a sentence, without a full stop, on the first redefinition of a class
	// in this JVM, where that throws away all compiled code; else "".
	Redefinition() string
}

// A Target is a JVM of this machine.
type Target struct {
	PID        int       `json:"pid"`
	User       string    `json:"user"`
	Java       string    `json:"java"` // "" if unknown
	Main       string    `json:"main"`
	Started    time.Time `json:"started"`
	Attachable bool      `json:"attachable"`
	Reason     string    `json:"reason,omitempty"` // why not, with the way out
}

// A Method is a method of the application, in a loaded class.
type Method struct {
	Name   string `json:"name"` // pkg.Outer$Inner.method(descriptor)return
	Loader string `json:"loader"`
	Flags  string `json:"flags"`            // "public static"
	Reason string `json:"reason,omitempty"` // why it can't be a root; or what it means as one, if Root
	Root   bool   `json:"root"`             // it can be a root
}

// Suggestions are methods that may be good roots, the best first. They come from samples, or
// where these can't be had, from a few thread dumps; then Samples is 0, and Why says why.
type Suggestions struct {
	Samples int64  `json:"samples,omitempty"`
	Why     string `json:"why,omitempty"`

	Roots   []Suggestion `json:"roots"`
	Looks   int          `json:"looks"`   // thread dumps
	Seconds float64      `json:"seconds"` // that they took in all
	Busy    int          `json:"busy"`    // threads that computed or moved meanwhile
	Threads int          `json:"threads"` // threads that there were

	// By samples: their report; where it can be looked at, as the source of queries; and
	// what recording each method that was met and can be a root is likely to cost.
	Report *export.Report    `json:"-"`
	Source int64             `json:"source,omitempty"`
	Prices map[string]string `json:"prices,omitempty"`
}

// A Suggestion is a method of the application on the stacks of busy threads.
type Suggestion struct {
	Root    string `json:"root"`    // pkg.Class.method
	Stacks  int    `json:"stacks"`  // of busy threads that it was on
	Of      int    `json:"of"`      // stacks of busy threads that were seen
	Threads int    `json:"threads"` // that had it on their stacks
	Thread  string `json:"thread"`  // one of them
	Always  bool   `json:"always"`  // it never left their stacks: most likely a loop that was begun long ago

	// By samples, instead of the figures above.
	Share float64 `json:"share,omitempty"` // of the samples
	Low   float64 `json:"share_low,omitempty"`
	High  float64 `json:"share_high,omitempty"` // of the 95 % interval
	Rate  float64 `json:"rate,omitempty"`       // entries a second, at least
	Price string  `json:"price,omitempty"`      // "low", "medium" or "high"
}

// Agents is a [Session] that has users' scripts beside its recordings.
type Agents interface {
	// Agents say how the scripts of the recording have gone so far.
	Agents() []export.Agent
	// OpenMetrics writes what they emit in the OpenMetrics text format.
	OpenMetrics(w io.Writer) error
}

// A Session is one attached JVM, or one that is sampled: then Snapshot's report has
// export.Report.Sampling. A session that has a method How() string says with it what its
// Start begins, for the log.
//
// Finish or Close must be called at the end, and nothing
// but Target after that. A [Live] calls Start, the functions of Actions, Finish and Close
// one at a time; it calls the other methods while one of these runs, too, and Snapshot
// never while Finish does. Errors that wrap [ErrInput] are about what was asked for.
type Session interface {
	// Target describes the JVM.
	Target() export.Target
	// Methods lists the methods of all the application's loaded classes.
	Methods(ctx context.Context) ([]Method, error)
	// Start begins a recording. After an error that wraps [ErrInput] it may be
	// called again, after any other the session is of no more use.
	Start(ctx context.Context, r spec.Recording) error
	// Warm waits until the warm-up that the recording begins with is over;
	// without one it returns at once.
	Warm(ctx context.Context) error
	// Preview says what Scheme A would instrument; nothing is. Errors about
	// what was asked for wrap [ErrInput].
	Preview(ctx context.Context, r spec.Recording) (*export.Preview, error)
	// Suggest looks for roots, by samples or, where it may, by a few thread dumps.
	Suggest(ctx context.Context, dumps bool) (*Suggestions, error)
	// Done is closed when the recording has ended by itself or the target has.
	Done() <-chan struct{}
	// Snapshot is the report so far, at no cost to the target.
	Snapshot(ctx context.Context) (*export.Report, error)
	// Diagnose says why no root invocation has been recorded; it costs the
	// target a thread dump. "" where there is nothing to say.
	Diagnose(ctx context.Context) string
	// Actions are what else can be done to a recording that is on, by name:
	// "pause", "resume", "reset", and with a value "clock", "scheme", "mode"
	// (PATTERN=MODE) and "roots" (a line for each). Those that it can't do are absent.
	Actions() map[string]func(ctx context.Context, value string) error
	// Finish ends the recording, restores the target and detaches. A report
	// beside an error is one that lacks something.
	Finish(ctx context.Context) (*export.Report, error)
	// Close detaches from a JVM that nothing was recorded of.
	Close() error
}
