package sampler

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"strconv"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/sampler/perf"
	"github.com/rivulet-profiler/rivulet/controller/sampler/ptrace"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/sampler/unwinder"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// Without perf events, each tick asks the kernel how much CPU time every thread has used. One
// that runs Java code is stopped for some 30 us to be read; the others have left their
// anchor. A stop of a thread that is in Java code can't end a system call of its.

// After a stop that was longer than longStop none follows for so many times its length.
const (
	longStop = time.Millisecond
	patience = 100
)

// stops are the state of that.
type stops struct {
	on     bool
	used   map[int]int64 // ns of CPU time of each thread
	dump   []byte
	longed time.Duration // the longest stop
	until  int64         // no thread is stopped before that time
}

// fallBack finds whether threads can be stopped instead of perf's events. It returns the error of
// perf if not.
func (s *Sampler) fallBack(err error) error {
	if !errors.Is(err, perf.ErrDenied) && !errors.Is(err, perf.ErrUnsupported) && !errors.Is(err, perf.ErrFiles) && !errors.Is(err, perf.ErrMemory) {
		return err
	}
	s.stats.NoPerf = err.Error()
	s.stops.dump = make([]byte, smallStack)
	if _, _, _, e := ptrace.Stop(s.pid, vmstructs.Process(s.pid), s.stops.dump, 0); e != nil {
		if s.o.Wall { // threads that wait are seen without
			s.stats.Source = "anchors"
			return nil
		}
		return fmt.Errorf("%w; and %w", err, e)
	}
	s.stats.Source = "ptrace"
	s.stops.on, s.stops.used = true, map[int]int64{}
	s.threads.all = true
	s.wall.waiters, s.wall.seed = map[int]*waiter{}, maphash.MakeSeed()
	return nil
}

// spent is how much CPU time a thread has used since the last time it was asked.
func (s *Sampler) spent(tid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/schedstat", s.pid, tid))
	if err != nil {
		delete(s.stops.used, tid)
		return 0
	}
	first, _, _ := bytes.Cut(b, []byte(" "))
	now, err := strconv.ParseInt(string(first), 10, 64)
	if err != nil {
		return 0
	}
	before, known := s.stops.used[tid]
	s.stops.used[tid] = now
	if !known || now < before {
		return 0
	}
	return now - before
}

// others samples the threads that are not Java's: only that they ran.
func (s *Sampler) others(now int64) {
	for tid, t := range s.threads.known {
		if t.java || s.o.Threads != nil && !s.o.Threads(t.name) {
			continue
		}
		if used := s.spent(tid); used > 0 {
			s.batch = append(s.batch, stack.Stack{Time: now, Weight: used, TID: tid, Thread: t.name, State: stack.Running, Complete: true})
		}
	}
}

// stop samples a thread that runs Java code by stopping it.
func (s *Sampler) stop(out *stack.Stack, t unwinder.Thread, waiter *waiter) bool {
	r, dump, still, err := ptrace.Stop(out.TID, vmstructs.Process(s.pid), s.stops.dump, t.StackBase)
	s.stops.longed = max(s.stops.longed, still)
	if still > longStop { // this machine is busy: the target shall not pay for it
		s.stops.until = out.Time + patience*still.Nanoseconds()
	}
	if err != nil {
		out.Broken = brokenStop
		return false
	}
	w := s.u.Walk(unwinder.Registers{PC: r.IP, SP: r.SP, FP: r.BP, BX: r.BX, R13: r.R13}, dump, t)
	s.take(out, nil, w)
	s.walks = append(s.walks, walkOf{len(s.batch), waiter})
	return true
}

// split adds the sample of a thread that was found at one place: the part of the time that it
// used the CPU as running, the rest, where all time is wanted, in its state.
func (s *Sampler) split(out stack.Stack, used int64) {
	running := out
	running.Weight, running.State = min(used, out.Weight), stack.Running
	if running.Weight > 0 {
		s.batch = append(s.batch, running)
	}
	if out.Weight -= running.Weight; out.Weight > 0 && s.o.Wall {
		s.batch = append(s.batch, out)
	}
}
