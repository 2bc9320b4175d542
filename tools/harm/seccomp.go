package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/jvmside/jdk"
)

// filtered is the first argument with which this program runs a command that may make some system calls no more.
const filtered = "filtered"

// blocked are system calls that container runtimes keep from ordinary containers, by the documentation of Docker's default
// profile ("Significant syscalls blocked by the default profile").
var blocked = []uintptr{
	unix.SYS_ACCT, unix.SYS_ADD_KEY, unix.SYS_BPF, unix.SYS_CLOCK_ADJTIME, unix.SYS_CLOCK_SETTIME, unix.SYS_DELETE_MODULE,
	unix.SYS_FINIT_MODULE, unix.SYS_GET_MEMPOLICY, unix.SYS_INIT_MODULE, unix.SYS_KCMP, unix.SYS_KEXEC_LOAD, unix.SYS_KEYCTL,
	unix.SYS_LOOKUP_DCOOKIE, unix.SYS_MBIND, unix.SYS_MOUNT, unix.SYS_MOVE_PAGES, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_PERF_EVENT_OPEN, unix.SYS_PIVOT_ROOT, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_QUOTACTL,
	unix.SYS_REBOOT, unix.SYS_REQUEST_KEY, unix.SYS_SET_MEMPOLICY, unix.SYS_SETNS, unix.SYS_SETTIMEOFDAY, unix.SYS_SWAPON,
	unix.SYS_SWAPOFF, unix.SYS_UMOUNT2, unix.SYS_UNSHARE, unix.SYS_USERFAULTFD,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
}

// underFilter has the program run below this one, with blocked system calls that fail with EPERM, and a /tmp of its own.
func underFilter(m *matrix, j jdk.JDK, dir string) (launch, error) {
	self, err := os.Executable()
	if err != nil {
		return launch{}, err
	}
	b, err := os.ReadFile(self) // it may lie in /tmp
	if err != nil {
		return launch{}, err
	}
	own := filepath.Join(m.dir, filtered)
	if err := os.WriteFile(own, b, 0o755); err != nil { //nolint:gosec // a program
		return launch{}, err
	}
	return mounted("mount -t tmpfs -o mode=1777 tmpfs /tmp && mount -t tmpfs -o mode=1777 tmpfs /dev/shm", own, filtered)(m, j, dir)
}

// runFiltered replaces this process by a command below a filter of system calls (seccomp(2)). It returns only what went wrong.
func runFiltered(command []string) error {
	if len(command) == 0 {
		return errors.New("no command to run")
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	const number = 0 // in struct seccomp_data
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: number}}
	for _, n := range blocked {
		program = append(program,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(n), Jf: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)})
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	runtime.LockOSThread() // it is this thread's filter, and this thread that goes on
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	f := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&f)), 0, 0); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return syscall.Exec(path, command, os.Environ())
}
