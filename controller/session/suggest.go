package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/roots"
)

const (
	suggestLooks = 21 // a loop that calls the same method all the time is in it at nearly all of them
	suggestEvery = 100 * time.Millisecond
	// suggestShare bounds the share of the time that dumps take: each stops
	// all threads of the target, for some microseconds a thread.
	suggestShare = 10
	suggestMost  = 8
	// Dumps of many threads take long. Then fewer looks have to do: suggestFew of them
	// after suggestLong, and three after suggestLongest.
	suggestFew     = 11
	suggestLong    = 10 * time.Second
	suggestLongest = 20 * time.Second
)

// Suggest looks at the stacks of all threads a few times, by thread dumps
// through the attach protocol, and says which methods of the application may be
// good roots: those that were on most stacks of busy threads, the nearest to the
// thread's bottom of those that were there together. A thread is busy that
// computed since the look before (schedstat of the kernel, where there is one),
// or whose stack is another one. A method that never left a thread's stack may
// be a loop begun long ago, which records nothing as a root; it comes late.
func (s *Session) Suggest(ctx context.Context) (*roots.Suggestions, error) {
	if s.vm == nil {
		return nil, errors.New("a launched program can't be asked for its stacks; attach to it")
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	begin := time.Now()
	sight, pause := roots.NewSight(), suggestEvery
	for i := range suggestLooks {
		if i > 0 {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		at := time.Now()
		dump, err := s.vm.ThreadDump(ctx)
		if err != nil {
			return nil, fmt.Errorf("no thread dump: %w", err)
		}
		pause = max(suggestEvery, suggestShare*time.Since(at))
		stacks := slices.DeleteFunc(attach.Stacks(dump), func(t attach.Stack) bool { return t.Name == agentThread })
		ran := s.ranFor(stacks)
		if err := s.do(ctx, func() { sight.Look(at, stacks, ran, s.loop.catalog().Rootable) }); err != nil {
			return nil, err
		}
		looks := i + 1
		if took := time.Since(begin); took > suggestLong && looks >= suggestFew || took > suggestLongest && looks >= 3 {
			break // so many threads, or so little processor time: what was seen has to do
		}
	}
	out := sight.Best(suggestMost)
	out.Time = time.Since(begin)
	return out, nil
}

// ranFor is for how long threads have been on a core, in ns, by Java's id; empty
// where the kernel doesn't say.
func (s *Session) ranFor(stacks []attach.Stack) map[int64]int64 {
	out := map[int64]int64{}
	host, err := attach.HostThreads(s.proc.PID)
	if err != nil {
		return out
	}
	for _, t := range stacks {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/schedstat", s.proc.PID, host[t.NID]))
		if err != nil {
			continue // it has ended
		}
		first, _, _ := strings.Cut(string(b), " ")
		if ns, err := strconv.ParseInt(first, 10, 64); err == nil {
			out[t.ID] = ns
		}
	}
	return out
}
