package cputime

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/priority"
)

// A Process reads how much processor time a process has used, the JVM's compilers left
// out: they work for a while on what was redefined, and not for the program. One goroutine uses it.
type Process struct {
	pid       int
	clock     int32
	compilers []string // folders of their threads
	known     time.Time
}

// compilersAgain is how often it is looked for new threads of the compilers.
const compilersAgain = 5 * time.Second

// OfProcess reads that of a process, by its id here.
func OfProcess(pid int) *Process {
	// The kernel's number of a process's clock (MAKE_PROCESS_CPUCLOCK, CPUCLOCK_SCHED).
	return &Process{pid: pid, clock: int32(^uint32(pid)<<3 | 2)}
}

// Read is the time used so far; 0 where it can't be told.
func (c *Process) Read() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(c.clock, &ts); err != nil {
		return 0
	}
	if time.Since(c.known) > compilersAgain {
		c.known, c.compilers = time.Now(), nil
		for name, ids := range priority.Threads(c.pid) {
			if !strings.HasPrefix(name, "C1 Compiler") && !strings.HasPrefix(name, "C2 Compiler") {
				continue
			}
			for _, id := range ids {
				c.compilers = append(c.compilers, filepath.Join("/proc", strconv.Itoa(c.pid), "task", strconv.Itoa(id)))
			}
		}
	}
	used := time.Duration(ts.Nano())
	for _, dir := range c.compilers {
		if w, err := priority.WorkOf(dir); err == nil {
			used -= w.Ran
		}
	}
	return used
}
