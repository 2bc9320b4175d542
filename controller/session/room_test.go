package session

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
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
