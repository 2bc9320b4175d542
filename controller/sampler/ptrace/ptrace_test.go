package ptrace

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

type memory int

func (pid memory) Read(p []byte, at uint64) error {
	n, err := unix.ProcessVMReadv(int(pid), []unix.Iovec{{Base: &p[0], Len: uint64(len(p))}}, []unix.RemoteIovec{{Base: uintptr(at), Len: len(p)}}, 0)
	if err == nil && n < len(p) {
		err = unix.EFAULT
	}
	return err
}

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
	p := make([]byte, 4096)
	for range 50 {
		r, stack, still, err := Stop(pid, memory(pid), p, 0)
		if errors.Is(err, ErrDenied) {
			t.Skip("ptrace is not to be had")
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.IP == 0 || r.SP == 0 || len(stack) == 0 || still <= 0 {
			t.Errorf("%+v, %d bytes, %v", r, len(stack), still)
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
		if _, _, _, err := Stop(pid, memory(pid), p, 0); err != nil {
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
	if _, _, _, err := Stop(1<<22+1, memory(pid), p, 0); !errors.Is(err, os.ErrProcessDone) {
		t.Error("no thread:", err)
	}
}
