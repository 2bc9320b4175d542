package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// A steps shows on a terminal what a long piece of work is at. In files and pipes it
// writes nothing.
type steps struct {
	w        io.Writer
	terminal bool
	also     func(phase string, done, total int64) // gets it, too; nil is nobody
	begin    time.Time

	mu    sync.Mutex
	next  time.Time
	shown bool
}

func (a *app) startSteps() *steps {
	return &steps{w: a.stderr, terminal: isTerminal(a.stderr), also: a.progress, begin: time.Now(), next: time.Now().Add(time.Second)}
}

// set says what is being done and how far it is, out of total if that is known. It may
// be called concurrently and often.
func (s *steps) set(phase string, done, total int64) {
	if s.also != nil {
		s.also(phase, done, total)
	}
	if !s.terminal {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Before(s.next) {
		return
	}
	s.next = now.Add(meterOnTerminal)
	text := fmt.Sprintf("%s %.0f s", phase, now.Sub(s.begin).Seconds())
	switch {
	case total > 0:
		text += fmt.Sprintf("  %d %%", 100*done/total)
	case done > 0:
		text += "  " + export.Bytes(done)
	}
	fmt.Fprint(s.w, "\r\x1b[K"+export.Fit(text, max(columns(s.w)-1, 1)))
	s.shown = true
}

// stop wipes the line.
func (s *steps) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown {
		fmt.Fprint(s.w, "\r\x1b[K")
		s.shown = false
	}
	s.terminal = false
}
