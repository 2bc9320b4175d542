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
)

// Without perf events, each tick asks the kernel how much CPU time every thread has used. One
// that runs Java code is stopped for some 20 us to be read; the others have left their
// anchor. A stop of a thread that is in Java code can't end a system call of its.

// After a stop that was longer than longStop none follows for so many times its length, so
// that a thread stands still for a hundredth of its time at the most.
const (
	longStop = time.Millisecond
	patience = 100
)

// stops are the state of that.
type stops struct {
	on   bool
	by   stopper
	used map[int]int64 // ns of CPU time of each thread

	others  int64 // when others were asked
	n       int64
	longs   int64         // of them, longer than longStop
	longest time.Duration // of them
	until   int64         // no thread is stopped before that time
}

// othersEach is how often threads are asked that are not Java's, in nanoseconds.
const othersEach = 100e6

// A rest spares threads that wait: to ask for a thread's CPU time takes some 8 us, so one that has
// used none, at the same place, is asked ever more rarely. What it uses meanwhile counts later.
type rest struct {
	anchor unwinder.Anchor
	until  int64
	length int64
}

const longestRest = 500e6

// on reports whether a thread with this anchor is not asked now.
func (r *rest) on(a unwinder.Anchor, now int64) bool {
	return r.anchor == a && a.SP != 0 && now < r.until
}

// look notes what a thread has used.
func (r *rest) look(a unwinder.Anchor, spent, now, period int64) {
	if r.length = min(2*r.length, longestRest); spent > 0 || a != r.anchor || a.SP == 0 {
		r.length = period
	}
	r.anchor, r.until = a, now+r.length
}

// A stopper is a [ptrace.Stopper].
type stopper interface {
	Stop(tid int, base uint64) (ptrace.Stop, error)
	Close()
}

// fallBack finds whether threads can be stopped instead of perf's events. It returns the error of
// perf if not.
func (s *Sampler) fallBack(err error) error {
	if !errors.Is(err, perf.ErrDenied) && !errors.Is(err, perf.ErrUnsupported) && !errors.Is(err, perf.ErrFiles) && !errors.Is(err, perf.ErrMemory) && !errors.Is(err, errInside) && !errors.Is(err, errPtrace) {
		return err
	}
	if err != errPtrace {
		s.stats.NoPerf = err.Error()
	}
	s.stops.by = ptrace.New(smallStack)
	if _, e := s.stops.by.Stop(s.pid, 0); e != nil && !errors.Is(e, ptrace.ErrStuck) {
		s.stops.by.Close()
		s.stops.by = nil
		if err == errPtrace {
			return e
		}
		if s.o.Wall { // threads that wait are seen without
			s.stats.Source = "anchors"
			return nil
		}
		return fmt.Errorf("%w; and %w", err, e)
	}
	s.stats.Source = "ptrace"
	s.stops.on, s.stops.used = true, map[int]int64{}
	s.threads.all = true
	s.wall.waiters, s.wall.wanted, s.wall.seed = map[int]*waiter{}, map[int64]bool{}, maphash.MakeSeed()
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

// stop samples a thread that runs Java code by stopping it. It is false if the thread did not stop
// in time: it may be sampled later.
func (s *Sampler) stop(out *stack.Stack, t unwinder.Thread, waiter *waiter) bool {
	k := &s.stops
	stop, err := k.by.Stop(out.TID, t.StackBase)
	if errors.Is(err, ptrace.ErrStuck) {
		k.until = out.Time + patience*longStop.Nanoseconds()
		return false
	}
	if stop.Still > 0 {
		k.n++
		k.longest = max(k.longest, stop.Still)
	}
	if stop.Still > longStop { // this machine is busy: the target shall not pay for it
		k.longs++
		k.until = out.Time + patience*stop.Still.Nanoseconds()
	}
	if err != nil {
		out.Broken = brokenStop
		return true
	}
	w := s.u.Walk(unwinder.Registers{PC: stop.IP, SP: stop.SP, FP: stop.BP, BX: stop.BX, R13: stop.R13, LR: stop.LR, X13: stop.X13, X22: stop.X22}, stop.Stack, t)
	s.take(out, nil, w)
	s.walks = append(s.walks, walkOf{len(s.batch), waiter})
	return true
}

// split adds the sample of a thread that was found at one place: the part of the time that it
// used the CPU as running, the rest, where all time is wanted, in its state.
func (s *Sampler) split(out stack.Stack, used int64) {
	running := out
	running.Weight, running.State = min(used, out.Weight), stack.Running
	if s.stops.on && used > running.Weight { // it was not asked for a while
		if s.o.Wall {
			s.stops.used[out.TID] -= used - running.Weight
		} else {
			running.Weight = used
		}
	}
	if running.Weight > 0 {
		s.batch = append(s.batch, running)
	}
	if out.Weight -= running.Weight; out.Weight > 0 && s.o.Wall {
		s.batch = append(s.batch, out)
	}
}
