// Package perf samples the threads of one process by perf_event_open(2): each time that a
// thread has used so much CPU time, the kernel writes its registers and the upper end of its
// stack to a ring in memory. Nothing is loaded into the process, and nothing stays when
// this one ends.
//
// There is an event for each thread and CPU, with a ring for each CPU (events that threads
// inherit can't be mapped otherwise). A thread that begins later inherits the event of the one
// that began it; child processes don't.
//
// A [Source] is not safe for concurrent use.
package perf

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Options say how to sample.
type Options struct {
	Period     int64 // nanoseconds of a thread's CPU time between two samples
	StackBytes int   // of the stack, a multiple of 8 up to 61,440; 0: 16,384
	Kernel     bool  // the kernel's frames as well, where privilege allows
	Prompt     bool  // descriptors of [Source.Files] become readable at each sample, not when a ring is half full
}

// A Sample is what the kernel wrote of one thread. Stack is valid until the function that was
// given the sample returns.
type Sample struct {
	TID    int   // as this process's namespace has it
	Time   int64 // nanoseconds, CLOCK_MONOTONIC
	Regs   Registers
	Stack  []byte   // from Regs.SP upwards; empty if there are no user registers
	Valid  bool     // there are registers
	Kernel []uint64 // addresses of code of the kernel, innermost first; valid as long as Stack
}

const (
	clockTask   = 1 // PERF_COUNT_SW_TASK_CLOCK
	software    = 1
	sampleTypes = 0x2 | 0x4 | 0x40 | 0x1000 | 0x2000 // TID, TIME, ID, REGS_USER, STACK_USER
	callChain   = 0x20                               // and, before REGS_USER, the kernel's frames
	threadOnly  = 1 << 35                            // inherit_thread: kernel 5.13
	mostStack   = 61440
	usualStack  = 16 << 10
	mostPasses  = 20
)

// A Source samples one process.
type Source struct {
	pid    int
	attr   unix.PerfEventAttr
	of     *machine
	events []int
	rings  []*ring
	late   map[int]map[uint64]bool // ids of the events of threads that may have inherited one too

	chain     []uint64 // used again by Drain
	lost      int64
	throttled int64
	noKernel  bool
	prompt    bool
}

// Open begins to sample a process. Its errors wrap [ErrDenied], [ErrFiles], [ErrMemory],
// [ErrUnsupported] or os.ErrProcessDone, and say what can be done.
func Open(pid int, o Options) (*Source, error) {
	if o.StackBytes == 0 {
		o.StackBytes = usualStack
	}
	if o.Period <= 0 || o.StackBytes%8 != 0 || o.StackBytes < 0 || o.StackBytes > mostStack {
		return nil, fmt.Errorf("sample each %d ns with %d bytes of stack: %w", o.Period, o.StackBytes, unix.EINVAL)
	}
	s := &Source{pid: pid, of: machines[runtime.GOARCH], late: map[int]map[uint64]bool{}, attr: unix.PerfEventAttr{
		Type:              software,
		Config:            clockTask,
		Sample:            uint64(o.Period),
		Sample_type:       sampleTypes,
		Bits:              unix.PerfBitDisabled | unix.PerfBitInherit | unix.PerfBitWatermark | unix.PerfBitUseClockID | threadOnly,
		Clockid:           unix.CLOCK_MONOTONIC,
		Sample_stack_user: uint32(o.StackBytes),
	}}
	if s.of == nil {
		return nil, fmt.Errorf("%w: registers of %s are not known", ErrUnsupported, runtime.GOARCH)
	}
	s.attr.Sample_regs_user = s.of.mask()
	s.attr.Size = uint32(unsafe.Sizeof(s.attr))
	if s.prompt = o.Prompt; o.Prompt {
		s.attr.Wakeup = 1
	}
	if o.Kernel {
		s.attr.Sample_type |= callChain
		s.attr.Bits |= unix.PerfBitExcludeCallchainUser
	}
	if err := s.open(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// open opens the events of all threads, until there are no new ones.
func (s *Source) open() error {
	cpus, err := online()
	if err != nil {
		return err
	}
	if err := s.probe(cpus[0]); err != nil {
		return err
	}
	byCPU := map[int]*ring{}
	seen := map[int]bool{}
	for pass := range mostPasses {
		tids, err := Threads(s.pid)
		if err != nil {
			return err
		}
		fresh := 0
		for _, tid := range tids {
			if seen[tid] {
				continue
			}
			seen[tid] = true
			fresh++
			for _, cpu := range cpus {
				if err := s.add(tid, cpu, byCPU, pass > 0); err != nil {
					return err
				}
			}
		}
		if fresh == 0 {
			break
		}
	}
	if len(s.events) == 0 {
		return fmt.Errorf("process %d has no thread that can be sampled: %w", s.pid, os.ErrProcessDone)
	}
	for _, fd := range s.events {
		if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_ENABLE, 0); err != nil {
			return explain(s.pid, "begin to sample", err)
		}
	}
	return nil
}

// probe finds what this kernel and user may do: without privilege only what happens outside
// of the kernel, and before 5.13 without inherit_thread.
func (s *Source) probe(cpu int) error {
	for {
		fd, err := unix.PerfEventOpen(&s.attr, s.pid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		switch {
		case err == nil:
			unix.Close(fd)
			return nil
		case errors.Is(err, unix.EINVAL) && s.attr.Bits&threadOnly != 0:
			s.attr.Bits &^= threadOnly
		case (errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM)) && !s.noKernel:
			s.noKernel = true
			s.attr.Bits |= unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv
			s.attr.Bits &^= unix.PerfBitExcludeCallchainUser
			s.attr.Sample_type &^= callChain
		default:
			return explain(s.pid, "sample", err)
		}
	}
}

// add opens the event of one thread on one CPU.
func (s *Source) add(tid, cpu int, byCPU map[int]*ring, late bool) error {
	fd, err := unix.PerfEventOpen(&s.attr, tid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	switch {
	case errors.Is(err, unix.ESRCH), errors.Is(err, unix.ENODEV): // has ended; is off
		return nil
	case err != nil:
		return explain(s.pid, "sample", err)
	}
	s.events = append(s.events, fd)
	if r := byCPU[cpu]; r != nil {
		if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, r.fd); err != nil {
			return explain(s.pid, "sample", err)
		}
	} else {
		r, err := mapRing(fd)
		if err != nil {
			return explain(s.pid, "map a ring", err)
		}
		byCPU[cpu] = r
		s.rings = append(s.rings, r)
		if !s.prompt {
			s.attr.Wakeup = uint32(len(r.data) / 2)
		}
	}
	if late { // what began it may have had its event already, which it then inherited
		id := uint64(0)
		if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.PERF_EVENT_IOC_ID, uintptr(unsafe.Pointer(&id))); e == 0 {
			if s.late[tid] == nil {
				s.late[tid] = map[uint64]bool{}
			}
			s.late[tid][id] = true
		}
	}
	return nil
}

// Close ends sampling.
func (s *Source) Close() error {
	for _, r := range s.rings {
		r.unmap()
	}
	for _, fd := range s.events {
		unix.Close(fd)
	}
	s.rings, s.events = nil, nil
	return nil
}

// Files are the descriptors by which poll(2) tells that there are samples.
func (s *Source) Files() []int {
	var out []int
	for _, r := range s.rings {
		out = append(out, r.fd)
	}
	return out
}

// Lost is how many samples the kernel could not write since rings were full, or did not
// take since there were too many.
func (s *Source) Lost() int64 { return s.lost }

// NoKernel reports whether samples within the kernel are missing, which needs privilege
// where perf_event_paranoid is above 1.
func (s *Source) NoKernel() bool { return s.noKernel }

// Events is how many events are open, each of which is a descriptor.
func (s *Source) Events() int { return len(s.events) }

// Threads are the threads of a process. The error wraps [os.ErrProcessDone] where there
// is no such process.
func Threads(pid int) ([]int, error) {
	d, err := os.Open(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = fmt.Errorf("process %d: %w", pid, os.ErrProcessDone)
		}
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		if errors.Is(err, unix.ESRCH) {
			err = fmt.Errorf("process %d: %w", pid, os.ErrProcessDone)
		}
		return nil, err
	}
	out := make([]int, 0, len(names))
	for _, n := range names {
		if tid, err := strconv.Atoi(n); err == nil {
			out = append(out, tid)
		}
	}
	return out, nil
}

// online are the CPUs that are on, of whatever number.
func online() ([]int, error) {
	b, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, err
	}
	cpus, err := ranges(strings.TrimSpace(string(b)))
	if err == nil && len(cpus) == 0 {
		err = errors.New("/sys/devices/system/cpu/online names no CPU")
	}
	return cpus, err
}

// ranges decodes a list such as "0-3,8".
func ranges(s string) ([]int, error) {
	const most = 1 << 13
	var out []int
	for part := range strings.SplitSeq(s, ",") {
		first, last, to := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		if err != nil {
			return nil, err
		}
		b := a
		if to {
			if b, err = strconv.Atoi(last); err != nil {
				return nil, err
			}
		}
		for ; a <= b && len(out) < most; a++ {
			out = append(out, a)
		}
	}
	return out, nil
}
