// Package priority has threads run before others where the kernel lets this
// process grant that, and gives each thread its own priority back.
//
// A controller shares its machine with the program that it profiles. Where all
// cores are busy, the threads for which everybody else waits (those that
// redefine classes, and the JVM's compilers after it) would have to wait with
// everybody else. A negative nice value of another process's thread takes
// CAP_SYS_NICE; without it everything here does nothing, and the program is
// slower for longer. A thread whose policy or nice value somebody else has set
// is left alone.
//
// The package knows threads by their numbers and what /proc says of them, and
// nothing of what they work for. A [Guard] outlives this process, so that no
// thread of the target keeps what was granted, whatever becomes of us.
package priority

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// Nice is the nice value of a thread that was given priority.
const Nice = -10

// sliceNs is the shortest time slice that Linux grants, in ns.
const sliceNs = 100_000

// ShortSlices asks the kernel to run threads soon after they become ready. On a
// machine where all cores are busy, a thread that wakes otherwise waits some
// milliseconds, until somebody's time slice ends, and each class that is
// retransformed wakes two threads, one after the other. No thread gets more than
// its share of a core by it, since its slices are shorter. It takes Linux 6.12;
// older kernels ignore it.
func ShortSlices(tids ...int) {
	for _, tid := range tids {
		a, err := unix.SchedGetAttr(tid, 0)
		if err != nil || a.Policy != unix.SCHED_NORMAL {
			continue // somebody has set what they want
		}
		a.Runtime = sliceNs
		_ = unix.SchedSetAttr(tid, a, 0) // slower without
	}
}

// ExactSleeps has the sleeps of threads end when they should, and not up to
// 50 µs later (the timer slack that Linux gives a thread). For threads of another
// process it takes CAP_SYS_NICE.
func ExactSleeps(tids ...int) {
	for _, tid := range tids {
		_ = os.WriteFile(filepath.Join("/proc", strconv.Itoa(tid), "timerslack_ns"), []byte("1"), 0) // slower without
	}
}

// Raise has a thread of this process go before others from now on, where we may
// (CAP_SYS_NICE); else it gets short time slices, as by [ShortSlices]. Nothing
// takes it back: the thread should be locked to a goroutine and end with it.
func Raise(tid int) {
	a, err := unix.SchedGetAttr(tid, 0)
	if err != nil || a.Policy != unix.SCHED_NORMAL {
		return
	}
	nice := a.Nice
	a.Runtime, a.Nice = sliceNs, min(nice, Nice)
	if unix.SchedSetAttr(tid, a, 0) == nil {
		return
	}
	a.Nice = nice
	_ = unix.SchedSetAttr(tid, a, 0) // slower without
}

// Allowed says why threads of other processes can't be given priority: the error is
// unix.EPERM without CAP_SYS_NICE, and nil where they can.
func Allowed() error {
	var caps [2]unix.CapUserData
	if err := unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &caps[0]); err != nil {
		return err
	}
	if caps[0].Effective&(1<<unix.CAP_SYS_NICE) == 0 {
		return unix.EPERM
	}
	return nil
}

// A Boost gives threads priority for as long as others wait for them: the
// controller's own, which plans and rewrites, the agent's, which redefines, and
// the VM thread, which does it while all others stand. The zero value has no
// threads. One goroutine at a time may use it.
type Boost struct {
	threads []boosted
	on      bool
}

// A boosted thread has the nice value nice by itself.
type boosted struct {
	tid  int
	nice int32
}

// Add takes threads in from the next Set on.
func (b *Boost) Add(tids ...int) {
	b.Set(false)
	for _, tid := range tids {
		b.threads = append(b.threads, boosted{tid: tid})
	}
}

// Set gives the threads priority, or takes it from them; it is cheap where
// nothing changes. A thread whose priority somebody has set otherwise since, or
// that we may not raise, is dropped or left alone.
func (b *Boost) Set(on bool) {
	if on == b.on {
		return
	}
	b.on = on
	for i := range b.threads {
		t := &b.threads[i]
		a, err := unix.SchedGetAttr(t.tid, 0)
		if err != nil || a.Policy != unix.SCHED_NORMAL || !on && a.Nice != Nice {
			continue
		}
		if on {
			t.nice = a.Nice
			a.Nice = min(a.Nice, Nice)
		} else {
			a.Nice = t.nice
		}
		if unix.SchedSetAttr(t.tid, a, 0) != nil {
			t.tid = 0
		}
	}
	b.threads = slices.DeleteFunc(b.threads, func(t boosted) bool { return t.tid == 0 })
}

// forget drops all threads, after it has given them their own priority.
func (b *Boost) forget() {
	b.Set(false)
	b.threads = nil
}

// raised tells whether a thread has the priority that we give, and its attributes.
func raised(tid int) (a *unix.SchedAttr, ok bool) {
	a, err := unix.SchedGetAttr(tid, 0)
	return a, err == nil && a.Policy == unix.SCHED_NORMAL && a.Nice == Nice
}

// putBack gives a thread that has our priority another nice value.
func putBack(tid int, nice int32) {
	if a, ok := raised(tid); ok {
		a.Nice = nice
		_ = unix.SchedSetAttr(tid, a, 0) // it may have ended
	}
}
