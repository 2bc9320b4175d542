package watch

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// An Event is a rule that came true.
type Event struct {
	Rule   string `json:"rule"`
	At     int64  `json:"at_ns"` // CLOCK_MONOTONIC
	What   string `json:"what"`  // what was measured, as a sentence without its end
	Method string `json:"method,omitempty"`
}

// An Engine judges rules.
type Engine struct {
	again  time.Duration
	states []*state
}

// A state is a rule with what it has seen.
type state struct {
	Rule
	cpu    []reading // of the last For
	shares *shares
	found  *Event // to be reported by the next Tick
	mute   int64  // until when it says nothing
	clear  bool   // it has not held since it was reported
	fired  bool
}

// A reading is a counter at a moment.
type reading struct {
	at    int64
	used  int64   // ns on cores
	cores float64 // that the process may use
}

// NewEngine begins. A rule that came true is reported again after it was untrue, and a
// time has gone by.
func NewEngine(rules []Rule, again time.Duration) *Engine {
	e := &Engine{again: again}
	for _, r := range rules {
		s := &state{Rule: r}
		if r.Kind == Share {
			s.shares = newShares(&s.Rule)
		}
		e.states = append(e.states, s)
	}
	return e
}

// Samples tells what was sampled, in the order of time.
func (e *Engine) Samples(batch []stack.Stack) {
	for _, s := range e.states {
		if s.shares == nil {
			continue
		}
		for i := range batch {
			s.shares.add(&batch[i])
		}
	}
}

// CPU tells how much time on cores the process has used since it began, and how many cores it
// may use. It is to be told each second or so.
func (e *Engine) CPU(now int64, used time.Duration, cores float64) {
	for _, s := range e.states {
		if s.Kind != CPU || cores <= 0 {
			continue
		}
		s.cpu = append(s.cpu, reading{now, int64(used), cores})
		for len(s.cpu) > 2 && now-s.cpu[1].at >= int64(s.For) {
			s.cpu = s.cpu[1:]
		}
	}
}

// Quantile tells a quantile of the invocations of a rule's method in the last For, and how many
// these were. rule counts from 0, in the order that NewEngine got.
func (e *Engine) Quantile(now int64, rule int, quantile time.Duration, count int64) {
	s := e.states[rule]
	// A p99 of less than a hundred invocations is the longest of them.
	enough := float64(count) >= 1/(1-s.Rank)
	s.judge(now, enough && quantile > s.Limit, func() Event {
		return Event{
			What:   fmt.Sprintf("of %d invocations of %s in %v, %s took %v at least", count, s.Name, s.For, percent(1-s.Rank), quantile.Round(time.Microsecond)),
			Method: s.Name,
		}
	})
}

// Deadlock tells what a look at the threads found; "" is nothing.
func (e *Engine) Deadlock(now int64, found string) {
	for _, s := range e.states {
		if s.Kind == Deadlock {
			s.judge(now, found != "", func() Event { return Event{What: found} })
		}
	}
}

// Every is how often threads have to be looked at for deadlocks; 0 for never.
func (e *Engine) Every() time.Duration {
	least := time.Duration(0)
	for _, s := range e.states {
		if s.Kind == Deadlock && (least == 0 || s.For < least) {
			least = s.For
		}
	}
	return least
}

// judge notes an event if a rule holds and is not mute.
func (s *state) judge(now int64, holds bool, event func() Event) {
	switch {
	case !holds:
		s.clear = true
	case s.fired && (!s.clear || now < s.mute):
	case s.found == nil:
		ev := event()
		ev.Rule, ev.At = s.Text, now
		s.found = &ev
	}
}

// Tick judges what depends on time, and says which rules came true. It is to be called each
// second or so.
func (e *Engine) Tick(now int64) []Event {
	var out []Event
	for _, s := range e.states {
		switch s.Kind {
		case CPU:
			s.judgeCPU(now)
		case Share:
			method, what := s.shares.judge(now)
			s.judge(now, what != "", func() Event { return Event{What: what, Method: method} })
		case Quantile, Deadlock: // told
		}
		if s.found != nil {
			out = append(out, *s.found)
			s.found, s.fired, s.clear, s.mute = nil, true, false, now+int64(e.again)
		}
	}
	return out
}

func (s *state) judgeCPU(now int64) {
	if len(s.cpu) < 2 {
		return
	}
	a, b := s.cpu[0], s.cpu[len(s.cpu)-1]
	if b.at-a.at < int64(s.For)*9/10 {
		return // not long enough yet
	}
	cores := float64(b.used-a.used) / float64(b.at-a.at)
	over, said := cores/b.cores, fmt.Sprintf("%s of %.4g cores", percent(cores/b.cores), b.cores)
	if s.Cores {
		over, said = cores, fmt.Sprintf("%.2f cores", cores)
	}
	s.judge(now, over > s.Over, func() Event {
		return Event{What: fmt.Sprintf("the process used %s for %v", said, s.For)}
	})
}

func percent(v float64) string {
	digits := 0
	if v < 0.1 {
		digits = 1
	}
	return strings.TrimSuffix(fmt.Sprintf("%.*f", digits, 100*v), ".0") + " %"
}

// bounds is the interval of a share of which k of n samples have it, three standard errors wide to
// each side: Wilson's score interval.
func bounds(k, n int64) (low, high float64) {
	const z = 3
	if n <= 0 {
		return 0, 1
	}
	p, m := float64(k)/float64(n), float64(n)
	mid := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(mid-half, 0), min(mid+half, 1)
}
