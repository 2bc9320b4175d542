//go:build amd64

package ptrace

import (
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// A thread is a kernel with one thread in it, and what is done to it.
type thread struct {
	mu   sync.Mutex
	did  []string
	free chan struct{} // block waits for it

	refused unix.Errno
	after   int // looks at which it has not stopped; negative: for ever
	status  unix.WaitStatus
	waiting unix.Errno
	broken  unix.Errno // of reading registers
	most    int        // bytes of stack that can be read
	clock   int64
	starved int64
}

func (k *thread) note(what string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.did = append(k.did, what)
}

func (k *thread) seize(int) unix.Errno { k.note("seize"); return k.refused }

func (k *thread) interrupt(int) unix.Errno { k.note("interrupt"); return 0 }

func (k *thread) wait(_ int, s *unix.WaitStatus) (bool, unix.Errno) {
	if k.after != 0 {
		k.after--
		return false, k.waiting
	}
	*s = k.status
	return k.waiting == 0, k.waiting
}

func (k *thread) block(_ int, s *unix.WaitStatus) unix.Errno {
	k.note("block")
	<-k.free
	*s, k.starved = k.status, 700
	return k.waiting
}

func (k *thread) registers(_ int, r *unix.PtraceRegs) unix.Errno {
	k.note("registers")
	r.Rip, r.Rsp = 1, 0x1000
	return k.broken
}

func (k *thread) read(_ int, p []byte, _ uint64) bool { k.note("read"); return len(p) <= k.most }

func (k *thread) detach(_, sig int) unix.Errno {
	k.note("detach " + unix.SignalName(unix.Signal(sig)))
	return 0
}

func (k *thread) now() int64 { k.clock += 1000; return k.clock }

func (k *thread) delay() int64 { return k.starved }

func (k *thread) list() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Join(k.did, ", ")
}

const (
	stopped = unix.WaitStatus(0x7F | int(unix.SIGTRAP)<<8 | unix.PTRACE_EVENT_STOP<<16)
	forUser = unix.WaitStatus(0x7F | int(unix.SIGUSR1)<<8)
	grouped = unix.WaitStatus(0x7F | int(unix.SIGSTOP)<<8 | unix.PTRACE_EVENT_STOP<<16)
)

// TestEachWay: however a stop goes, a thread that has stopped is let go, with the signal that
// was meant for it, and nothing else.
func TestEachWay(t *testing.T) {
	open := make(chan struct{})
	close(open)
	for _, c := range []struct {
		name  string
		k     *thread
		did   string
		stack int
		still int64 // ns; the clock goes 1000 ns each time it is read
		err   error
	}{
		{"at once", &thread{status: stopped, most: 1 << 20}, "seize, interrupt, registers, read, detach ", 4096, 2000, nil},
		{"at the third look", &thread{status: stopped, most: 1 << 20, after: 2}, "seize, interrupt, registers, read, detach ", 4096, 2000, nil},
		{"later", &thread{status: stopped, most: 1 << 20, after: 1000}, "seize, interrupt, block, registers, read, detach ", 4096, 1700, nil},
		{"a signal of its own", &thread{status: forUser, most: 1 << 20}, "seize, interrupt, registers, read, detach SIGUSR1", 4096, 2000, nil},
		{"stopped anyway", &thread{status: grouped, most: 1 << 20}, "seize, interrupt, registers, read, detach ", 4096, 2000, nil},
		{"short stack", &thread{status: stopped, most: 1024}, "seize, interrupt, registers, read, read, read, detach ", 1024, 2000, nil},
		{"no stack", &thread{status: stopped}, "seize, interrupt, registers, read, read, read, read, read, detach ", 0, 2000, nil},
		{"no registers", &thread{status: stopped, broken: unix.EIO}, "seize, interrupt, registers, detach ", 0, 2000, unix.EIO},
		{"exits", &thread{status: 7 << 8}, "seize, interrupt", 0, 0, os.ErrProcessDone},
		{"is killed", &thread{status: 9, after: 1000}, "seize, interrupt, block", 0, 0, os.ErrProcessDone},
		{"is gone", &thread{waiting: unix.ECHILD}, "seize, interrupt", 0, 0, os.ErrProcessDone},
		{"refused", &thread{refused: unix.EPERM}, "seize", 0, 0, ErrDenied},
		{"no such thread", &thread{refused: unix.ESRCH}, "seize", 0, 0, os.ErrProcessDone},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.k.free = open
			s := newStopper(4096, c.k)
			defer s.Close()
			got, err := s.Stop(os.Getpid(), 0)
			if !errors.Is(err, c.err) || c.k.list() != c.did || len(got.Stack) != c.stack || c.err == nil && got.Still.Nanoseconds() != c.still {
				t.Errorf("%q, %d bytes, %v, %v", c.k.list(), len(got.Stack), got.Still, err)
			}
		})
	}
}

// TestStuck gives up a thread that does not stop. When it does, it is let go at once.
func TestStuck(t *testing.T) {
	k := &thread{status: stopped, most: 1 << 20, after: -1, free: make(chan struct{})}
	s := newStopper(4096, k)
	for i := range mostStuck + 2 {
		if _, err := s.Stop(os.Getpid(), 0); !errors.Is(err, ErrStuck) {
			t.Fatal(i, err)
		}
	}
	if got := strings.Count(k.list(), "seize"); got > mostStuck {
		t.Errorf("%d threads wait for it", got)
	}
	workers := slices.Clone(s.stuck)
	close(k.free)
	for _, w := range workers {
		<-w.done
	}
	if seized, let := strings.Count(k.list(), "seize"), strings.Count(k.list(), "detach"); seized != let || let == 0 {
		t.Errorf("seized %d times, let go %d times", seized, let)
	}
	k.mu.Lock()
	k.after = 0
	k.mu.Unlock()
	if _, err := s.Stop(os.Getpid(), 0); err != nil {
		t.Error("later:", err)
	}
	s.Close()
}
