package perf

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// What stands in the way.
var (
	// ErrDenied reports that the kernel does not let this user sample the process.
	ErrDenied = errors.New("the kernel refuses perf_event_open")
	// ErrFiles reports that it takes more descriptors than this process may have.
	ErrFiles = errors.New("too many open files")
	// ErrMemory reports that it takes more locked memory than this user may have.
	ErrMemory = errors.New("too much locked memory")
	// ErrUnsupported reports a kernel without perf events.
	ErrUnsupported = errors.New("this kernel has no perf events")
)

// explain makes an error that says what can be done.
func explain(pid int, doing string, err error) error {
	switch {
	case errors.Is(err, unix.ESRCH):
		return fmt.Errorf("process %d: %w", pid, os.ErrProcessDone)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM) && doing != "map a ring":
		return fmt.Errorf("%s process %d: %w%s", doing, pid, ErrDenied, denied())
	case errors.Is(err, unix.EPERM):
		return fmt.Errorf("%s: %w: raise \"ulimit -l\", or kernel.perf_event_mlock_kb by sysctl", doing, ErrMemory)
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return fmt.Errorf("%s process %d: %w: an event for each thread and CPU is needed; raise \"ulimit -n\"", doing, pid, ErrFiles)
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Errorf("%s process %d: %w (%w)", doing, pid, ErrUnsupported, err)
	default:
		return fmt.Errorf("%s process %d: %w", doing, pid, err)
	}
}

// denied says why, and the way out.
func denied() string {
	const setting = "/proc/sys/kernel/perf_event_paranoid"
	b, err := os.ReadFile(setting)
	level := strings.TrimSpace(string(b))
	switch {
	case err != nil:
		return ""
	case level > "2" && len(level) == 1:
		return fmt.Sprintf(": kernel.perf_event_paranoid is %s; run \"sysctl kernel.perf_event_paranoid=2\" as root, or rivulet as root", level)
	default:
		return ": the process belongs to another user, or a seccomp filter forbids it (containers: allow perf_event_open, or add CAP_PERFMON); run as its user or root"
	}
}
