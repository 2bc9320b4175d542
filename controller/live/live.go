package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// Phases of a Live.
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

// ErrBusy reports that another action is under way.
var ErrBusy = errors.New("another action is under way; wait until it is done")

// ErrPhase reports an action that makes no sense at the moment.
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

// A Live is the one JVM that a server works on, and its recording. All its
// methods are safe for concurrent use; of those that change something, one
// runs at a time, and others meanwhile get [ErrBusy].
type Live struct {
	backend Backend
	log     hclog.Logger
	changed func()      // tells the clients
	watched func() bool // whether anybody looks
	book    *Book

	patience  context.Context // done when the target is no longer waited for
	impatient func()          // ends it

	act     sync.Mutex // held by the action under way
	reading sync.Mutex // held while a frame is read; orders it before Finish

	suggesting sync.Mutex // held while somebody looks for roots
	listing    sync.Mutex // held while methods are listed again

	mu        sync.Mutex
	closing   bool  // no action begins any more
	left      error // that of the last recording's end, while closing
	phase     string
	paused    bool
	warming   bool    // what is recorded now will be forgotten
	unwarm    func()  // ends the waiting for that; nil when nothing is recorded
	session   Session // nil when not attached
	target    export.Target
	memory    int64
	recording Recording
	methods   []Method
	listed    time.Time // when methods were
	started   time.Time
	frame     *Frame
	frames    int64
	rate      float64   // calls a second between the last two frames
	next      time.Time // when the next frame may be read
	diagnosis string
	diagnosed bool
	report    *export.Report
	unkept    *Frame // the last recording, where it is no snapshot
	journal   []Entry
	entries   int64
	snapshots []*Snapshot
	saved     int64
	uses      int64
	trial     *trial // nil but while schemes are compared
	compared  int64  // number of the last comparison, 0 if there was none

	store store // immutable
}

// An Entry is a line of the log.
type Entry struct {
	Seq   int64     `json:"seq"`
	Time  time.Time `json:"time"`
	Level string    `json:"level"` // "info", "warn", "error"
	Text  string    `json:"text"`
}

const mostEntries = 500

// A Config says what a Live stands on.
type Config struct {
	Backend Backend
	Log     hclog.Logger // nil logs nothing

	// Changed is called, from any goroutine, when something is new. It must not
	// block, nor call the Live. nil tells nobody.
	Changed func()
	// Watched tells whether anybody looks: if not, frames are read only when
	// somebody asks for one. nil is nobody.
	Watched func() bool

	// Snapshots is the folder that snapshots are kept in, made when it is needed;
	// "" keeps them in memory.
	Snapshots string
}

// New makes a Live that is attached to nothing, and lists the snapshots in its
// folder. It starts no goroutine: [Live.Run] keeps it going.
func New(c Config) *Live {
	l := &Live{backend: c.Backend, log: c.Log, changed: c.Changed, watched: c.Watched, book: newBook(), phase: Idle, store: store{c.Snapshots}}
	if l.log == nil {
		l.log = hclog.NewNullLogger()
	}
	if l.changed == nil {
		l.changed = func() {}
	}
	if l.watched == nil {
		l.watched = func() bool { return false }
	}
	l.patience, l.impatient = context.WithCancel(context.Background())
	l.recall()
	return l
}

// Say adds a line to the log; level is "info", "warn" or "error".
func (l *Live) Say(level, format string, args ...any) {
	text := export.Clean(fmt.Sprintf(format, args...))
	l.mu.Lock()
	l.entries++
	l.journal = append(l.journal, Entry{l.entries, time.Now(), level, text})
	if len(l.journal) > mostEntries {
		l.journal = slices.Clone(l.journal[len(l.journal)-mostEntries/2:])
	}
	l.mu.Unlock()
	l.log.Info("live", "level", level, "text", text)
	l.changed()
}

// Log returns the entries after a sequence number.
func (l *Live) Log(after int64) []Entry {
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

// Attach opens a session in a JVM; memory is in bytes, 0 for the default.
func (l *Live) Attach(ctx context.Context, pid int, memory int64) error {
	end, err := l.begin("attach", Attaching, Idle, Stopped)
	if err != nil {
		return err
	}
	l.keepUnkept() //nolint:errcheck // it has been said when it ended
	if err := l.attach(ctx, pid, memory); err != nil {
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

func (l *Live) attach(ctx context.Context, pid int, memory int64) error {
	ctx, cancel := l.limited(ctx)
	defer cancel()
	begin := time.Now()
	s, err := l.backend.Attach(ctx, pid, memory, func(text string) { l.Say("warn", "%s", text) })
	if err != nil {
		l.Say("error", "%v", err)
		return err
	}
	methods, err := s.Methods(ctx)
	if err != nil {
		l.Say("error", "%v", err)
		return errors.Join(err, s.Close())
	}
	l.mu.Lock()
	l.session, l.target, l.memory, l.methods, l.listed = s, s.Target(), memory, methods, time.Now()
	l.frame, l.rate, l.report, l.started, l.diagnosis = nil, 0, nil, time.Time{}, ""
	l.mu.Unlock()
	l.Say("info", "attached to process %d, %s, in %.1f s; %d methods of the application are loaded", pid, s.Target().Main, time.Since(begin).Seconds(), len(methods))
	return nil
}

// Start begins a recording. After a recording that has ended it attaches again
// to the same JVM first.
func (l *Live) Start(ctx context.Context, r Recording) error {
	end, err := l.begin("start", Starting, Attached, Stopped)
	if err != nil {
		return err
	}
	l.keepUnkept() //nolint:errcheck // it has been said when it ended
	l.mu.Lock()
	s, pid, memory := l.session, l.target.PID, l.memory
	l.mu.Unlock()
	if r.Memory > 0 && r.Memory != memory {
		memory = r.Memory
		if s != nil { // the room's size is chosen when the agent comes
			if err := l.leave(ctx); err != nil {
				end(Stopped)
				return err
			}
			s = nil
		}
	}
	if s == nil {
		if err := l.attach(ctx, pid, memory); err != nil {
			end(Stopped)
			return err
		}
		l.mu.Lock()
		s = l.session
		l.mu.Unlock()
	}
	ctx, cancel := l.limited(ctx)
	defer cancel()
	if err := s.Start(ctx, r); err != nil {
		l.Say("error", "%v", err)
		if errors.Is(err, ErrInput) {
			end(Attached)
			return err
		}
		err = errors.Join(err, l.leave(context.WithoutCancel(ctx)))
		end(Stopped)
		return err
	}
	l.mu.Lock()
	l.recording, l.started, l.paused, l.diagnosis, l.diagnosed = r, time.Now(), false, "", false
	l.warming = r.Warmup != ""
	l.mu.Unlock()
	l.Say("info", "recording with scheme %s and the %s clock", r.Scheme, r.Clock)
	unwarm := l.warm(s, r)
	l.mu.Lock()
	l.unwarm = unwarm
	l.mu.Unlock()
	end(InRecording)
	return nil
}

// SwitchScheme ends the recording that is on, which keeps it as a snapshot, and begins
// another one that differs by the scheme alone: classes that are instrumented one way
// can't be taken for those of another. What can't be kept goes on, or is left as it
// ended.
func (l *Live) SwitchScheme(ctx context.Context, scheme string) error {
	if !slices.Contains(schemes, scheme) {
		return fmt.Errorf("%w: scheme %q: there are A, B and C", ErrInput, scheme)
	}
	l.mu.Lock()
	r, phase := l.recording, l.phase
	l.mu.Unlock()
	if phase == InRecording && r.Scheme == scheme {
		return nil
	}
	if phase != InRecording {
		return fmt.Errorf("%w: can't switch the scheme while %s", ErrPhase, phase)
	}
	if err := l.roomForLive(); err != nil {
		return fmt.Errorf("the recording goes on, since it could not be kept: %w", err)
	}
	if err := l.Stop(ctx); err != nil {
		return err
	}
	if err := l.keepUnkept(); err != nil {
		return fmt.Errorf("the recording has ended and is not kept: %w; no other one is begun, so export it", err)
	}
	r.Scheme = scheme
	return l.Start(ctx, r)
}

// roomForLive says why the recording that is on can't be kept, as far as that can be
// told before it ends.
func (l *Live) roomForLive() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.store.dir != "" {
		return nil
	}
	nodes := int64(0)
	if l.frame != nil {
		nodes = l.frame.sums.Nodes
	}
	return l.full(nodes)
}

// Do carries out one of the session's further actions; value is what the clock
// or the scheme is to be, and else empty. A session that can't change its scheme is
// followed by another: see [Live.SwitchScheme].
func (l *Live) Do(ctx context.Context, name, value string) error {
	l.mu.Lock()
	followed := name == switchScheme && l.session != nil && l.session.Actions()[name] == nil
	l.mu.Unlock()
	if followed {
		return l.SwitchScheme(ctx, value)
	}
	end, err := l.begin(name, InRecording, InRecording)
	if err != nil {
		return err
	}
	defer end(InRecording)
	l.mu.Lock()
	do := l.session.Actions()[name]
	l.mu.Unlock()
	if do == nil {
		return fmt.Errorf("%w: this session knows no action %q", ErrPhase, name)
	}
	ctx, cancel := l.limited(ctx)
	defer cancel()
	if err := do(ctx, value); err != nil {
		l.Say("error", "%s: %v", name, err)
		return err
	}
	l.mu.Lock()
	switch name {
	case "pause":
		l.paused = true
	case "resume":
		l.paused = false
	case "clock":
		l.recording.Clock = value
	case "scheme":
		l.recording.Scheme = value
	}
	l.mu.Unlock()
	l.Say("info", "%s", strings.TrimSpace(name+" "+value))
	_, err = l.refresh(ctx)
	return err
}

// Report is that of the last recording that has ended; nil if there is none.
func (l *Live) Report() *export.Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.report
}
