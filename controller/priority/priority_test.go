package priority

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestShortSlices looks at a thread's time slice, which older kernels don't tell.
func TestShortSlices(t *testing.T) {
	before, err := unix.SchedGetAttr(unix.Gettid(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, tids := range Threads(os.Getpid()) {
		ShortSlices(tids...)
	}
	a, err := unix.SchedGetAttr(unix.Gettid(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if before.Runtime == 0 {
		t.Logf("this kernel does not tell slices: %+v", *a)
	} else if a.Runtime != sliceNs {
		t.Errorf("the slice is %d ns", a.Runtime)
	}
	if a.Nice != before.Nice || a.Policy != before.Policy {
		t.Errorf("%+v, was %+v", *a, *before)
	}
}

func niceOf(t *testing.T, tid int) int32 {
	t.Helper()
	a, err := unix.SchedGetAttr(tid, 0)
	if err != nil {
		t.Fatal(err)
	}
	return a.Nice
}

// TestBoost: a thread goes before others only as long as it is to.
func TestBoost(t *testing.T) {
	runtime.LockOSThread() // the thread ends with the test
	tid := unix.Gettid()
	nice := func() int32 { return niceOf(t, tid) }
	before := nice()
	var p Boost
	p.Add(tid)
	for range 2 {
		p.Set(true)
		p.Set(true)
		if len(p.threads) == 0 {
			t.Log("this takes CAP_SYS_NICE")
		} else if got := nice(); got != min(before, Nice) {
			t.Errorf("nice %d", got)
		}
		p.Set(false)
		p.Set(false)
		if got := nice(); got != before {
			t.Errorf("nice %d, was %d", got, before)
		}
	}
	name := append([]byte("rivulet-test"), 0)
	if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	if got := Threads(os.Getpid())["rivulet-test"]; !slices.Equal(got, []int{tid}) {
		t.Errorf("threads %v of that name, want %d", got, tid)
	}
}

// TestGuard has a thread's priority put back by a guard whose master is gone.
func TestGuard(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()         //nolint:errcheck // killed
	defer cmd.Process.Kill() //nolint:errcheck // as above
	pid := cmd.Process.Pid
	nice := func() int32 { return niceOf(t, pid) }
	before := nice()
	g, err := NewGuard(pid, pid, before)
	if err != nil {
		t.Skip("this takes CAP_SYS_NICE:", err)
	}
	var p Boost
	p.Add(pid)
	p.Set(true)
	if got := nice(); got != Nice {
		t.Fatalf("nice %d", got)
	}
	for _, sig := range []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGTERM} { // those of a terminal that closes
		if err := g.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	g.End() // as the end of this process would
	if got := nice(); got != before {
		t.Errorf("nice %d, was %d", got, before)
	}

	// What somebody else has set since stays.
	if g, err = NewGuard(pid, pid, before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setpriority(unix.PRIO_PROCESS, pid, int(before)+3); err != nil {
		t.Fatal(err)
	}
	g.End()
	if got := nice(); got != before+3 {
		t.Errorf("nice %d, was set to %d", got, before+3)
	}
	(*Guard)(nil).End()
}
