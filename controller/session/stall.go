package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// stallAfter is how long the agent's thread may sleep over a batch that threads
	// wait for, and stallClass how much longer for each of its classes: before JDK 17
	// one takes 1.6 ms.
	stallAfter = 2 * time.Second
	stallClass = 20 * time.Millisecond
	stallAgain = 200 * time.Millisecond // in place of stallAfter, once it has happened
	stallLook  = 100 * time.Millisecond
)

// A stall is what the loop knows of the agent's thread while it works on a batch.
// Other agents' transformers run on it, and they may want a lock of the program's
// that a thread holds which waits for the batch. That thread has to go on without
// it. From then on those who wait do the work themselves: they hold their locks.
type stall struct {
	known  bool // it has happened in this target
	task   string
	ran    time.Duration
	signed time.Time // when the thread last ran, or was asked for something
	looked time.Time
}

// sign notes that the agent's thread is at work.
func (s *stall) sign() { s.signed = time.Now() }

// checkStall lets those go who wait for a batch that can't end before they do.
func (l *loop) checkStall() {
	s := &l.stall
	now := time.Now()
	if l.round == nil || len(l.round.batch) == 0 || l.round.all || now.Sub(s.looked) < stallLook {
		return
	}
	s.looked = now
	// A thread that waits for a monitor looks at it now and then.
	if ran, asleep := l.agentRan(); !asleep || ran-s.ran > now.Sub(s.signed)/50+time.Millisecond {
		s.ran = ran
		s.sign()
		return
	}
	patience := stallAfter
	if s.known {
		patience = stallAgain
	}
	if now.Sub(s.signed) < patience+time.Duration(len(l.round.batch))*stallClass {
		return
	}
	waits := 0
	for _, rv := range l.reveals {
		waits += len(rv.boxes)
		for _, b := range rv.boxes {
			l.link.Reply(b, nil) // no list: it can't be done now
		}
		rv.boxes = nil
	}
	if waits > 0 && !s.known {
		s.known = true
		l.stats.notes = append(l.stats.notes, fmt.Sprintf(
			"The agent's thread was stuck when it redefined %s: probably another agent's class file transformer wants a lock that a thread of the program holds which waits for the same. "+
				"%d of these went on after %v, so their first calls are incomplete. Since then waiting threads redefine classes themselves.",
			l.round.batch[0], waits, stallAfter))
	}
}

// agentRan is how long the agent's thread has run so far, and whether it sleeps.
func (l *loop) agentRan() (ran time.Duration, asleep bool) {
	s := &l.stall
	if s.task == "" {
		names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", l.s.proc.PID))
		for _, n := range names {
			if b, err := os.ReadFile(n); err == nil && strings.TrimSpace(string(b)) == agentThread {
				s.task = filepath.Dir(n)
			}
		}
	}
	ran, state, err := taskRun(s.task)
	return ran, err == nil && state == 'S'
}
