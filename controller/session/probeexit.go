package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/priority"
)

const (
	// ranEnough is the CPU time in which a thread leaves a probe that it was in:
	// a probe takes some nanoseconds, its slow parts microseconds.
	ranEnough = time.Millisecond
	// quietLongest bounds the wait for a machine that is busy otherwise.
	quietLongest = 2 * time.Second
)

// awaitProbeExit waits, with the gate shut, until no thread of the target can still be
// within a probe that it entered before: each has either run for a while since, or
// sleeps, which probes do only in parts that look at the gate again before they
// write, and at safepoints if they are interpreted. So a thread has to be seen
// sleeping twice, each time after the agent has answered, which it can't at a
// safepoint. It reports false when that can't be known in time.
func (s *Session) awaitProbeExit(ctx context.Context) bool {
	dir := fmt.Sprintf("/proc/%d/task", s.proc.PID)
	tasks, err := os.ReadDir(dir)
	if err != nil || len(tasks) == 0 {
		return false
	}
	begin := map[string]time.Duration{}
	asleep := map[string]int{}
	for deadline := time.Now().Add(quietLongest); time.Now().Before(deadline) && ctx.Err() == nil; time.Sleep(2 * time.Millisecond) {
		if _, err := s.findable(ctx, "java/lang/Object"); err != nil {
			return false
		}
		busy := false
		for _, t := range tasks {
			ran, state, err := taskRun(filepath.Join(dir, t.Name()))
			switch began, known := begin[t.Name()]; {
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ESRCH):
				continue // it has ended
			case err != nil:
				return false
			case !known:
				begin[t.Name()] = ran
			case ran-began >= ranEnough:
				continue
			}
			if state == 'S' {
				asleep[t.Name()]++
			}
			busy = busy || asleep[t.Name()] < 2
		}
		if !busy {
			return true
		}
	}
	return false
}

// taskRun reads how long a thread has run, and its state, from its folder under
// /proc.
func taskRun(dir string) (ran time.Duration, state byte, err error) {
	done, err := priority.WorkOf(dir)
	if err != nil {
		return 0, 0, err
	}
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return 0, 0, err
	}
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 || len(stat) < end+3 {
		return 0, 0, fmt.Errorf("%s/stat: %q", dir, stat)
	}
	return done.Ran, stat[end+2], nil
}
