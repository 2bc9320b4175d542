package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// Phases of a [Live]. docs/formats-web.md has them, too.
const (
	Idle        = "idle"
	Attaching   = "attaching"
	Attached    = "attached" // a root can be chosen
	Starting    = "starting" // calibrating and instrumenting
	InRecording = "recording"
	Stopping    = "stopping"
	Stopped     = "stopped"   // detached; the recording can be looked at
	Comparing   = "comparing" // schemes are tried one after another
)

// ErrBusy reports that another action is under way. Wait until it is done.
var ErrBusy = errors.New("another action is under way; wait until it is done")

// ErrPhase is wrapped by errors about an action that is not possible in the current phase,
// such as stopping what was not started. [Live.State] tells the phase.
var ErrPhase = errors.New("not possible now")

const (
	// frameEvery is the shortest time between two frames, and frameShare the
	// share of the time that reading them may take.
	frameEvery = 500 * time.Millisecond
	frameShare = 10
	// diagnoseAfter is how long a root may stay uncalled before somebody looks
	// why, which costs the target a thread dump.
	diagnoseAfter = 3 * time.Second
	actionLimit   = 3 * time.Minute
)

// A Live is one JVM and the recording of it. It goes through the phases [Idle], [Attached],
// [InRecording] and [Stopped].
//
// All methods are safe for concurrent use. Of the methods that change the phase, one runs at
// a time; others return [ErrBusy] meanwhile. The goroutine that calls [Live.Run] owns the
// reading of frames.
type Live struct {
	backend   Backend
	log       hclog.Logger
	changed   func()      // tells the clients
	watched   func() bool // whether anybody looks
	numbering *Numbering

	grace  context.Context // done when the target is no longer waited for
	giveUp func()          // ends it

	act     sync.Mutex // held by the action under way
	reading sync.Mutex // held while a frame is read; orders it before Finish

	suggesting sync.Mutex // held while somebody looks for roots
	listing    sync.Mutex // held while methods are listed again

	mu           sync.Mutex
	closing      bool  // no action begins any more
	left         error // that of the last recording's end, while closing
	phase        string
	paused       bool
	warming      bool    // what is recorded now will be forgotten
	endWarmup    func()  // ends the waiting for that; nil when nothing is recorded
	session      Session // nil when not attached
	target       export.Target
	options      AttachOptions // how the session was opened
	recording    spec.Recording
	methods      []Method
	listed       time.Time // when methods were
	started      time.Time
	frame        *Frame
	frames       int64
	moments      []*moment // of the recording that is on
	rate         float64   // calls a second between the last two frames
	next         time.Time // when the next frame may be read
	diagnosis    string
	redefinition string // what the first redefinition is going to cost; "" once it was
	diagnosed    bool
	report       *export.Report
	notKept      *Frame // the last recording, where it is no snapshot
	journal      []Entry
	entries      int64
	snapshots    []*Snapshot
	sampled      *Snapshot // the samples by which roots were suggested last; on no list, nil if there are none
	saved        int64
	uses         int64
	trial        *trial // nil but while schemes are compared
	compared     int64  // number of the last comparison, 0 if there was none

	app      []string       // immutable
	store    store          // immutable
	defaults spec.Recording // immutable
}

// An Entry is a line of the log.
type Entry struct {
	Seq   int64     `json:"seq"`
	Time  time.Time `json:"time"`
	Level string    `json:"level"` // "info", "warn", "error"
	Text  string    `json:"text"`
}

const maxEntries = 500

// A Config says what a [Live] is made of.
type Config struct {
	Backend Backend
	Log     hclog.Logger // nil logs nothing

	// App are the application's packages, as a person has named them, see [application.New]; nil
	// leaves them to its list of frameworks.
	App []string

	// Changed is called, from any goroutine, when something is new. It must not
	// block, nor call the Live. nil tells nobody.
	Changed func()
	// Watched tells whether anybody looks: if not, frames are read only when
	// somebody asks for one. nil is nobody.
	Watched func() bool

	// Defaults are what a recording has where nobody chooses something else.
	Defaults spec.Recording

	// Snapshots is the folder that snapshots are kept in, made when it is needed;
	// "" keeps them in memory.
	Snapshots string
}

// New makes a Live that is attached to nothing, and lists the snapshots in its folder. It
// starts no goroutine: call [Live.Run].
func New(c Config) *Live {
	l := &Live{backend: c.Backend, log: c.Log, changed: c.Changed, watched: c.Watched, numbering: newNumbering(), phase: Idle, store: store{c.Snapshots}, app: c.App, defaults: c.Defaults.WithDefaults()}
	if l.log == nil {
		l.log = hclog.NewNullLogger()
	}
	if l.changed == nil {
		l.changed = func() {}
	}
	if l.watched == nil {
		l.watched = func() bool { return false }
	}
	l.grace, l.giveUp = context.WithCancel(context.Background())
	l.listStored()
	return l
}

// Logf adds a line to the log, and tells whoever is to be told of changes. level is "info",
// "warn" or "error".
func (l *Live) Logf(level, format string, args ...any) {
	text := export.Clean(fmt.Sprintf(format, args...))
	l.mu.Lock()
	l.entries++
	l.journal = append(l.journal, Entry{l.entries, time.Now(), level, text})
	if len(l.journal) > maxEntries {
		l.journal = slices.Clone(l.journal[len(l.journal)-maxEntries/2:])
	}
	l.mu.Unlock()
	l.log.Info("live", "level", level, "text", text)
	l.changed()
}

// Entries are the lines of the log after a sequence number, 0 for all. Of the log at least the
// last 250 lines are kept.
func (l *Live) Entries(after int64) []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, _ := slices.BinarySearchFunc(l.journal, after, func(e Entry, a int64) int { return int(e.Seq - a - 1) })
	return slices.Clone(l.journal[i:])
}

// begin starts an action in one of the phases and says which phase it is
// during it. end must be called with the phase afterwards.
func (l *Live) begin(what, during string, in ...string) (end func(phase string), err error) {
	if !l.act.TryLock() {
		return nil, ErrBusy
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		l.act.Unlock()
		return nil, fmt.Errorf("%w: can't %s while Rivulet ends", ErrPhase, what)
	}
	if !slices.Contains(in, l.phase) {
		l.act.Unlock()
		return nil, fmt.Errorf("%w: can't %s while %s", ErrPhase, what, l.phase)
	}
	l.phase = during
	l.changed()
	return func(phase string) {
		l.mu.Lock()
		l.phase = phase
		l.mu.Unlock()
		l.act.Unlock()
		l.changed()
	}, nil
}

// Defaults are what a recording has where nobody chooses something else: what the command
// line said. It is a copy.
func (l *Live) Defaults() spec.Recording { return l.defaults.Clone() }

// Attach opens a session in a JVM. Errors are [ErrBusy], wrap [ErrPhase], or are the backend's.
func (l *Live) Attach(ctx context.Context, pid int, how AttachOptions) error {
	end, err := l.begin("attach", Attaching, Idle, Stopped)
	if err != nil {
		return err
	}
	l.keepLastAgain() //nolint:errcheck // it has been said when it ended
	if err := l.attach(ctx, pid, how); err != nil {
		l.mu.Lock()
		before := Idle
		if l.target.PID != 0 { // its recording can still be looked at
			before = Stopped
		}
		l.mu.Unlock()
		end(before)
		return err
	}
	end(Attached)
	return nil
}

func (l *Live) attach(ctx context.Context, pid int, how AttachOptions) error {
	ctx, cancel := l.withTimeout(ctx)
	defer cancel()
	begin := time.Now()
	s, err := l.backend.Attach(ctx, pid, how, func(text string) { l.Logf("warn", "%s", text) })
	if err != nil {
		l.Logf("error", "%v", err)
		return err
	}
	methods, err := s.Methods(ctx)
	if err != nil {
		l.Logf("error", "%v", err)
		return errors.Join(err, s.Close())
	}
	l.mu.Lock()
	l.session, l.target, l.options, l.methods, l.listed = s, s.Target(), how, methods, time.Now()
	l.frame, l.moments, l.rate, l.report, l.started, l.diagnosis = nil, nil, 0, nil, time.Time{}, ""
	l.redefinition = ""
	if f, ok := s.(Forecaster); ok {
		l.redefinition = f.Redefinition()
	}
	l.mu.Unlock()
	l.Logf("info", "attached to process %d, %s, in %.1f s; %d methods of the application are loaded", pid, s.Target().Main, time.Since(begin).Seconds(), len(methods))
	return nil
}

// Start begins a recording. After a recording that has ended, it first attaches to the same
// JVM again. Errors are [ErrBusy], wrap [ErrPhase] or [ErrInput], or are the session's; after
// one of these the session has ended.
func (l *Live) Start(ctx context.Context, r spec.Recording) error {
	r = r.WithDefaults()
	end, err := l.begin("start", Starting, Attached, Stopped)
	if err != nil {
		return err
	}
	l.keepLastAgain() //nolint:errcheck // it has been said when it ended
	l.mu.Lock()
	s, pid, how := l.session, l.target.PID, l.options
	l.mu.Unlock()
	if r.Memory > 0 && r.Memory != how.Memory {
		how.Memory = r.Memory
		if s != nil { // the room's size is chosen when the agent comes
			if err := l.leave(ctx); err != nil {
				end(Stopped)
				return err
			}
			s = nil
		}
	}
	if s == nil {
		if err := l.attach(ctx, pid, how); err != nil {
			end(Stopped)
			return err
		}
		l.mu.Lock()
		s = l.session
		l.mu.Unlock()
	}
	ctx, cancel := l.withTimeout(ctx)
	defer cancel()
	if err := s.Start(ctx, r); err != nil {
		l.Logf("error", "%v", err)
		if errors.Is(err, ErrInput) {
			end(Attached)
			return err
		}
		err = errors.Join(err, l.leave(context.WithoutCancel(ctx)))
		end(Stopped)
		return err
	}
	l.mu.Lock()
	l.recording, l.started, l.paused, l.diagnosis, l.diagnosed, l.redefinition = r, time.Now(), false, "", false, ""
	l.warming = r.HasWarmup()
	l.mu.Unlock()
	means := fmt.Sprintf("recording: %s, %s", export.SchemeName(r.Scheme), export.ClockName(r.Clock))
	if h, ok := s.(interface{ How() string }); ok {
		means = h.How()
	}
	l.Logf("info", "%s", means)
	endWarmup := l.warm(s, r)
	l.mu.Lock()
	l.endWarmup = endWarmup
	l.mu.Unlock()
	end(InRecording)
	return nil
}

// Targets lists the JVMs of this machine. Errors are the backend's.
func (l *Live) Targets(ctx context.Context) ([]Target, error) { return l.backend.Targets(ctx) }

// Demo starts the sample program, or finds it if it runs already. Errors are the backend's.
func (l *Live) Demo(ctx context.Context) (Demo, error) {
	d, err := l.backend.Demo(ctx)
	if err != nil {
		l.Logf("error", "%v", err)
		return d, err
	}
	l.Logf("info", "the sample program runs as process %d", d.PID)
	return d, nil
}
