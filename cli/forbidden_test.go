package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/cli"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// forbidden runs the command line in a process to which the kernel refuses what looking from outside takes, as
// containers' usual seccomp profiles do.
func forbidden() int {
	if err := forbid(unix.SYS_PROCESS_VM_READV, unix.SYS_PTRACE, unix.SYS_PERF_EVENT_OPEN); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 100
	}
	return cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// forbid has system calls of all threads of this process fail with EPERM from now on.
func forbid(calls ...uint32) error {
	const allow, refuse = unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // the call's number
	for _, n := range calls {
		filter = append(filter, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: n, Jf: 1}, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: refuse})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: allow})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); e != 0 {
		return fmt.Errorf("seccomp: %w", e)
	}
	return nil
}

// TestForbidden: where the kernel refuses to look from outside, the JVM is asked instead, and it is said why.
func TestForbidden(t *testing.T) {
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Busy.java": "public class Busy { static volatile double sink; static void work() { for (int i = 0; i < 100000; i++) sink = Math.sqrt(i); }" +
		" public static void main(String[] a) { System.out.println(\"ready\"); for (;;) work(); } }"})
	p := jvmtest.Start(t, jvmtest.Any(t), []string{"-Xmx64m"}, "Busy", nil, dir)
	p.WaitLine("ready")
	run := func(into any, args ...string) string {
		t.Helper()
		cmd := exec.Command("forbidden", args...)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v: %s", args, err, errs.String())
		}
		if err := json.Unmarshal(out, into); err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
		return errs.String()
	}
	pid := strconv.Itoa(p.PID())
	var sampled struct {
		Sampling struct{ Source, Why string }
	}
	told := run(&sampled, "sample", pid, "--for", "1s", "--json")
	if s := sampled.Sampling; s.Source != "jfr" || !strings.Contains(s.Why, "not be read") || !strings.Contains(told, "by jfr") {
		t.Errorf("%+v; told %s", s, told)
	}
	for _, what := range []string{"threads", "locks"} {
		var seen struct {
			Source, Why string
			Deadlocks   []any
			Notes       []string
		}
		run(&seen, what, pid, "--json")
		if seen.Source != "threaddump" || !strings.Contains(seen.Why, "not be read") || seen.Deadlocks == nil || !strings.Contains(strings.Join(seen.Notes, " "), "by thread dumps, since") {
			t.Errorf("%s: %+v", what, seen)
		}
	}
	cmd := exec.Command("forbidden", "locks", pid, "--source", "outside")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "may not be read") {
		t.Errorf("%v: %s", err, out)
	}
}
