package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/locks"
	"github.com/rivulet-profiler/rivulet/controller/sampler"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/threads"
)

// seenLocks looks who waits: from outside, or else by thread dumps.
func (a *app) seenLocks(in *interrupts, pid int, f *locksFlags, j *locksJSON) error {
	if f.source != dumpsName {
		o := sampler.Options{Wall: true, Locks: true, Hz: usualLockHz}
		if f.strict {
			o.Hz = f.hz
		}
		if _, err := attach.Inspect(pid); errors.Is(err, attach.ErrNoProcess) || errors.Is(err, attach.ErrNotJVM) {
			return err
		}
		s, why, err := openOutside(pid, lookHow{f.source, f.virtual}, o)
		switch {
		case err != nil:
			return err
		case s != nil:
			defer s.Close()
			j.Source = outsideName
			return a.sampledLocks(in, s, f, j)
		}
		j.Why = why
		j.Notes = append(j.Notes, byDumpsSince+why)
	}
	j.Source = dumpsName
	return a.dumpedLocks(in, pid, f, j)
}

// exitedMeanwhile says that a report ends with its JVM.
const exitedMeanwhile = "the JVM has exited meanwhile: this is what was seen until then, and its deadlocks are not known"

// sampledLocks samples all threads from outside.
func (a *app) sampledLocks(in *interrupts, s *sampler.Sampler, f *locksFlags, j *locksJSON) error {
	m := a.startSteps()
	defer m.stop()
	ctx, cancel := context.WithTimeout(in.first, f.length)
	defer cancel()
	var d locks.Samples
	looks := int64(0)
	err := s.Run(ctx, func(batch []stack.Stack) {
		d.Add(batch)
		looks++
		m.set("looking who waits: "+export.Plural(looks, "look", "looks"), 0, 0)
	})
	st := s.Stats()
	switch {
	case st.Samples == 0 && in.first.Err() != nil:
		return context.Cause(in.first)
	case err != nil && !errors.Is(err, os.ErrProcessDone):
		return err
	}
	j.Locks = d.Rows()
	j.Notes = append(j.Notes, fmt.Sprintf("from outside, %d times a second: times are estimates, error_ns holds for 95 %% of them; counts are the waits that were met, a lower bound", st.Hz))
	if err != nil {
		j.Notes = append(j.Notes, exitedMeanwhile)
		return attach.ErrExited
	}
	return nil
}

// dumpedLocks takes thread dumps.
func (a *app) dumpedLocks(in *interrupts, pid int, f *locksFlags, j *locksJSON) error {
	vm, err := attach.Open(in.first, pid)
	if err != nil {
		return err
	}
	m := a.startSteps()
	defer m.stop()
	ctx, cancel := context.WithTimeout(in.first, f.length)
	defer cancel()
	var d locks.Dumps
	pace := dumpPace{hz: usualLockDumps, strict: f.strict}
	if f.strict {
		pace.hz = min(f.hz, mostLockDumps)
	}
	next := time.Now()
	virtual := f.virtual && vm.Process().Major() >= locksOfVirtual
	dumps, last := 0, time.Now()
	end := func() {
		j.Locks = d.Rows()
		j.Notes = append(j.Notes, fmt.Sprintf("by %d thread dumps: times are estimates, error_ns holds for 95 %% of them; counts are the waits that were met, a lower bound", dumps))
		if n := pace.note(); n != "" {
			j.Notes = append(j.Notes, n)
		}
		if !virtual {
			j.Notes = append(j.Notes, fmt.Sprintf("waits of virtual threads are told from JDK %d on", locksOfVirtual))
		}
	}
	for {
		m.set("looking who waits: "+export.Plural(int64(dumps), "thread dump", "thread dumps"), 0, 0)
		select {
		case <-ctx.Done():
			if dumps == 0 && in.first.Err() != nil {
				return context.Cause(in.first)
			}
			end()
			return nil
		case <-time.After(time.Until(next)):
		}
		begun := time.Now()
		all, err := lockDump(in.second, vm, virtual)
		if err != nil {
			if gone := vm.Alive(); dumps > 0 && errors.Is(gone, attach.ErrExited) {
				end()
				j.Notes = append(j.Notes, exitedMeanwhile)
				return gone
			}
			return err
		}
		now := time.Now()
		d.Add(all, now.Sub(last))
		last = now
		next = now.Add(pace.rest(now.Sub(begun)))
		dumps++
	}
}

// lockDump is a thread dump: with virtual threads one that the JVM writes while they go on running.
func lockDump(ctx context.Context, vm *attach.VM, virtual bool) ([]threads.Thread, error) {
	if virtual {
		return virtualThreads(ctx, vm)
	}
	text, err := vm.ThreadDump(ctx)
	if err != nil {
		return nil, err
	}
	return threads.Parse(text), nil
}
