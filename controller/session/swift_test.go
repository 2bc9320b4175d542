package session

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSwift looks at a thread's time slice, which older kernels don't tell.
func TestSwift(t *testing.T) {
	before, err := unix.SchedGetAttr(unix.Gettid(), 0)
	if err != nil {
		t.Fatal(err)
	}
	swift(os.Getpid(), func(string) bool { return false })
	if a, err := unix.SchedGetAttr(unix.Gettid(), 0); err != nil || a.Runtime != before.Runtime {
		t.Errorf("no name matches, and the slice is %d ns, was %d (%v)", a.Runtime, before.Runtime, err)
	}
	swift(os.Getpid(), nil)
	a, err := unix.SchedGetAttr(unix.Gettid(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if before.Runtime == 0 {
		t.Logf("this kernel does not tell slices: %+v", *a)
	} else if a.Runtime != swiftSlice {
		t.Errorf("the slice is %d ns", a.Runtime)
	}
	if a.Nice != before.Nice || a.Policy != before.Policy {
		t.Errorf("%+v, was %+v", *a, *before)
	}
}
