package ptrace

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestStop stops a shell that counts, reads it, and lets it run on: signals for it still
// arrive, and it ends as it would have.
func TestStop(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", `trap 'echo usr; done=1' USR1; echo ready; while [ -z "$done" ]; do :; done; echo end; exit 7`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(out)
	lines.Scan()
	pid := cmd.Process.Pid
	s := New(4096)
	defer s.Close()
	for range 50 {
		r, err := s.Stop(pid, 0)
		if errors.Is(err, ErrDenied) {
			t.Skip("ptrace is not to be had")
		}
		if errors.Is(err, ErrStuck) { // on a busy machine
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.IP == 0 || r.SP == 0 || len(r.Stack) == 0 || r.Still <= 0 {
			t.Errorf("%+v", r)
		}
	}
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil || !strings.Contains(string(b), "TracerPid:\t0\n") {
		t.Errorf("it is traced still: %v", err)
	}
	// A signal comes while it is stopped and read again and again.
	go func() {
		time.Sleep(5 * time.Millisecond)
		_ = unix.Kill(pid, unix.SIGUSR1)
	}()
	for {
		if _, err := s.Stop(pid, 0); err != nil {
			if errors.Is(err, ErrStuck) {
				continue
			}
			if !errors.Is(err, os.ErrProcessDone) {
				t.Error(err)
			}
			break
		}
	}
	var got []string
	for lines.Scan() {
		got = append(got, lines.Text())
	}
	if strings.Join(got, " ") != "usr end" {
		t.Errorf("it said %q", got)
	}
	if _, err := s.Stop(1<<22+1, 0); !errors.Is(err, os.ErrProcessDone) {
		t.Error("no thread:", err)
	}
}

// TestFrozen leaves a process alone that does not stop, since it waits in the kernel for its child to
// become another program (vfork).
func TestFrozen(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the number of vfork is x86-64's")
	}
	perl, err := exec.LookPath("perl")
	if err != nil {
		t.Skip("perl is not installed")
	}
	cmd := exec.Command(perl, "-e", `$| = 1; print "ready\n"; syscall(58); sleep 60`)
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	bufio.NewScanner(out).Scan()
	children := "/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(pid) + "/children"
	for b := []byte(nil); len(b) == 0; b, _ = os.ReadFile(children) { // it then waits for its child
		time.Sleep(time.Millisecond)
	}
	s := New(4096)
	if _, err := s.Stop(pid, 0); errors.Is(err, ErrDenied) {
		t.Skip("ptrace is not to be had")
	} else if !errors.Is(err, ErrStuck) {
		t.Error(err)
	}
	s.Close() // does not wait for it
	s = New(4096)
	defer s.Close()
	_ = unix.Kill(-pid, unix.SIGKILL)
	_ = cmd.Wait() // or the stopper has found that it has ended
	if _, err := s.Stop(pid, 0); !errors.Is(err, os.ErrProcessDone) {
		t.Error("killed:", err)
	}
}
