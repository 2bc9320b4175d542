package session

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// Progress says how far a session is.
type Progress struct {
	Phase           string    // "attaching", a stage ("reading class files", "observing", "instrumenting" and so on), "waiting for the root", "warming up", "recording", "paused", "ended"
	Done, Of        int       // how far a stage is; Of is 0 where that is not known
	Since           time.Time // when the stage began; zero in other phases
	Classes         int       // known
	Instrumented    int       // methods with probes
	Called          int       // of those, called at least once
	Calls           int64
	RootInvocations int64
	Diagnosis       string // why nothing is recorded, where that is known
	Budget          string // how a budget is held; "" without one
	Times           string // of a timing: what the root that took most has shown so far
}

// A glance is what Progress takes from the tree. A tree of a million nodes
// costs this process 0.2 s to read, so that is done for at most a twentieth of
// the time.
type glance struct {
	mu     sync.Mutex
	again  time.Time // not before
	looked time.Time // when the last look ended; zero before the first
	took   time.Duration
	calls  int64
	called int
}

func (g *glance) look(mem []byte) (calls int64, called int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !time.Now().Before(g.again) {
		g.read(mem)
	}
	return g.calls, g.called
}

// within is how many calls there are, if they were counted since a moment, or may be counted
// anew: that takes at most one of share parts of the time. Else -1.
func (g *glance) within(mem []byte, since time.Time, share int) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.looked.Before(since) && time.Since(g.looked) >= time.Duration(share)*g.took {
		g.read(mem)
	}
	if g.looked.Before(since) {
		return -1
	}
	return g.calls
}

// read counts anew.
func (g *glance) read(mem []byte) {
	begin := time.Now()
	tree, err := cct.Read(mem, 0)
	if err != nil {
		return
	}
	g.calls, g.called = 0, 0
	for _, f := range cct.FlatOf(tree.Roots()) {
		g.calls += f.Calls
		g.called++
	}
	g.looked = time.Now()
	g.took = g.looked.Sub(begin)
	g.again = g.looked.Add(19 * g.took)
}

// forget has the next look begin anew.
func (g *glance) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.again, g.looked, g.took, g.calls, g.called = time.Time{}, time.Time{}, 0, 0, 0
}

// Progress says how far the session is, at no cost to the target.
func (s *Session) Progress() Progress {
	var p Progress
	var kind recorder
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.do(ctx, func() {
		l := &s.loop
		p.Classes = l.h.Len()
		kind = l.kind
		p.Instrumented = len(l.ledger.Instrumented())
		switch {
		case !l.hello:
			p.Phase = "attaching"
		case !l.armed:
			p.Phase = "instrumenting"
			s.stage.tell(&p)
		case !s.data.IsOpen() && l.rec.stopped.IsZero():
			p.Phase = "paused"
		case l.rec.warming:
			p.Phase = "warming up"
		default:
			p.Phase = "recording"
		}
	})
	s.mapped.RLock()
	defer s.mapped.RUnlock()
	if errors.Is(err, context.DeadlineExceeded) { // the loop is at work
		p.Phase = "instrumenting"
		s.stage.tell(&p)
		return p
	}
	if err != nil || s.data.Memory() == nil {
		p.Phase = "ended"
		return p
	}
	switch p.Phase {
	case "recording", "paused", "warming up":
	default:
		return p
	}
	kind.progress(&p)
	if s.governing != nil {
		p.Budget = s.governing.report().Summary()
	}
	if p.RootInvocations == 0 && p.Phase == "recording" {
		p.Phase = "waiting for the root"
	}
	p.Diagnosis, _ = s.diagnosis.Load().(string)
	return p
}
