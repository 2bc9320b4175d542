package session

import (
	"slices"
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/shm"
)

const (
	// slowKept is how many of the slowest root calls are kept without being asked for: when
	// they were and how long they took, without a tree.
	slowKept = 20
	// slowEvery is how often they are taken out of the target's places. Of root calls that
	// share a place, only the slowest since the last time is known.
	slowEvery = 100 * time.Millisecond
)

// slowCalls are the slowest root calls of the recording that is on, as far as their times
// go. Its methods are safe for concurrent use, and do nothing on a nil one.
type slowCalls struct {
	s *Session

	mu   sync.Mutex
	kept []slowCall // the slowest first
}

// A slowCall is one of them.
type slowCall struct {
	shm.SlowCall
	ran *int64 // ns on a core; nil where that was not seen
}

// keepSlow begins to look, until the session ends. It is the loop's.
func (s *Session) keepSlow() {
	k := &slowCalls{s: s}
	s.slowCalls = k
	s.wg.Go(func() {
		tick := time.NewTicker(slowEvery)
		defer tick.Stop()
		for {
			select {
			case <-s.ctx.Done():
				return
			case <-tick.C:
			}
			s.guard(k.look)
		}
	})
}

// renew forgets what was. It is the loop's.
func (k *slowCalls) renew() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = nil
}

// look takes what the target has left, and tells it how slow a root call must be from now on.
func (k *slowCalls) look() {
	if k == nil {
		return
	}
	s := k.s
	s.mapped.RLock()
	defer s.mapped.RUnlock()
	if s.data.Memory() == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	s.data.SlowCalls(k.add)
	least := int64(0)
	if len(k.kept) == slowKept {
		least = k.kept[slowKept-1].Took + 1
	}
	s.data.KeepSlow(least)
}

// add keeps a root call if it is among the slowest, and not kept already. k.mu is held.
func (k *slowCalls) add(c shm.SlowCall) {
	if slices.ContainsFunc(k.kept, func(o slowCall) bool { return o.Thread == c.Thread && o.Began == c.Began }) {
		return
	}
	at, _ := slices.BinarySearchFunc(k.kept, c.Took, func(o slowCall, took int64) int { return int(min(max(took-o.Took, -1), 1)) })
	if at < slowKept {
		kept := slowCall{SlowCall: c}
		if ns, ok := k.s.cpu.Computed(c.Thread, c.Began, c.Took); ok {
			kept.ran = &ns
		}
		k.kept = slices.Insert(k.kept, at, kept)
		k.kept = k.kept[:min(len(k.kept), slowKept)]
	}
}

// report adds the slowest root calls, unless the report has those with trees. began is when
// the recording did, on the target's nanoTime.
func (k *slowCalls) report(r *export.Report, began int64) {
	if k == nil || r.Slowest != nil || began == 0 || r.History == nil || r.History.Times == nil {
		return
	}
	k.mu.Lock()
	kept := slices.Clone(k.kept)
	k.mu.Unlock()
	thread := namesOf(r.Tree)
	r.Slowest = &export.Slowest{TimesOnly: true, Asked: slowKept, Of: r.History.Times.Count}
	for _, c := range kept {
		if c.Began < began { // of before a reset
			continue
		}
		one := thread(c.Thread)
		one.Roots = []*cct.Node{{Method: c.Method, Calls: 1, Self: c.Took, Total: c.Took}}
		r.Slowest.Invocations = append(r.Slowest.Invocations, export.Invocation{
			Thread: &one, Start: c.Began - began, Took: c.Took, Suspended: c.Waited, Thrown: c.Thrown, Ran: c.ran,
		})
	}
	k.s.collections.Within(r.Slowest.Invocations, began)
}
