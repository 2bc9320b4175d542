package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/sampler"
	"github.com/rivulet-profiler/rivulet/controller/threads"
)

// From where threads and locks are looked at.
const outsideName = "outside"

var lookSources = []string{autoSource, outsideName, dumpsName}

// byDumpsSince begins the note that says why it was not looked from outside.
const byDumpsSince = "by thread dumps, since "

func checkLookSource(source string) error {
	if source != "" && !slices.Contains(lookSources, source) {
		return usage("--source %q: there is %s", source, enumerate(lookSources))
	}
	return nil
}

// lookSourceHelp says what --source is.
var lookSourceHelp = "look from `SOURCE`: " + enumerate(lookSources)

// lockHzHelp says what --hz of rivulet locks is.
var lockHzHelp = fmt.Sprintf("look `N` times a second: from outside 1 to %d, usually %d; by thread dumps 1 to %d, usually %d, however long they take", mostLockHz, usualLockHz, mostLockDumps, usualLockDumps)

// An onlooker sees what all platform threads of a JVM do at one moment.
type onlooker interface {
	// threads are those of Java's.
	threads(ctx context.Context) ([]threads.Thread, error)
	// source is its name in JSON, and why it is not the usual one; "" if it is.
	source() (name, why string)
	close()
}

// onlook finds from where a JVM's threads can be looked at: from outside, where the JVM does nothing for it,
// else by thread dumps.
func onlook(ctx context.Context, pid int, how lookHow) (onlooker, error) {
	if _, err := attach.Inspect(pid); errors.Is(err, attach.ErrNoProcess) || errors.Is(err, attach.ErrNotJVM) {
		return nil, err
	}
	why := ""
	if how.source != dumpsName {
		s, reason, err := openOutside(pid, how, sampler.Options{Wall: true, Locks: true, Source: sampler.Ptrace})
		if err != nil {
			return nil, err
		}
		if s != nil {
			return &fromOutside{s}, nil
		}
		why = reason
	}
	vm, err := attach.Open(ctx, pid)
	if err != nil {
		return nil, err
	}
	return &byDumps{vm, why}, nil
}

// openOutside opens a sampler that sees locks. With the source "auto" it is nil where thread dumps see more, with the
// reason.
func openOutside(pid int, how lookHow, o sampler.Options) (s *sampler.Sampler, why string, err error) {
	s, err = sampler.Open(pid, o)
	if err != nil && o.Source == sampler.Ptrace && !errors.Is(err, sampler.ErrMemory) && !errors.Is(err, os.ErrProcessDone) {
		o.Source = "" // threads that run can't be stopped: all others are seen without
		s, err = sampler.Open(pid, o)
	}
	switch {
	case err != nil && how.source == outsideName:
		return nil, "", err
	case err != nil:
		return nil, fmt.Sprintf("the JVM can't be read from outside: %v", err), nil
	case how.source == outsideName:
		return s, "", nil
	case how.virtual && s.Virtual():
		why = "the program uses virtual threads, which are seen from outside only while they are mounted"
	case !s.ReadsObjects():
		why = "its collector moves objects while threads run, so that locks can't be read from outside at any time"
	default:
		return s, "", nil
	}
	s.Close()
	return nil, why, nil
}

// fromOutside reads the JVM's memory.
type fromOutside struct{ s *sampler.Sampler }

func (o *fromOutside) source() (name, why string) { return outsideName, "" }
func (o *fromOutside) close()                     { o.s.Close() }

func (o *fromOutside) threads(context.Context) ([]threads.Thread, error) {
	all, err := o.s.Look()
	if err != nil {
		return nil, err
	}
	seen := make([]threads.Seen, len(all))
	for i := range all {
		seen[i] = threads.Seen{Stack: all[i], ID: o.s.Number(all[i].TID), NID: o.s.Inner(all[i].TID), Daemon: o.s.Daemon(all[i].TID)}
	}
	return threads.Outside(seen, o.s.File), nil
}

// byDumps asks the JVM for thread dumps.
type byDumps struct {
	vm     *attach.VM
	reason string
}

func (d *byDumps) source() (name, why string) { return dumpsName, d.reason }
func (d *byDumps) close()                     {}

func (d *byDumps) threads(ctx context.Context) ([]threads.Thread, error) {
	text, err := d.vm.ThreadDump(ctx)
	if err != nil {
		return nil, err
	}
	return threads.Parse(text), nil
}

// surely are the deadlocks of threads that were looked at. From outside they were not read at one moment: a
// deadlock is one if it is still there later, when objects were perhaps moved. Where the threads never stand still, it
// is what was there twice in a row at last.
func surely(ctx context.Context, o onlooker, all []threads.Thread) ([]threads.Deadlock, error) {
	found := threads.Deadlocks(all)
	if name, _ := o.source(); name != outsideName {
		return found, nil
	}
	const (
		tries = 5
		pause = 30 * time.Millisecond
	)
	sure := []threads.Deadlock{}
	for range tries {
		if len(found) == 0 {
			return found, nil
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
		again, err := o.threads(ctx)
		if err != nil {
			return nil, err
		}
		now := threads.Deadlocks(again)
		sure = threads.Confirmed(found, now)
		if len(sure) == len(now) && len(sure) == len(found) {
			return sure, nil
		}
		found = now
	}
	return sure, nil
}

// jvmThreads are the threads that a JVM has and Java does not know, by the kernel's names of them.
func jvmThreads(pid int, known []threads.Thread, times map[int]time.Duration) []threads.Thread {
	host, err := attach.HostThreads(pid)
	if err != nil {
		return nil
	}
	have := map[int]bool{}
	for i := range known {
		have[known[i].NID] = true
	}
	var out []threads.Thread
	for nid := range times {
		if have[nid] || nid == 0 {
			continue
		}
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", pid, host[nid]))
		if err != nil {
			continue // it has ended
		}
		out = append(out, threads.Thread{Name: strings.TrimSuffix(string(name), "\n"), NID: nid, CPU: -1, Holds: []threads.Lock{}, Stack: []string{}})
	}
	slices.SortFunc(out, func(a, b threads.Thread) int { return a.NID - b.NID })
	return out
}
