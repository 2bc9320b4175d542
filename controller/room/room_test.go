package room

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/jvmside"
)

// TestReserve reserves a process twice, and again while a child that is just being
// started still has this process's files.
func TestReserve(t *testing.T) {
	lock, err := Reserve(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Reserve(os.Getpid()); !errors.Is(err, ErrBusy) {
		t.Errorf("twice: %v", err)
	}
	child, err := unix.Dup(int(lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(child)
	Release(lock)
	if lock, err = Reserve(os.Getpid()); err != nil {
		t.Errorf("after the end: %v", err)
	}
	Release(lock)
}

// TestRoomOutlives removes the room of a process that has ended meanwhile.
func TestRoomOutlives(t *testing.T) {
	bundle, err := jvmside.NewBundle()
	if err != nil {
		t.Fatal(err)
	}
	p := exec.Command("sleep", "1000")
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	r, err := New(p.Process.Pid, uint32(os.Getuid()), uint32(os.Getgid()), bundle)
	if err := errors.Join(err, p.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	p.Wait() //nolint:errcheck // it was killed
	names := []string{r.Dir, r.DataPath}
	for _, name := range names {
		if _, err := os.Lstat(name); err != nil {
			t.Error(err)
		}
	}
	r.Close(false)
	for _, name := range names {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
}

// TestNoRoom makes a room in a process that has ended: an error, whatever of the room was there already.
func TestNoRoom(t *testing.T) {
	bundle, err := jvmside.NewBundle()
	if err != nil {
		t.Fatal(err)
	}
	const nobody = 1<<31 - 1 // above the kernel's highest pid
	if r, err := New(nobody, 0, 0, bundle); r != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, %v", r, err)
	}
}
