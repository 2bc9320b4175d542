package session

import (
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cputime"
	"github.com/rivulet-profiler/rivulet/controller/history"
)

const (
	// historyEvery is how often the counters are read that a recording's history is made of.
	historyEvery = 500 * time.Millisecond
	// historyShare: reading the tree for it takes at most one of so many parts of the time.
	historyShare = 100
	// mostCounted is how many root calls a second are counted by their times. One
	// takes 30 to 80 ns (decision 54), so that this is less than 1 % of a core.
	mostCounted = 100_000
)

// often says why root calls' times are not known.
const often = "more than 100,000 root calls a second: measuring each would slow the program down"

// unwanted says so where they were not asked for.
const unwanted = "roottimes is off"

// A keeper keeps the history of a recording, from outside: nothing waits for it. Its methods
// are safe for concurrent use, and do nothing on a nil one.
type keeper struct {
	s *Session

	mu    sync.Mutex
	cpu   *cputime.Process
	kept  history.Recorder
	began int64     // of the recording that is on, on the target's nanoTime; 0 between two
	roots int64     // root calls, as of the last reading
	at    int64     // when that was, on the target's nanoTime
	when  time.Time // the same
	timed bool      // root calls are counted by their times
	why   string    // not "": why they never are
	over  bool      // the last reading was taken
}

// keepHistory begins one that ends with the session. It is the loop's.
func (s *Session) keepHistory(rec Recording) {
	k := &keeper{s: s, cpu: cputime.OfProcess(s.proc.PID)}
	if rec.RootTimes == "off" {
		k.why = unwanted
	} else if rec.Slowest == 0 {
		s.keepSlow()
	}
	s.keeper = k
	k.renew()
	s.wg.Go(func() {
		tick := time.NewTicker(historyEvery)
		defer tick.Stop()
		for {
			select {
			case <-s.ctx.Done():
				return
			case <-tick.C:
			}
			var st stats
			on := false
			if s.do(s.ctx, func() { st, on = s.loop.stats, s.loop.rec.since != 0 }) == nil && on {
				s.guard(func() { k.look(st, historyShare) })
			}
		}
	})
}

// renew forgets what was. It is the loop's.
func (k *keeper) renew() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept.Reset()
	k.began, k.timed, k.kept.Why = 0, k.why == "", k.why
	k.s.data.CountTimes(k.timed)
}

// begin says when the recording began, if it is new. It is the loop's.
func (k *keeper) begin(began int64, st stats) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.began != 0 {
		return
	}
	k.began, k.roots, k.at, k.when = began, 0, began, time.Now()
	now := k.reading(st)
	now.At, now.Calls, now.RootCalls = 0, 0, 0
	k.kept.Add(now)
}

// reading is what the counters say, without calls. k.mu is held.
func (k *keeper) reading(st stats) history.Reading {
	d := k.s.data
	now := history.Reading{At: k.s.now() - k.began, Calls: history.Unknown, CPU: history.Unknown, GC: history.Unknown, GCs: history.Unknown, Classes: int64(st.classes), Batches: int64(st.batches)}
	now.RootCalls, _ = d.Roots()
	now.Times, now.TimesSum = d.Times()
	if used := k.cpu.Read(); used > 0 {
		now.CPU = int64(used)
	}
	if p := k.s.collections.Report(); p != nil && p.Unknown == "" {
		now.GC, now.GCs = p.Time, p.Collections
	}
	return now
}

// look takes a reading. share bounds how often the tree is read for it; 0 has it read.
func (k *keeper) look(st stats, share int) {
	s := k.s
	s.mapped.RLock()
	defer s.mapped.RUnlock()
	if s.data.Memory() == nil {
		return
	}
	k.mu.Lock()
	began, since := k.began, k.when
	k.mu.Unlock()
	calls := s.glance.within(s.data.Memory(), since, share) // takes a while where the tree is large
	k.mu.Lock()
	defer k.mu.Unlock()
	if began == 0 || k.began != began { // another recording meanwhile
		return
	}
	now := k.reading(st)
	now.Calls = calls
	if gone := float64(now.At + began - k.at); k.timed && gone > 0 && float64(now.RootCalls-k.roots)/gone*1e9 > mostCounted {
		k.timed, k.kept.Why = false, often
		s.data.CountTimes(false)
	}
	k.roots, k.at, k.when = now.RootCalls, began+now.At, time.Now()
	k.kept.Add(now)
}

// end takes the last reading, when the gate has shut.
func (k *keeper) end() {
	if k == nil {
		return
	}
	var st stats
	if s := k.s; s.do(s.ctx, func() { st = s.loop.stats }) != nil {
		st = s.loop.stats // the loop has ended
	}
	k.mu.Lock()
	k.when = time.Now()
	k.mu.Unlock()
	k.look(st, 0)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
}

// history is the history so far, nil where none was kept.
func (k *keeper) history() *history.History {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	h := k.kept.History()
	if h != nil {
		if h.At = h.End(); !k.over {
			h.At = max(h.At, k.s.now()-k.began)
		}
	}
	return h
}
