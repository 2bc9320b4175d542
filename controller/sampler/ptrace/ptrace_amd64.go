// Package ptrace reads the registers and the stack of one thread of another process by
// stopping it for a moment: for where the kernel allows ptrace(2), and not perf events. A
// thread is seized, stopped, read and released each time, so between two samples nothing
// holds it; if this process ends meanwhile, the kernel releases it.
//
// A stop lasts as long as two system calls, some 30 us. A thread that waits in the kernel
// would come back from some calls with EINTR, so it is for threads that compute. Only one
// tracer can have a thread: beside a debugger it fails.
package ptrace

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// ErrDenied reports that this process may not stop threads of the other, or that another
// tracer has them.
var ErrDenied = errors.New("ptrace is refused")

// Registers are those that an unwinder of HotSpot's frames needs.
type Registers struct{ BX, BP, SP, IP, R13 uint64 }

// A reader is the memory of the process.
type reader interface {
	Read(p []byte, at uint64) error
}

const smallest = 256 // bytes of stack

// Stop stops a thread, and returns its registers, as much of its stack as fits in p, from
// the stack pointer up to base (0: not known), and how long the thread stood still. The
// thread runs again when it returns. It wraps [ErrDenied], or os.ErrProcessDone if the thread
// has ended. The calling goroutine is locked to its thread meanwhile.
func Stop(tid int, mem reader, p []byte, base uint64) (r Registers, stack []byte, still time.Duration, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.PtraceSeize(tid); err != nil {
		return r, nil, 0, explain(tid, err)
	}
	if err := unix.PtraceInterrupt(tid); err != nil {
		return r, nil, 0, errors.Join(explain(tid, err), release(tid, 0))
	}
	var status unix.WaitStatus
	for {
		_, err = unix.Wait4(tid, &status, unix.WALL, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	begun := time.Now()
	if err != nil || !status.Stopped() {
		return r, nil, 0, fmt.Errorf("thread %d: %w", tid, os.ErrProcessDone)
	}
	// It may have stopped for a signal, which is then its own; HotSpot uses some.
	sig := int(status.StopSignal())
	if status>>16 == unix.PTRACE_EVENT_STOP {
		sig = 0
	}
	var regs unix.PtraceRegs
	if err = unix.PtraceGetRegs(tid, &regs); err == nil {
		r = Registers{BX: regs.Rbx, BP: regs.Rbp, SP: regs.Rsp, IP: regs.Rip, R13: regs.R13}
		stack = read(mem, p, r.SP, base)
	}
	if e := release(tid, sig); err == nil {
		err = e
	}
	return r, stack, time.Since(begun), explain(tid, err)
}

// read reads a stack, as much of it as there is.
func read(mem reader, p []byte, sp, base uint64) []byte {
	n := len(p)
	if base > sp && base-sp < uint64(n) {
		n = int(base-sp) &^ 7
	}
	for ; n >= smallest; n /= 2 {
		if mem.Read(p[:n], sp) == nil {
			return p[:n]
		}
	}
	return nil
}

// release lets a thread run on, with the signal for which it stopped.
func release(tid, sig int) error {
	_, _, e := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(tid), 0, uintptr(sig), 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

func explain(tid int, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ESRCH):
		return fmt.Errorf("thread %d: %w", tid, os.ErrProcessDone)
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Errorf("thread %d: %w: run as the process's user or root, and without a debugger beside", tid, ErrDenied)
	}
	return fmt.Errorf("thread %d: %w", tid, err)
}
