//go:build amd64 || arm64

package ptrace

import (
	"bytes"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	smallest = 256 // bytes of stack
	// A thread that has a core stops within some microseconds. For so many nanoseconds the stopper
	// looks without giving up its own core.
	spins = 50_000
)

// tracing is what the kernel does to a thread. None of its calls waits, but block.
type tracing interface {
	seize(tid int) unix.Errno
	interrupt(tid int) unix.Errno
	wait(tid int, status *unix.WaitStatus) (bool, unix.Errno) // false: not yet
	block(tid int, status *unix.WaitStatus) unix.Errno
	registers(tid int, r *unix.PtraceRegs) unix.Errno
	read(tid int, p []byte, at uint64) bool // all of it
	detach(tid, sig int) unix.Errno
	now() int64   // ns
	delay() int64 // ns that this thread has waited for a core so far
}

// A hold is one stop. From when a thread has stopped until it runs again nothing is
// allocated, and no function is called in which Go's scheduler could give this thread's place to another
// goroutine, for which the target would have to wait.
type hold struct {
	do    tracing
	p     []byte
	regs  unix.PtraceRegs
	stack []byte

	status unix.WaitStatus
	begun  int64
	still  int64
	failed unix.Errno // of reading, or of letting it go
}

func newHold(do tracing, bytes int) *hold {
	if _, ok := do.(kernel); ok {
		fd, err := unix.Open("/proc/thread-self/schedstat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			fd = -1
		}
		do = kernel{&own{fd: fd}}
	}
	return &hold{do: do, p: make([]byte, bytes)}
}

func (h *hold) close() {
	if k, ok := h.do.(kernel); ok && k.own != nil && k.fd >= 0 {
		unix.Close(k.fd)
	}
}

// soon reads a thread that stops at once. It reports whether it did, or has ended.
//
//go:nosplit
func (h *hold) soon(r request) (bool, unix.Errno) {
	asked := h.do.now()
	h.begun = asked
	for {
		looked := h.do.now()
		seen, e := h.do.wait(r.tid, &h.status)
		if seen {
			h.read(r)
			return true, 0
		}
		if e != 0 && e != unix.EINTR {
			return false, e
		}
		if h.begun = looked; looked-asked > spins { // it was not stopped then
			return false, 0
		}
	}
}

// read reads a thread that has stopped, and lets it go.
//
//go:nosplit
func (h *hold) read(r request) {
	if !h.status.Stopped() {
		return
	}
	// It may have stopped for a signal, which is then its own; HotSpot uses some.
	sig := int(h.status.StopSignal())
	if h.status>>16 == unix.PTRACE_EVENT_STOP {
		sig = 0
	}
	h.stack = nil
	if h.failed = h.do.registers(r.tid, &h.regs); h.failed == 0 {
		n := len(h.p)
		if sp := stackPointer(&h.regs); r.base > sp && r.base-sp < uint64(n) {
			n = int(r.base-sp) &^ 7
		}
		for ; n >= smallest && h.stack == nil; n /= 2 {
			if h.do.read(r.tid, h.p[:n], stackPointer(&h.regs)) {
				h.stack = h.p[:n]
			}
		}
	}
	if e := h.do.detach(r.tid, sig); h.failed == 0 {
		h.failed = e
	}
	h.still = h.do.now() - h.begun
}

// kernel is the real one.
type kernel struct{ *own }

// own is what is known of the calling thread.
type own struct {
	fd   int // of its times in /proc
	text [64]byte
}

//go:nosplit
func (kernel) seize(tid int) unix.Errno { return trace(unix.PTRACE_SEIZE, tid, 0) }

//go:nosplit
func (kernel) interrupt(tid int) unix.Errno { return trace(unix.PTRACE_INTERRUPT, tid, 0) }

//go:nosplit
func (kernel) detach(tid, sig int) unix.Errno { return trace(unix.PTRACE_DETACH, tid, sig) }

//go:nosplit
func trace(request, tid, data int) unix.Errno {
	_, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), 0, uintptr(data), 0, 0)
	return e
}

//go:nosplit
func (kernel) registers(tid int, r *unix.PtraceRegs) unix.Errno {
	to := unix.Iovec{Base: (*byte)(unsafe.Pointer(r)), Len: uint64(unsafe.Sizeof(*r))}
	const general = 1 // NT_PRSTATUS
	_, _, e := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GETREGSET, uintptr(tid), general, uintptr(unsafe.Pointer(&to)), 0, 0)
	return e
}

//go:nosplit
func (kernel) read(tid int, p []byte, at uint64) bool {
	local := unix.Iovec{Base: &p[0], Len: uint64(len(p))}
	remote := unix.RemoteIovec{Base: uintptr(at), Len: len(p)}
	n, _, e := unix.RawSyscall6(unix.SYS_PROCESS_VM_READV, uintptr(tid), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	return e == 0 && int(n) == len(p)
}

//go:nosplit
func (kernel) wait(tid int, status *unix.WaitStatus) (bool, unix.Errno) {
	n, _, e := unix.RawSyscall6(unix.SYS_WAIT4, uintptr(tid), uintptr(unsafe.Pointer(status)), unix.WALL|unix.WNOHANG, 0, 0, 0)
	return e == 0 && n != 0, e
}

//go:nosplit
func (kernel) now() int64 {
	var t unix.Timespec
	_, _, _ = unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&t)), 0)
	return t.Sec*1e9 + t.Nsec
}

// block waits without one of Go's places, which others can have meanwhile.
func (kernel) block(tid int, status *unix.WaitStatus) unix.Errno {
	for {
		_, _, e := unix.Syscall6(unix.SYS_WAIT4, uintptr(tid), uintptr(unsafe.Pointer(status)), unix.WALL, 0, 0, 0)
		if e != unix.EINTR {
			return e
		}
	}
}

// delay is the second number of schedstat; 0 where the kernel keeps none.
func (k kernel) delay() int64 {
	n, err := unix.Pread(k.fd, k.text[:], 0)
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(k.text[:n], []byte(" "))
	second, _, _ := bytes.Cut(rest, []byte(" "))
	d, _ := strconv.ParseInt(string(second), 10, 64) // no number is none
	return d
}
