package session

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// swiftSlice is the shortest time slice that Linux grants.
const swiftSlice = 100_000 // ns

// swift asks the kernel to run threads soon after they become ready. On a machine where all
// cores are busy a thread that wakes otherwise waits for the end of somebody's
// time slice, some milliseconds, and each class that is retransformed wakes
// two threads, one after the other. No thread gets more than its share of a
// core by this: its slices are the shorter. Linux 6.12 and later; older kernels
// ignore it.
func swift(tids []int) {
	for _, tid := range tids {
		a, err := unix.SchedGetAttr(tid, 0)
		if err != nil || a.Policy != unix.SCHED_NORMAL {
			continue // somebody has set what they want
		}
		a.Runtime = swiftSlice
		_ = unix.SchedSetAttr(tid, a, 0) // slower without
	}
}

// sharpen has a thread's pauses end when they should, and not up to 50 µs later. For
// another process's it takes CAP_SYS_NICE.
func sharpen(tids ...int) {
	for _, tid := range tids {
		_ = os.WriteFile(filepath.Join("/proc", strconv.Itoa(tid), "timerslack_ns"), []byte("1"), 0) // slower without
	}
}

// A precedence lets threads go before others for as long as others wait for them:
// the loop's, which plans and rewrites, the agent's, which redefines, and the VM
// thread, which does it while all others stand. On a machine whose cores are all
// busy they would have to wait with everybody else, the JVM's compiler threads for
// one, for what everybody else waits for. It takes CAP_SYS_NICE; without, nothing is done.
// It is for the loop.
type precedence struct {
	threads []favoured
	on      bool
}

// A favoured thread has a nice value of before.
type favoured struct {
	tid  int
	nice int32
}

// add takes threads into account from the next time on.
func (p *precedence) add(tids ...int) {
	p.set(false)
	for _, tid := range tids {
		p.threads = append(p.threads, favoured{tid: tid})
	}
}

// set gives the threads precedence, or takes it from them. A thread whose priority
// somebody has set otherwise, or that we may not favour, is left alone.
func (p *precedence) set(on bool) {
	if on == p.on {
		return
	}
	p.on = on
	for i := range p.threads {
		t := &p.threads[i]
		a, err := unix.SchedGetAttr(t.tid, 0)
		if err != nil || a.Policy != unix.SCHED_NORMAL || !on && a.Nice != favourNice {
			continue
		}
		if on {
			t.nice = a.Nice
			a.Nice = min(a.Nice, favourNice)
		} else {
			a.Nice = t.nice
		}
		if unix.SchedSetAttr(t.tid, a, 0) != nil {
			t.tid = 0
		}
	}
	p.threads = slices.DeleteFunc(p.threads, func(t favoured) bool { return t.tid == 0 })
}

// threadsOf are the threads of a process, by name.
func threadsOf(pid int) map[string][]int {
	out := map[string][]int{}
	dir := filepath.Join("/proc", strconv.Itoa(pid), "task")
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return out
	}
	for _, t := range tasks {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		if name, err := os.ReadFile(filepath.Join(dir, t.Name(), "comm")); err == nil {
			n := strings.TrimSpace(string(name))
			out[n] = append(out[n], tid)
		}
	}
	return out
}

// favourNice is the nice value of a thread for which others wait.
const favourNice = -10

// favour lets a thread of ours go before others, where we may (CAP_SYS_NICE),
// and else soon after it becomes ready.
func favour(tid int) {
	a, err := unix.SchedGetAttr(tid, 0)
	if err != nil || a.Policy != unix.SCHED_NORMAL {
		return
	}
	nice := a.Nice
	a.Runtime, a.Nice = swiftSlice, min(nice, favourNice)
	if unix.SchedSetAttr(tid, a, 0) == nil {
		return
	}
	a.Nice = nice
	_ = unix.SchedSetAttr(tid, a, 0) // slower without
}
