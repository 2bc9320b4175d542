package session

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/jvmside"
)

// TestReserve reserves a process twice, and again while a child that is just being
// started still has this process's files.
func TestReserve(t *testing.T) {
	r, other := &room{pid: os.Getpid()}, &room{pid: os.Getpid()}
	if err := r.reserve(); err != nil {
		t.Fatal(err)
	}
	if err := other.reserve(); !errors.Is(err, ErrBusy) {
		t.Errorf("twice: %v", err)
	}
	child, err := unix.Dup(int(r.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(child)
	r.close(false)
	if err := other.reserve(); err != nil {
		t.Errorf("after the end: %v", err)
	}
	other.close(false)
}

// TestNoRoom makes a room in a process that has ended: an error, whatever of the room was there already.
func TestNoRoom(t *testing.T) {
	bundle, err := jvmside.NewBundle()
	if err != nil {
		t.Fatal(err)
	}
	const nobody = 1<<31 - 1 // above the kernel's highest pid
	if r, err := newRoom(nobody, 0, 0, bundle); r != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, %v", r, err)
	}
}
