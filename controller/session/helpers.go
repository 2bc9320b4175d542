package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/priority"
)

// beat keeps the heartbeat, by which the agent knows that somebody reads. Its
// thread goes before others: on a machine whose cores are all busy an agent that can't
// see this process would take a controller that is late for one that is stopped.
func (s *Session) beat() {
	runtime.LockOSThread() // and never unlocked: the thread ends with its priority
	priority.Raise(unix.Gettid())
	t := time.NewTicker(50 * time.Millisecond)
	defer t.Stop()
	for {
		if !s.mute.Load() {
			s.data.Beat(s.now())
		}
		select {
		case <-t.C:
		case <-s.ctx.Done():
			return
		}
	}
}

// growth keeps room ahead of the target's new threads and nodes.
func (s *Session) growth() {
	t := time.NewTicker(2 * time.Millisecond)
	defer t.Stop()
	for {
		if err := s.data.GrowRecords(); err != nil {
			s.log.Warn("no more room", "error", err)
		}
		for {
			more, err := s.data.Grow()
			if err != nil {
				s.log.Warn("no more room", "error", err)
			}
			if !more {
				break
			}
		}
		select {
		case <-t.C:
		case <-s.ctx.Done():
			return
		}
	}
}

// hear waits for the bell and has the loop look at the boxes. A bell that
// rings before the loop looks is one look; one that rings after it, another:
// the word is cleared before.
func (s *Session) hear() {
	s.loop.link.Hear(s.ctx, func() error { return s.do(s.ctx, s.loop.look) })
}

// waitExit waits for a process's end; false if ctx ended first.
func waitExit(ctx context.Context, pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err == unix.ESRCH || pollExit(ctx, pid)
	}
	defer unix.Close(fd)
	for ctx.Err() == nil {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(p, 50); err == nil && n > 0 {
			return true
		}
	}
	return false
}

// pollExit serves kernels before 5.3.
func pollExit(ctx context.Context, pid int) bool {
	for ctx.Err() == nil {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
			return true
		}
		time.Sleep(50 * time.Millisecond)
	}
	return false
}

// waitForOther waits a moment for an agent whose controller has gone to leave;
// ErrBusy if one stays.
func waitForOther(ctx context.Context, pid int) error {
	for i := 0; ; i++ {
		busy := false
		names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", pid))
		for _, n := range names {
			if b, err := os.ReadFile(n); err == nil && (strings.TrimSpace(string(b)) == agentThread || strings.HasPrefix(string(b), attach.RestoringThread)) {
				busy = true
			}
		}
		if !busy {
			return nil
		}
		if i == 40 {
			return ErrBusy
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
