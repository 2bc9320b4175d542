package live

import (
	"context"
	"fmt"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// attached is the session of a JVM that nothing is recorded of.
func (l *Live) attached(what string) (Session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == nil || l.phase != Attached {
		return nil, fmt.Errorf("%w: can't %s while %s", ErrPhase, what, l.phase)
	}
	return l.session, nil
}

// Preview says what Scheme A would instrument in the attached JVM; it instruments nothing.
// Errors are [ErrBusy], wrap [ErrInput] or [ErrPhase], or are the session's.
func (l *Live) Preview(ctx context.Context, r spec.Recording) (*export.Preview, error) {
	end, err := l.begin("look ahead", Attached, Attached)
	if err != nil {
		return nil, err
	}
	defer end(Attached)
	s, err := l.attached("look ahead")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, actionLimit)
	defer cancel()
	return s.Preview(ctx, r)
}

// Suggest looks for roots in the attached JVM, for some seconds; other
// actions go on meanwhile. dumps allows thread dumps, which stop the target for moments, where samples
// can't be had; without them it waits for another call that is going on, and has no suggestions where nothing is attached. Samples can be
// looked at until the next call, see [Suggestions].Source. Errors are [ErrBusy] if it is being called already, wrap
// [ErrPhase], or are the session's.
func (l *Live) Suggest(ctx context.Context, dumps bool) (*Suggestions, error) {
	if !dumps {
		l.suggesting.Lock()
	} else if !l.suggesting.TryLock() {
		return nil, ErrBusy
	}
	defer l.suggesting.Unlock()
	s, err := l.attached("look for roots")
	if err != nil {
		if !dumps { // nobody has asked for it: the page looks by itself
			return &Suggestions{Why: err.Error(), Roots: []Suggestion{}}, nil
		}
		return nil, err
	}
	found, err := s.Suggest(ctx, dumps)
	if err != nil || found.Report == nil {
		return found, err
	}
	if f := l.newFrame(found.Report); f.sums.Nodes <= maxNodes {
		l.mu.Lock()
		id := int64(firstSampled) // numbers of snapshots have no gaps
		if l.sampled != nil {
			id = l.sampled.ID + 1
		}
		l.sampled = &Snapshot{ID: id, Name: "samples for the choice of a root", When: at(time.Now()), Frame: f}
		found.Source = id
		l.mu.Unlock()
	}
	return found, nil
}

// firstSampled is the number of the first samples by which roots were suggested: far from those
// of snapshots, and exact in JavaScript.
const firstSampled = 1 << 50

// warm sees a recording's warm-up through, beside everything else. The returned
// function ends the waiting, and returns when nobody waits any more.
func (l *Live) warm(s Session, r spec.Recording) (end func()) {
	if !r.HasWarmup() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		err := s.Warm(ctx)
		l.mu.Lock()
		l.warming = false
		l.mu.Unlock()
		switch {
		case ctx.Err() != nil: // the recording has ended first
		case err != nil:
			l.Logf("error", "warm-up: %v", err)
		default:
			l.Logf("info", "what is ignored first is over; recording begins")
		}
	}()
	return func() { cancel(); <-over }
}
