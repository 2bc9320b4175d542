package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/tools/internal/proc"
)

// hungUp runs the controller on a terminal of its own, which is closed.
func hungUp(r *round) error {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	closed := false
	shut := func() {
		if !closed {
			closed = true
			master.Close()
		}
	}
	defer shut()
	n, err := unlock(master)
	if err != nil {
		return err
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	r.options = r.choose()
	c := &controller{report: filepath.Join(r.dir, "report.json")}
	os.Remove(c.report)
	_, c.before, _ = r.t.calls()
	cmd := exec.Command(r.Rivulet, append([]string{"profile", fmt.Sprint(r.t.pid), "--root", root, "--format", "json", "--depth", "50", "-o", c.report}, r.options...)...)
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	c.Proc, err = proc.On(cmd, tty, master)
	tty.Close()
	if err != nil {
		return err
	}
	c.pid, r.c = cmd.Process.Pid, c
	if r.rng.IntN(3) > 0 {
		if err := c.on(r.t); err != nil {
			return err
		}
		r.recording = true
	}
	r.wait(1500 * time.Millisecond)
	_, r.ended, _ = r.t.calls()
	shut()
	codes := []int{0}
	if !r.recording {
		codes = []int{0, 1, -1}
	}
	if err := r.leave(0, codes...); err != nil {
		return err
	}
	return r.after()
}

// unlock makes the other side of a terminal ready, and returns its number. It does not use the
// file's Fd, which would make its reads block and keep it open.
func unlock(master *os.File) (n int, err error) {
	conn, err := master.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		if failed = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); failed == nil {
			n, failed = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	})
	return n, errors.Join(err, failed)
}

// diskFull has the report go to a file system that has room for a page.
func diskFull(r *round) error {
	dir, err := os.MkdirTemp(r.dir, "full")
	if err != nil {
		return err
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("mount: %w: %s", err, out)
	}
	defer func() {
		unix.Unmount(dir, unix.MNT_DETACH) //nolint:errcheck // the folder is temporary
		os.Remove(dir)
	}()
	// A small report would fit into a page.
	if err := os.WriteFile(filepath.Join(dir, "fill"), make([]byte, 4<<10), 0o600); err != nil {
		return err
	}
	file := filepath.Join(dir, "report")
	options := [][]string{
		{"--format", "json", "-o", file},
		{"--format", "html", "-o", file},
		{"--trace", file, "-o", filepath.Join(r.dir, "other"), "--format", "text"},
		{"--stream", file, "-o", filepath.Join(r.dir, "other"), "--format", "text"},
	}[r.rng.IntN(4)]
	if err := r.moment(true, options...); err != nil {
		return err
	}
	r.c.signal(unix.SIGINT)
	begin := time.Now()
	code, err := r.c.end()
	if err != nil {
		return err
	}
	if code != 1 {
		return fmt.Errorf("rivulet's exit code is %d with a full disk: %s", code, r.c.Err.All())
	}
	if err := r.restore(begin, true); err != nil {
		return err
	}
	return r.after()
}

// shmFull fills the target's /dev/shm while the tree grows.
func shmFull(r *round) error {
	fill := func() error {
		f, err := os.Create(fmt.Sprintf("/proc/%d/root/dev/shm/fill", r.t.pid))
		if err != nil {
			return err
		}
		defer f.Close()
		b := make([]byte, 64<<10)
		for {
			if _, err := f.Write(b); errors.Is(err, unix.ENOSPC) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
	early := r.rng.IntN(3) == 0
	if early { // it is full already
		if err := fill(); err != nil {
			return err
		}
	}
	if err := r.record(); err != nil {
		return err
	}
	codes := []int{0}
	if early {
		codes = []int{0, 1, -1}
		r.wait(2 * time.Second)
	} else {
		if err := r.c.on(r.t); err != nil {
			return err
		}
		r.recording = true
		if err := r.t.Send("wide"); err != nil {
			return err
		}
		r.wait(500 * time.Millisecond)
		if err := fill(); err != nil {
			return err
		}
		r.wait(1500 * time.Millisecond)
	}
	_, r.ended, _ = r.t.calls()
	if err := r.leave(unix.SIGINT, codes...); err != nil {
		return err
	}
	if err := os.Remove(fmt.Sprintf("/proc/%d/root/dev/shm/fill", r.t.pid)); err != nil {
		return err
	}
	return r.after()
}

// noMore lets a process open no more than it has now; the caller puts the old limit back.
func noMore(pid int) (back func(), err error) {
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return nil, err
	}
	var old unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &old); err != nil {
		return nil, err
	}
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(len(fds)), Max: old.Max}, nil); err != nil {
		return nil, err
	}
	return func() { unix.Prlimit(pid, unix.RLIMIT_NOFILE, &old, nil) }, nil //nolint:errcheck // it may have ended
}

func descriptors(r *round) error {
	if err := r.record(); err != nil {
		return err
	}
	if r.rng.IntN(2) == 0 {
		if err := r.c.on(r.t); err != nil {
			return err
		}
		r.recording = true
	}
	r.wait(time.Second)
	if _, err := noMore(r.c.pid); err != nil {
		if _, end := r.c.end(); end != nil { // it was done with already
			return end
		}
		return r.after()
	}
	r.wait(1500 * time.Millisecond)
	r.c.signal(unix.SIGINT)
	begin := time.Now()
	if _, err := r.c.end(); err != nil {
		return err
	}
	if err := r.restore(begin, true); err != nil {
		return err
	}
	return r.after()
}

func targetDescriptors(r *round) error {
	var back func()
	var err error
	if r.rng.IntN(2) == 0 { // from before on
		if back, err = noMore(r.t.pid); err != nil {
			return err
		}
		if err := r.record(); err != nil {
			return err
		}
		r.wait(3 * time.Second)
	} else {
		if err := r.moment(false); err != nil {
			return err
		}
		if back, err = noMore(r.t.pid); err != nil {
			return err
		}
		r.wait(time.Second)
		_, r.ended, _ = r.t.calls()
	}
	codes := []int{0}
	if !r.recording {
		codes = []int{0, 1, -1}
	}
	err = r.leave(unix.SIGINT, codes...)
	back()
	if err != nil {
		return err
	}
	return r.after()
}

// killedOthers kills commands that record nothing.
func killedOthers(r *round) error {
	r.options = [][]string{
		{"sample"},
		{"sample", "--wall"},
		{"heap"},
		{"threads", "--for", "2s"},
		{"locks", "--for", "2s"},
		{"locks", "--exact", "--for", "2s"},
		{"time", "--root", root},
		{"watch", "--dir", filepath.Join(r.dir, "watch")},
		{"top"},
		{"prepare"},
	}[r.rng.IntN(10)]
	if err := r.rivulet(append([]string{r.options[0], fmt.Sprint(r.t.pid)}, r.options[1:]...)...); err != nil {
		return err
	}
	r.wait(2 * time.Second)
	r.c.find() //nolint:errcheck // most have none
	return r.gone()
}

// drain throws away what can be read.
func drain(f io.Reader) {
	io.Copy(io.Discard, f) //nolint:errcheck // until it is closed
}
