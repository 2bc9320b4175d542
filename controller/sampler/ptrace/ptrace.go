// Package ptrace reads the registers and the stack of one thread of another process by
// stopping it for a moment: for where the kernel allows ptrace(2), and not perf events. A
// thread is seized, stopped, read and released each time, so between two samples nothing
// holds it; if this process ends meanwhile, the kernel releases it.
//
// A stop lasts as long as three system calls, some 20 us; what was read is looked at later.
// The stopper has a core at that moment, since it looks for the stop without sleeping; it goes before other threads where
// that is allowed, and no other thread of this process is waited for. Nobody can promise more: where the machine takes this process's core
// away in the middle, the stop is longer. [Stop].Still says how long it was, at the most.
//
// A thread that waits in the kernel would come back from some calls with EINTR, so it is for
// threads that compute. Only one tracer can have a thread: beside a debugger it fails.
package ptrace

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

var (
	// ErrDenied reports that this process may not stop threads of the other, that another
	// tracer has them, or that this machine is neither x86-64 nor arm64.
	ErrDenied = errors.New("ptrace is refused")
	// ErrStuck reports a thread that does not stop. It was left as it was.
	ErrStuck = errors.New("the thread does not stop: it is frozen, or waits for a device")
)

// Registers are those that an unwinder of HotSpot's frames needs, by x86-64's names. On arm64 BX is x12, BP
// x29, IP the program counter and R13 x19.
type Registers struct {
	BX, BP, SP, IP, R13 uint64
	LR, X13, X22        uint64 // of arm64 alone; LR is x30
}

// A Stop is what was read of a thread.
type Stop struct {
	Registers
	Stack []byte        // from the stack pointer up
	Still time.Duration // how long the thread stood still, at the most
}

// ended reports whether a thread is no more, or as good as: the kernel refuses to seize it then.
func ended(tid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", tid))
	i := bytes.LastIndex(b, []byte(") "))
	return err != nil || i < 0 || i+2 >= len(b) || b[i+2] == 'Z' || b[i+2] == 'X'
}

func explain(tid int, e unix.Errno) error {
	switch {
	case e == 0:
		return nil
	case e == unix.ESRCH, e == unix.EPERM && ended(tid):
		return fmt.Errorf("thread %d: %w", tid, os.ErrProcessDone)
	case e == unix.EPERM, e == unix.EACCES:
		return fmt.Errorf("thread %d: %w: run as the process's user or root, and without a debugger beside", tid, ErrDenied)
	}
	return fmt.Errorf("thread %d: %w", tid, e)
}
