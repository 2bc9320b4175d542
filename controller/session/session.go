package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/calibration"
	"github.com/rivulet-profiler/rivulet/controller/clock"
	"github.com/rivulet-profiler/rivulet/controller/cputime"
	"github.com/rivulet-profiler/rivulet/controller/flight"
	"github.com/rivulet-profiler/rivulet/controller/jdkcalls"
	"github.com/rivulet-profiler/rivulet/controller/link"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/controller/pauses"
	"github.com/rivulet-profiler/rivulet/controller/room"
	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/controller/shm"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/jvmside"
)

var (
	// ErrBusy reports that another controller works on the target.
	ErrBusy = room.ErrBusy
	// ErrExited reports that the target ended meanwhile.
	ErrExited = errors.New("the target has exited")
	// ErrSilent reports an agent that does not answer.
	ErrSilent = errors.New("the agent in the target does not answer")
	// ErrFullHeap reports a target whose memory is about to run out: see [Config.FullHeap].
	ErrFullHeap = errors.New("its heap is full")
)

// agentThread marks a JVM with a session, of this or another version: it is
// the name of the agent's thread, and on Linux the thread's comm.
const agentThread = "rivulet-agent"

// A Config says how a session works; the zero value is usable.
type Config struct {
	Log     hclog.Logger // nil logs nothing
	Memory  int64        // bytes for the trees, default 1 GB, allocated as it is needed; less where the target's tmpfs is smaller
	Look    bool         // only look: retransform nothing, not even for the bytes of classes that have no file
	Observe bool         // begin to observe which methods are active while attaching, for a recording with Scheme D or auto
	Gently  bool         // leave at once, and let the agent restore classes by itself (docs/decisions/0037)
	// FullHeap has the agent loaded even where the last collection was one of the whole heap and has left it full. Where
	// memory runs out at that moment the JVM may keep classes and call sites broken for good.
	FullHeap bool
	// LittleMemory has the target attached to even where the container of this process may not have what its analysis takes.
	LittleMemory bool
	Warn         func(string) // tells the user something before it is done, such as what the JVM will print; may be nil
}

const defaultMemory = 1 << 30

func (c *Config) logger() hclog.Logger {
	if c.Log == nil {
		return hclog.NewNullLogger()
	}
	return c.Log
}

// A Target says what is being profiled.
type Target struct {
	PID  int
	Java string
	VM   string
	Main string
}

// A Session is one attached JVM. Its methods are safe for concurrent use.
type Session struct {
	cfg  Config
	log  hclog.Logger
	proc attach.Process
	vm   *attach.VM // nil where the program was launched

	running func() bool // whether a launched program still runs; nil for others
	bundle  *jvmside.Bundle
	room    *room.Room
	data    *shm.File
	called  bool            // the form of the probes, see chooseProbes
	leaves  bool            // short leaf methods are only counted
	metrics *metric.Table   // what is counted beside calls and time; nil for nothing
	ticker  *clock.Ticker   // nil with the precise clock
	cpu     *cputime.Inside // nil unless asked for
	offset  atomic.Int64    // from monotonic to the target's nanoTime

	switching sync.Mutex   // held by who pauses, resumes or resets
	finding   sync.Mutex   // held by who asks the target for a class
	listing   sync.Mutex   // held by who lists its classes
	mapped    sync.RWMutex // held for reading by who reads data.Memory() outside of the loop
	calls     chan func()  // to the loop
	cancel    context.CancelCauseFunc
	ctx       context.Context
	plenty    context.Context // ends with ctx, or when memory gets short, see watchMemory
	scarce    context.CancelCauseFunc
	wg        sync.WaitGroup

	mute        atomic.Bool   // set by tests alone: there is no heartbeat
	ended       chan struct{} // closed when the recording has ended by itself
	endOnce     sync.Once
	endReason   string // written before ended is closed
	diagnosis   atomic.Value
	glance      glance
	collections *pauses.Collections // nil before a recording is asked for
	slowCalls   *slowCalls          // of the recording; nil where they are not wanted, or with trees
	keeper      *keeper             // of the recording's history; nil before, and of a timing
	stage       stage
	early       earlyLook
	watching    *observation // nil where threads wait for reveals
	governing   *governing   // nil without a budget
	flight      flight.Recording

	loop loop
}

// Attach brings the agent into a running JVM and learns its classes. The
// target runs on meanwhile. Errors are [*attach.Error], [ErrBusy], [ErrFullHeap], [ErrMemory], or say
// what the agent met with.
func Attach(ctx context.Context, pid int, cfg Config) (s *Session, err error) {
	steps := stepLog{cfg.logger(), time.Now()}
	proc, err := attach.Inspect(pid)
	if err != nil {
		return nil, err
	}
	lock, err := room.Reserve(pid)
	if err != nil {
		return nil, fmt.Errorf("pid %d: %w", pid, err)
	}
	defer func() {
		if err != nil {
			room.Release(lock)
		}
	}()
	if err := Restore(ctx, proc, nil); err != nil {
		return nil, fmt.Errorf("pid %d: %w", pid, err)
	}
	if err := waitForOther(ctx, pid); err != nil {
		return nil, fmt.Errorf("pid %d: %w", pid, err)
	}
	counters, err := attach.Counters(pid)
	if err != nil {
		counters = nil // which not all JVMs publish
	}
	if err := cfg.mindHeap(pid, counters); err != nil {
		return nil, err
	}
	if err := cfg.mindMemory(pid, counters); err != nil {
		return nil, err
	}
	vm, err := attach.Open(ctx, pid)
	if err != nil {
		return nil, err
	}
	warns, err := vm.DynamicAgentWarning(ctx)
	if err != nil {
		return nil, err
	}
	steps.done("reaching the JVM")
	if warns && cfg.Warn != nil {
		cfg.Warn("this JVM will print a four-line warning about a dynamically loaded agent on its stderr (JDK 21 and later, unless started with -XX:+EnableDynamicAgentLoading)")
	}
	s, err = newSession(cfg, proc, pid)
	if err != nil {
		return nil, err
	}
	s.vm = vm
	if attach.Interprets(counters) {
		s.loop.calibrator.Interprets()
	}
	s.room.Hold(lock)
	steps.done("making room")
	begun := s // which a return of nil forgets
	defer func() {
		if err != nil {
			begun.abort(err)
		}
	}()
	s.start()
	s.watchLife(pid)
	s.watchMemory(pid)
	ctx, roomy := s.whileRoom(ctx)
	defer func() { err = roomy(err) }()
	if cfg.Observe {
		s.early = earlyLook{s.observe(), time.Now()}
	}
	for try := 0; ; try++ {
		if err := s.loadAgent(ctx); err != nil {
			return nil, err
		}
		err := s.awaitAgent(ctx)
		if err == nil {
			break
		}
		// We have the target's lock: the other's controller is gone, and its
		// agent came up only now or is about to leave.
		if !errors.Is(err, ErrBusy) || try == 3 {
			return nil, err
		}
		if err := waitForOther(ctx, pid); err != nil {
			return nil, fmt.Errorf("pid %d: %w", pid, err)
		}
		s.room.ForgetError()
	}
	steps.done("loading the agent")
	if !cfg.Observe { // else nobody is going to wait
		defer s.hasten(ctx)()
	}
	return s, s.mirrorClasses(ctx, &steps)
}

// newSession prepares everything on this side. room is where the target sees
// it: pid 0 is this process's own file system.
func newSession(cfg Config, proc attach.Process, pid int) (*Session, error) {
	bundle, err := jvmside.NewBundle()
	if err != nil {
		return nil, err
	}
	cfg.Log = cfg.logger()
	if cfg.Memory == 0 {
		cfg.Memory = defaultMemory
	}
	uid, gid := proc.UID, proc.GID
	if pid == 0 {
		uid, gid = uint32(os.Geteuid()), uint32(os.Getegid())
	}
	files, err := room.New(pid, uid, gid, bundle)
	if err != nil {
		return nil, fmt.Errorf("pid %d: %w", proc.PID, err)
	}
	data, err := shm.Create(files.Data, roomFor(cfg.Memory), sessionTag())
	if err != nil {
		files.Close(false)
		return nil, fmt.Errorf("pid %d: %w", proc.PID, err)
	}
	s := &Session{
		cfg: cfg, log: cfg.Log.Named("session").With("pid", proc.PID), proc: proc, bundle: bundle, room: files, data: data,
		calls: make(chan func()), ended: make(chan struct{}),
	}
	s.loop = loop{
		s:       s,
		kind:    treeRecorder{s},
		link:    link.New(data, files.Commands, files.Bell),
		h:       cha.New(),
		ledger:  hotswap.NewLedger(s.hooks(), calibration.SampleCaller),
		files:   map[cha.ClassID][]byte{},
		filed:   map[cha.ClassID]time.Time{},
		places:  map[cha.ClassID]string{},
		reveals: map[int32]*reveal{}, patience: newPatience(),
		changes: newChanges(),
		loaders: map[uint32]string{0: "boot"},

		lookedUp: jdkcalls.NewNames(),
	}
	s.loop.calibrator = calibration.New(calibrationHost{&s.loop}, data, bundle.Sample, s.log)
	s.loop.h.SetPolicy(roots.Excluded)
	s.loop.ledger.VerifyBy(s.loop.typesFor)
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.plenty, s.scarce = context.WithCancelCause(s.ctx)
	return s, nil
}

// sessionTag tells this session's tokens from those of others in the same
// target: 23 bits that are never 0.
func sessionTag() uint64 {
	return uint64(time.Now().UnixNano()/int64(time.Millisecond))&(1<<23-1) | 1
}

// start lets the goroutines run that a session owns. On a machine with few
// cores that are all busy, the heart must not wait for a thread of ours that
// the kernel has put aside: there are some more of them than cores.
func (s *Session) start() {
	if runtime.GOMAXPROCS(0) < 4 {
		runtime.GOMAXPROCS(4)
	}
	s.guard(func() {
		s.data.Controller(attach.NumberFor(s.proc.PID))
		s.data.Beat(clock.Monotonic())
	})
	for _, f := range []func(){s.beat, s.hear, s.growth, s.run} {
		s.wg.Add(1)
		go func() {
			defer s.wg.Done()
			s.guard(f)
		}()
	}
}

// guard calls f, which ends the session if the target's user has truncated the data file.
func (s *Session) guard(f func()) {
	if err := s.data.Guard(f); err != nil {
		s.end("the data file was truncated")
		s.cancel(fmt.Errorf("pid %d: %w", s.proc.PID, err))
	}
}

// watchLife ends the session's context when the target exits.
func (s *Session) watchLife(pid int) {
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		if waitExit(s.ctx, pid) {
			s.end("the target has exited")
			s.cancel(ErrExited)
		}
	}()
}

// awaitAgent waits until the agent has said hello and holds both ends; then
// no name of the room is needed any more.
func (s *Session) awaitAgent(ctx context.Context) error {
	deadline := time.After(15 * time.Second)
	mute := time.After(time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		var up bool
		if err := s.do(ctx, func() { up = s.loop.hello }); err != nil {
			return err
		}
		if up {
			s.room.Unlink(false)
			return nil
		}
		if text := s.room.AgentError(); text != "" {
			first, _, _ := strings.Cut(text, "\n")
			if strings.Contains(text, "another session is active") {
				return fmt.Errorf("pid %d: %w", s.proc.PID, ErrBusy)
			}
			s.log.Error("agent failed to start", "trace", text)
			return fmt.Errorf("pid %d: the agent failed to start: %s", s.proc.PID, first)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-mute: // under a security manager it can't even say what it lacks
			if err := s.managed(ctx); err != nil {
				return err
			}
		case <-deadline:
			return fmt.Errorf("pid %d: %w", s.proc.PID, ErrSilent)
		}
	}
}

// do runs f on the loop and waits for it.
func (s *Session) do(ctx context.Context, f func()) error {
	done := make(chan struct{})
	select {
	case s.calls <- func() { f(); close(done) }:
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-done:
		return nil
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
}

// end says that the recording has ended by itself, and why.
func (s *Session) end(reason string) {
	s.endOnce.Do(func() {
		s.endReason = reason
		close(s.ended)
	})
}

// Done is closed when the recording has ended by itself: its calls are
// complete, the target has exited, or the agent has stopped.
func (s *Session) Done() <-chan struct{} { return s.ended }

// Target says what is being profiled.
func (s *Session) Target() Target {
	return Target{PID: s.proc.PID, Java: s.proc.JavaVersion, VM: s.proc.VM, Main: s.proc.Main}
}

// now is the target's nanoTime.
func (s *Session) now() int64 { return clock.Monotonic() + s.offset.Load() }
