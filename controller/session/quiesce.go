package session

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	// ranEnough is the CPU time in which a thread leaves a probe that it was in:
	// a probe takes some nanoseconds, its slow parts microseconds.
	ranEnough = time.Millisecond
	// quietLongest bounds the wait for a machine that is busy otherwise.
	quietLongest = 2 * time.Second
)

// quiesce waits, with the gate shut, until no thread of the target can still be
// within a probe that it entered before: each has either run for a while since or
// sleeps, which probes do only in parts that look at the gate again before they
// write. It reports false when that can't be known in time.
func (s *Session) quiesce(ctx context.Context) bool {
	// Threads in interpreted probes may sleep at a safepoint. The agent's answer
	// says that none is on.
	if _, err := s.findable(ctx, "java/lang/Object"); err != nil {
		return false
	}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", s.proc.PID))
	if err != nil {
		return false
	}
	first := map[string]time.Duration{}
	for deadline := time.Now().Add(quietLongest); ; time.Sleep(2 * time.Millisecond) {
		busy := 0
		for _, t := range tasks {
			ran, running, ok := taskRun(t)
			began, known := first[t]
			switch {
			case !ok:
			case !known:
				first[t] = ran
				if running {
					busy++
				}
			case running && ran-began < ranEnough:
				busy++
			default:
				first[t] = -time.Hour // it has been seen outside
			}
		}
		if busy == 0 {
			return true
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return false
		}
	}
}

// taskRun reads how long a thread has run, and whether it wants to, from its
// folder under /proc.
func taskRun(dir string) (ran time.Duration, running, ok bool) {
	b, err := os.ReadFile(filepath.Join(dir, "schedstat"))
	if err != nil {
		return 0, false, false
	}
	ns, _, _ := bytes.Cut(b, []byte(" "))
	n, err := strconv.ParseInt(string(ns), 10, 64)
	if err != nil {
		return 0, false, false
	}
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return 0, false, false
	}
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 || len(stat) < end+3 {
		return 0, false, false
	}
	return time.Duration(n), stat[end+2] == 'R', true
}
