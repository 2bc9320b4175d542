package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// An Exit is the end of a root invocation, the last one of a thread record.
type Exit struct {
	Record   int64  // number of the record
	Epoch    uint32 // of the recording; another one counts Returned from 0
	Thread   int64  // id of the thread that has it
	Returned int64  // root calls that have ended in this record
	Took     time.Duration
	Held     bool // the thread waits until it is released
}

// A Recorder is the recording that scripts look at.
type Recorder interface {
	// Snapshot is the report so far.
	Snapshot(ctx context.Context) (*export.Report, error)
	// Exits are the records in which root invocations have ended. It costs the target nothing.
	Exits() []Exit
	// WatchExits has the target say how long root invocations took, and hold threads at the end
	// of those that took as long as over, for at most hold; with 0 none is held. watch false ends
	// all that, and releases whoever is held.
	WatchExits(watch bool, over, hold time.Duration)
	// Release lets a thread go on that is held.
	Release(e Exit)
	// Unheld is how many threads went on before they were released.
	Unheld() int64
	// Mark puts a mark on the timeline, where there is one.
	Mark(text string)
}

// A Config says what a [Host] stands on. Its functions may be called from any goroutine.
type Config struct {
	// Tell gets a line for whoever watches; it may be nil.
	Tell func(text string)
	// Steer changes the recording by an action of live.Session. nil: it can't be changed.
	Steer   func(ctx context.Context, action, value string) error
	Metrics *Metrics // where metrics go that are emitted; nil is a new one
	Limits  Limits
}

const (
	// lookEvery is how often it is looked whether anything is due, and heldEvery the same where
	// threads wait for it.
	lookEvery = time.Millisecond
	heldEvery = 100 * time.Microsecond
	// readShare bounds what reading trees for on_bytecodes takes: one part in so many.
	readShare = 20
	// holdMost is how long a thread is held at most: two activations that use up their time.
	holdMost = 10 * time.Second
)

// A Host runs the scripts of one recording. Call Prepare, Start, Halt and Finish, in this order
// and each once at most. One goroutine at a time may use it.
type Host struct {
	cfg     Config
	scripts []*script

	rec      Recorder // from Prepare to Halt
	quit     chan struct{}
	ran      chan struct{} // closed when the goroutine has ended; nil before Start
	halting  atomic.Bool
	stopped  chan struct{} // closed when a script wants the recording to end
	stopOnce sync.Once
	why      string // written before stopped is closed

	exact   bool
	over    time.Duration  // of exact exits, the shortest that any script asks for
	seen    map[int64]seen // by record, as of the last look
	pending []Exit         // at Halt: not seen by any script yet
	read    time.Time      // not before: the next look at bytecodes
	unheld  int64
}

// New loads scripts: their top levels run. Errors are those of a script, with its position.
func New(sources []Source, c Config) (*Host, error) {
	if c.Metrics == nil {
		c.Metrics = &Metrics{}
	}
	h := &Host{cfg: c, quit: make(chan struct{}), stopped: make(chan struct{}), seen: map[int64]seen{}}
	known := map[string]bool{}
	for _, src := range sources {
		if known[src.Name] {
			return nil, fmt.Errorf("two agents are named %s; name their files otherwise", src.Name)
		}
		known[src.Name] = true
		s, err := load(src, h, c.Limits)
		if err != nil {
			return nil, err
		}
		h.scripts = append(h.scripts, s)
	}
	for _, w := range h.handlers(onExit) {
		if w.h.exact {
			if !h.exact || w.h.over < h.over {
				h.over = w.h.over
			}
			h.exact = true
		}
	}
	return h, nil
}

// NeedsBytecodes names a script that is activated by executed bytecodes; "" if none is.
func (h *Host) NeedsBytecodes() string {
	for _, s := range h.scripts {
		if s.wants(onBytecodes) {
			return s.Name
		}
	}
	return ""
}

// Stopped is closed when a script wants the recording to end; [Host.Why] says why.
func (h *Host) Stopped() <-chan struct{} { return h.stopped }

// Why is why a script wanted the recording to end; "" if none did.
func (h *Host) Why() string {
	select {
	case <-h.stopped:
		return h.why
	default:
		return ""
	}
}

func (h *Host) stop(why string) {
	h.stopOnce.Do(func() {
		h.why = why
		close(h.stopped)
	})
}

func (h *Host) tell(text string) {
	if h.cfg.Tell != nil {
		h.cfg.Tell(text)
	}
}

func (h *Host) mark(text string) {
	if h.rec != nil {
		h.rec.Mark(text)
	}
}

func (h *Host) steer(ctx context.Context, action, value string) error {
	if h.cfg.Steer == nil {
		return fmt.Errorf("%s: this recording can't be changed", action)
	}
	err := h.cfg.Steer(ctx, action, value)
	if err != nil && h.halting.Load() {
		return errEnding
	}
	return err
}

// Prepare has the recorder watch exits, where scripts ask for them, before the first can come.
func (h *Host) Prepare(rec Recorder) {
	h.rec = rec
	if hold := time.Duration(0); len(h.handlers(onExit)) > 0 {
		if h.exact {
			hold = holdMost
		}
		rec.WatchExits(true, h.over, hold)
	}
}

// Start begins the activations; the recording is on. It returns at once.
func (h *Host) Start() {
	h.ran = make(chan struct{})
	go func() {
		defer close(h.ran)
		h.run(context.Background())
	}()
}

// Halt ends the activations, before the recording does. One that is under way is waited for; it
// is bounded. When ctx is done it is not.
func (h *Host) Halt(ctx context.Context) {
	h.halting.Store(true)
	close(h.quit)
	if h.ran != nil {
		select {
		case <-h.ran:
		case <-ctx.Done():
			h.rec.WatchExits(false, 0, 0)
			return
		}
	}
	if h.rec == nil {
		return
	}
	h.pending = h.exits()
	h.unheld = h.rec.Unheld()
	if len(h.handlers(onExit)) > 0 {
		h.rec.WatchExits(false, 0, 0)
	}
	h.rec = nil
}

// Finish activates scripts with the finished report for what they have not seen yet, and for the
// end, and puts into the report what they did. Halt comes before.
func (h *Host) Finish(ctx context.Context, r *export.Report) {
	if why := h.Why(); why != "" {
		r.Ended = why
	}
	if h.ran != nil {
		m := newMoment(r)
		for _, e := range h.pending {
			h.exited(ctx, m, e)
		}
		for _, w := range h.handlers(onEnd) {
			w.s.activate(ctx, w.h, m, cause{reason: onEnd})
		}
	}
	for _, s := range h.scripts {
		if !s.gone {
			s.folder.close()
		}
	}
	r.Agents = h.Results()
}

// Results say how each script went so far.
func (h *Host) Results() []export.Agent {
	out := make([]export.Agent, 0, len(h.scripts))
	for _, s := range h.scripts {
		a := s.result()
		if s.exact() {
			a.Missed = h.unheld
		}
		out = append(out, a)
	}
	return out
}

func (s *script) exact() bool {
	return slices.ContainsFunc(s.handlers, func(h *handler) bool { return h.kind == onExit && h.exact })
}

// A work is a handler with its script.
type work struct {
	s *script
	h *handler
}

// handlers are those of a kind of the scripts that have not failed.
func (h *Host) handlers(kind string) (out []work) {
	for _, s := range h.scripts {
		if s.broken() {
			continue
		}
		for _, k := range s.handlers {
			if k.kind == kind {
				out = append(out, work{s, k})
			}
		}
	}
	return out
}

// run activates scripts until Halt.
func (h *Host) run(ctx context.Context) {
	if now, err := h.moment(ctx); err == nil {
		for _, w := range h.handlers(onStart) {
			w.s.activate(ctx, w.h, now, cause{reason: onStart})
		}
	}
	begin := time.Now()
	for _, w := range h.handlers(onTime) {
		w.h.next = begin.Add(w.h.every)
	}
	for h.wait() {
		if err := errors.Join(h.lookExits(ctx), h.lookTime(ctx), h.lookBytecodes(ctx)); err != nil {
			return // nothing is recorded any more
		}
	}
}

// wait waits until the next look; false where there is none. Go's timers are no finer than a
// millisecond, which would be most of what a thread is held for.
func (h *Host) wait() bool {
	if h.exact {
		nap := unix.NsecToTimespec(int64(heldEvery))
		unix.Nanosleep(&nap, nil) //nolint:errcheck // a signal may end it early
		select {
		case <-h.quit:
			return false
		default:
			return true
		}
	}
	select {
	case <-h.quit:
		return false
	case <-time.After(lookEvery):
		return true
	}
}

func (h *Host) moment(ctx context.Context) (*moment, error) {
	r, err := h.rec.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return newMoment(r), nil
}
