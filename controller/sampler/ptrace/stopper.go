//go:build amd64 || arm64

package ptrace

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// A thread that has not stopped by then waits for a core, or is in the kernel and does not come
	// back, or is frozen.
	patience = 100 * time.Millisecond
	// So many threads may be in that state at once, each with a thread of this process's waiting.
	mostStuck = 4
)

// A Stopper stops threads of one process, one after the other. It does so on a thread of the
// system's of its own, since a tracer is one thread. Its methods may not be called concurrently.
type Stopper struct {
	do    tracing
	bytes int
	w     *worker   // nil: none
	stuck []*worker // each with a thread that has not stopped yet

	signals chan os.Signal
	quit    chan struct{} // closed by Close
	done    sync.WaitGroup
	holding sync.Mutex // held while a thread of the target is stopped, or about to be
}

// A worker is what one thread of the system's works on.
type worker struct {
	asks chan request
	got  chan answer
	done chan struct{} // closed when it has ended
}

type request struct {
	tid  int
	base uint64
}

type answer struct {
	stop Stop
	err  error
}

// New makes a stopper that reads up to so many bytes of a stack. It takes SIGTSTP (Ctrl-Z), which
// stops this process only while that holds no thread.
func New(bytes int) *Stopper { return newStopper(bytes, kernel{}) }

func newStopper(bytes int, do tracing) *Stopper {
	s := &Stopper{do: do, bytes: bytes, quit: make(chan struct{}), signals: make(chan os.Signal, 1)}
	if !signal.Ignored(unix.SIGTSTP) {
		signal.Notify(s.signals, unix.SIGTSTP)
	}
	s.done.Go(s.suspend)
	return s
}

// suspend stops this process when it is told to, at a moment when it holds no thread.
func (s *Stopper) suspend() {
	for {
		select {
		case <-s.signals:
			s.holding.Lock()
			_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
			s.holding.Unlock()
		case <-s.quit:
			return
		}
	}
}

// Close ends it. A thread of the target that has not stopped yet is let go when it does, or when
// this process ends.
func (s *Stopper) Close() {
	signal.Stop(s.signals)
	close(s.quit)
	if s.w != nil {
		close(s.w.asks)
		<-s.w.done
	}
	s.done.Wait()
}

// Stop stops a thread, and returns its registers and the upper end of its stack, from the
// stack pointer up to base (0: not known), valid until the next call. The thread runs again when
// it returns. Its error wraps [ErrDenied], [ErrStuck], or os.ErrProcessDone if the thread has ended.
func (s *Stopper) Stop(tid int, base uint64) (Stop, error) {
	if s.w == nil {
		if s.settle(); len(s.stuck) >= mostStuck {
			return Stop{}, fmt.Errorf("thread %d: %w", tid, ErrStuck)
		}
		s.w = &worker{make(chan request), make(chan answer, 1), make(chan struct{})}
		go s.serve(s.w)
	}
	s.w.asks <- request{tid, base}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case a := <-s.w.got:
		return a.stop, a.err
	case <-late.C:
		// When it stops it is read and let go as any other, and nobody looks at what was read.
		close(s.w.asks)
		s.stuck, s.w = append(s.stuck, s.w), nil
		return Stop{}, fmt.Errorf("thread %d: %w", tid, ErrStuck)
	}
}

// settle forgets the workers whose threads have stopped after all.
func (s *Stopper) settle() {
	left := s.stuck[:0]
	for _, w := range s.stuck {
		select {
		case <-w.done:
		default:
			left = append(left, w)
		}
	}
	s.stuck = left
}

// serve stops one thread after another.
func (s *Stopper) serve(w *worker) {
	runtime.LockOSThread() // and never unlocked, so that it ends with this function
	if unix.Gettid() == os.Getpid() {
		defer runtime.UnlockOSThread() // Go never ends this one, whose priority stays as it is
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.serve(w)
		}()
		<-ended
		return
	}
	defer close(w.done)
	h := newHold(s.do, s.bytes)
	defer h.close()
	goFirst()
	for r := range w.asks {
		s.holding.Lock()
		a, err := h.stop(r)
		s.holding.Unlock()
		w.got <- answer{a, err}
	}
}

// goFirst has this thread get a core before all others, where that is allowed, and else as soon as
// one that computes little can: a thread that is stopped stands still while this one waits. No
// signal interrupts it, such as those by which Go's scheduler gives a thread's place to another
// goroutine.
func goFirst() {
	every := ^uint64(0)
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_BLOCK, uintptr(unsafe.Pointer(&every)), 0, unsafe.Sizeof(every), 0, 0)
	soon := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1, Flags: unix.SCHED_FLAG_RESET_ON_FORK}
	if unix.SchedSetAttr(0, &soon, 0) == nil {
		return
	}
	// From kernel 6.12 on a thread whose slices are short goes before those with long ones.
	const shortest = 100_000 // ns
	if now, err := unix.SchedGetAttr(0, 0); err == nil && now.Policy == unix.SCHED_NORMAL {
		now.Runtime = shortest
		_ = unix.SchedSetAttr(0, now, 0)
	}
}

// stop does one request.
func (h *hold) stop(r request) (Stop, error) {
	before := h.do.delay()
	if e := h.do.seize(r.tid); e != 0 {
		return Stop{}, explain(r.tid, e)
	}
	if e := h.do.interrupt(r.tid); e != 0 {
		h.do.detach(r.tid, 0) // it has ended
		return Stop{}, explain(r.tid, e)
	}
	seen, e := h.soon(r)
	if !seen && e == 0 {
		if e = h.do.block(r.tid, &h.status); e == 0 {
			h.begun = h.do.now()
			h.read(r)
			// From when it stopped until this thread had a core.
			h.still += max(0, h.do.delay()-before)
		}
	}
	if e != 0 || !h.status.Stopped() {
		return Stop{}, fmt.Errorf("thread %d: %w", r.tid, os.ErrProcessDone)
	}
	return Stop{
		Registers: taken(&h.regs),
		Stack:     h.stack, Still: time.Duration(h.still),
	}, explain(r.tid, h.failed)
}
