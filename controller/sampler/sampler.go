// Package sampler samples the stacks of a running JVM's threads from outside: nothing is loaded
// into the JVM, which neither stops nor waits, and nothing stays in it. It composes three
// sources: perf events (registers and stack bytes of threads that run), the JVM's own
// structures in its memory (what these bytes mean), and its threads' frame anchors (stacks of
// threads that wait). It needs x86-64 or arm64 and a HotSpot JVM, JDK 8 to 25.
//
// Samples are not kept: they are handed over in batches, at least each 100 ms. A stack whose
// walk did not reach the thread's first frame says why; [Stats] counts these.
//
// Where debug info is missing, since the JVM runs without -XX:+DebugNonSafepoints, the
// innermost frames of compiled code are those of the next place that has some: the self times of
// methods that are inlined are then not reliable ([Stats].NonSafepoints).
package sampler

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/sampler/images"
	"github.com/rivulet-profiler/rivulet/controller/sampler/perf"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/sampler/unwinder"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// Options say what is sampled.
type Options struct {
	Hz      int                    // samples a second of CPU time, or of time where Wall; 1 to 10,000; 0: 99
	Wall    bool                   // all threads, whether they run or wait; else only those that run
	Threads func(name string) bool // which threads; nil: all
	Locks   bool                   // with Wall: what threads wait for, who holds it, and the state that they have in Java
	Native  bool                   // frames of native code, of the JVM's stubs and of the kernel as well
	// Inside says which threads are in what is of interest, by the numbers that Java gives them. Then only
	// these are sampled, each at each tick at which it is there, and nothing is done while there are
	// none: with Wall, and by stopping those that run Java code.
	Inside func(f func(thread int64))
	Source string      // [Perf] or [Ptrace] alone; "": Ptrace if there are no perf events
	Trace  func(Trace) // is told of each sample of perf's that was walked, to look into faults; may be nil

	noPerf bool // as if there were no perf events, for tests
}

// The sources, as [Stats] and reports name them.
const (
	Perf   = "perf"   // the kernel's perf events interrupt threads that run
	Ptrace = "ptrace" // threads that run are stopped for a moment
)

const (
	usualHz   = 99
	mostHz    = 10000
	batchTime = 100 * time.Millisecond
	firstTime = 10 * time.Millisecond // between batches, until there is a sample

	// How much of a stack the kernel copies. It begins with little, since copying costs the
	// target time, and takes more where that turns out not to be enough: what lies beyond is read
	// from the thread later, when it may have changed.
	smallStack = 16 << 10
	largeStack = 32 << 10 // at most, above lowHz
	mostStack  = 60 << 10
	lowHz      = 250
)

// Errors that a user can do something about. Those of package perf come as well.
var (
	// ErrMemory reports that the target's memory may not be read.
	ErrMemory = errors.New("the target's memory may not be read")
	// ErrArch reports a machine that is neither x86-64 nor arm64.
	ErrArch = errors.New("sampling from outside works on x86-64 and arm64 only")

	errPtrace = errors.New("another source was asked for")
	errInside = errors.New("only threads that are inside at a tick are sampled")
)

const arm64 = "arm64"

// A Sampler samples one JVM. [Sampler.Stats] may be called concurrently with
// [Sampler.Run]; the other methods may not.
type Sampler struct {
	pid     int
	pidfd   int
	o       Options
	layout  *unwinder.Layout
	u       *unwinder.Unwinder
	images  *images.Images
	kernel  kernel
	perf    *perf.Source
	threads threads
	begun   time.Time

	mu    sync.Mutex
	stats Stats

	batch []stack.Stack
	walks []walkOf // since the last check
	wall  wall
	stops stops

	stackBytes int   // that perf copies
	prompt     bool  // the kernel is to wake the sampler at each sample
	promptly   []int // descriptors that tell of each sample; nil: it is looked from time to time
	frozen     int64 // samples of virtual threads whose stacks go on in the heap
	deep       int64 // samples since it does that were deeper
	shallow    int64 // and were not
	lost       int64 // before
	frames     []stack.Frame
	cpu        time.Duration // of this thread, when Run began
	handing    time.Duration // of it, for what samples were handed to
}

// A walkOf says what became of a walk: a stack of the batch, and of a thread that waits.
type walkOf struct {
	stack  int
	waiter *waiter
}

// Open finds a JVM's structures and begins to sample. It takes some 30 ms. Its errors wrap
// [ErrMemory], [ErrArch], [vmstructs.ErrUnknown], os.ErrProcessDone or an error of package
// perf, and say what can be done.
func Open(pid int, o Options) (*Sampler, error) {
	if o.Hz == 0 {
		o.Hz = usualHz
	}
	if o.Hz < 0 || o.Hz > mostHz {
		return nil, fmt.Errorf("%d samples a second: from 1 to %d", o.Hz, mostHz)
	}
	if runtime.GOARCH != "amd64" && runtime.GOARCH != arm64 {
		return nil, ErrArch
	}
	s := &Sampler{pid: pid, pidfd: -1, o: o, begun: time.Now()}
	cpu := processCPU()
	if err := s.open(); err != nil {
		s.Close()
		return nil, err
	}
	s.stats.SetupCPU = processCPU() - cpu
	s.stats.Setup = time.Since(s.begun)
	return s, nil
}

func (s *Sampler) open() error {
	var err error
	if s.pidfd, err = unix.PidfdOpen(s.pid, 0); err != nil {
		s.pidfd = -1
		if errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("process %d: %w", s.pid, os.ErrProcessDone)
		}
		if !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("process %d: %w", s.pid, err)
		}
	}
	tables, err := vmstructs.ReadTables(s.pid)
	if err != nil {
		return refused(s.pid, err)
	}
	layout, err := unwinder.NewLayout(tables)
	if err != nil {
		return refused(s.pid, err)
	}
	layout.Arm64 = runtime.GOARCH == arm64
	mem := vmstructs.Process(s.pid)
	s.images = images.New(s.pid, mem)
	s.layout, s.u = layout, unwinder.New(layout, mem, s.images, s.o.Native)
	if !s.u.Ready() {
		return fmt.Errorf("process %d has no compiled code yet: try again when it has begun: %w", s.pid, vmstructs.ErrUnknown)
	}
	s.threads.init(s.pid, s.u)
	on, known := s.u.Flag("DebugNonSafepoints")
	s.stats.NonSafepoints = on || !known
	s.stats.Hz, s.stats.Mode, s.stats.Source = s.o.Hz, "cpu", "perf"
	s.stackBytes = smallStack
	if s.o.Hz <= lowHz {
		s.stackBytes = largeStack
	}
	if s.o.Wall {
		s.stats.Mode = "wall"
		s.wall.waiters, s.wall.seed = map[int]*waiter{}, maphash.MakeSeed()
	}
	switch {
	case s.o.Inside != nil:
		return s.fallBack(errInside)
	case s.o.Source == Ptrace:
		return s.fallBack(errPtrace)
	}
	if s.perf, err = perf.Open(s.pid, perf.Options{Period: s.period(), StackBytes: s.stackBytes, Kernel: s.o.Native}); s.o.noPerf && err == nil {
		s.perf.Close()
		err = perf.ErrDenied
	}
	switch {
	case err != nil && s.o.Source == Perf:
		s.perf = nil
		return err
	case err != nil:
		s.perf = nil
		return s.fallBack(err)
	default:
		s.stats.NoKernel = s.perf.NoKernel()
	}
	return nil
}

// period is the time between two samples, in nanoseconds.
func (s *Sampler) period() int64 { return int64(time.Second) / int64(s.o.Hz) }

// refused says what can be done where a target's memory can't be read.
func refused(pid int, err error) error {
	switch {
	case errors.Is(err, vmstructs.ErrUnknown):
		return fmt.Errorf("process %d can't be sampled, as only HotSpot JVMs of JDK 8 to 25 can: %w", pid, err)
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("process %d: %w", pid, os.ErrProcessDone)
	case !errors.Is(err, os.ErrPermission):
		return fmt.Errorf("process %d: %w", pid, err)
	}
	way := "run as the process's user, or as root"
	if b, e := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); e == nil && len(b) > 0 && b[0] != '0' {
		way = fmt.Sprintf("kernel.yama.ptrace_scope is %c; run \"sysctl kernel.yama.ptrace_scope=0\" as root, or rivulet as root", b[0])
	}
	return fmt.Errorf("process %d: %w: %s", pid, ErrMemory, way)
}

// Close ends sampling. Nothing of it is left in the target.
func (s *Sampler) Close() error {
	if s.perf != nil {
		s.perf.Close()
		s.perf = nil
	}
	if s.stops.by != nil {
		s.stops.by.Close()
		s.stops.by = nil
	}
	if s.images != nil {
		s.images.Close()
	}
	if s.pidfd >= 0 {
		unix.Close(s.pidfd)
		s.pidfd = -1
	}
	return nil
}

// Run samples until the context ends, which is no error, or the target, which gives
// os.ErrProcessDone. It hands what it has sampled to f at least each 100 ms, in the order
// of time; the stacks and their frames belong to f, though stacks of a thread that waits
// share their frames, so nobody may change them. Run waits for f.
func (s *Sampler) Run(ctx context.Context, f func([]stack.Stack)) error {
	// What it takes is read from this thread's clock.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer hurry()()
	s.cpu = threadCPU()
	begun := time.Now()
	every := min(batchTime, time.Duration(20*s.period()))
	if s.o.Wall || s.stops.on {
		every = min(batchTime, time.Duration(s.period()))
	}
	wake, err := newWaker(ctx)
	if err != nil {
		return err
	}
	defer wake.close()
	wait := firstTime
	for {
		gone := wake.wait(s.pidfd, wait, s.promptly) || s.gone()
		ended := ctx.Err() != nil
		s.drain(f, time.Since(begun))
		switch {
		case ended:
			return nil
		case gone:
			return fmt.Errorf("process %d has ended: %w", s.pid, os.ErrProcessDone)
		}
		if wait = every; s.stats.Samples == 0 {
			wait = min(every, firstTime)
		}
	}
}

// gone reports whether the target has ended, where that can't be waited for.
func (s *Sampler) gone() bool {
	if s.pidfd >= 0 {
		return false
	}
	_, err := os.Stat(fmt.Sprintf("/proc/%d", s.pid))
	return err != nil
}

// drain makes stacks of the samples that there are, and hands them over.
func (s *Sampler) drain(f func([]stack.Stack), elapsed time.Duration) {
	s.begin()
	if s.perf != nil {
		s.perf.Drain(s.sample)
	}
	s.u.Behind(0)
	if now := monotonic(); (s.o.Wall || s.stops.on) && now-s.wall.ticked >= s.period()*9/10 {
		s.tick(now)
	}
	s.check()
	s.deepen()
	s.hasten()
	batch := slices.DeleteFunc(s.batch, func(b stack.Stack) bool { return b.Weight == 0 })
	slices.SortStableFunc(batch, func(a, b stack.Stack) int {
		switch {
		case a.Time < b.Time:
			return -1
		case a.Time > b.Time:
			return 1
		}
		return 0
	})
	if len(batch) > 0 {
		before := threadCPU()
		f(batch)
		s.handing += threadCPU() - before
	}
	s.count(batch, elapsed)
}

// begin begins a batch.
func (s *Sampler) begin() {
	s.batch, s.walks = make([]stack.Stack, 0, len(s.batch)+8), s.walks[:0]
	now := monotonic()
	s.u.Begin(now)
	s.images.Begin(now)
	s.threads.begin(now)
}

// sample makes a stack of a sample.
func (s *Sampler) sample(p *perf.Sample) {
	t := s.threads.of(p.TID)
	if s.o.Threads != nil && !s.o.Threads(t.name) {
		return
	}
	out := stack.Stack{Time: p.Time, Weight: s.period(), TID: p.TID, Thread: t.name, Java: t.java, State: stack.Running}
	within := s.kernel.frames(p.Kernel)
	unlisted := p.Valid && !t.listed && s.u.Java(p.Regs.IP, p.Stack)
	switch {
	case !p.Valid: // a thread of the kernel's side: it begins, or ends
		out.Frames, out.Complete = within, !t.java
		out.Broken = unwinder.BrokenEmpty
	case !t.listed && !unlisted && !s.o.Native:
		out.Complete = true
	default:
		r := unwinder.Registers{PC: p.Regs.IP, SP: p.Regs.SP, FP: p.Regs.BP, BX: p.Regs.BX, R13: p.Regs.R13, LR: p.Regs.LR, X13: p.Regs.X13, X22: p.Regs.X22}
		s.u.Behind(s.threads.now - p.Time)
		of := t.thread
		if unlisted { // it may have ended, and its stack be another's by now: only what was copied counts
			of = unwinder.Thread{StackBase: r.SP + uint64(len(p.Stack))}
		}
		w := s.u.Walk(r, p.Stack, of)
		s.take(&out, within, w)
		if unlisted {
			out.Java = slices.ContainsFunc(w.Frames, func(f stack.Frame) bool { return f.Method.Class != "" })
			out.Complete = out.Complete || !out.Java
		}
		s.walks = append(s.walks, walkOf{len(s.batch), nil})
		if s.o.Trace != nil {
			s.o.Trace(Trace{w, out.Java, s, r, p.Stack, of})
		}
	}
	if out.Complete {
		out.Broken = ""
	}
	if s.o.Wall && t.java {
		s.ran(&out)
	}
	s.batch = append(s.batch, out)
}
