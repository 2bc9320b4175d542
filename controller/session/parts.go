package session

import (
	"context"
	"errors"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/shm"
)

// A recording has parts: from opening the gate to shutting it. Each has a tag of
// its own, which every token carries, so what began in one part is over when it
// ends: an invocation that was open then keeps the time up to then and counts
// as one that has not returned. What its frames do later is ignored, until its
// thread enters a root anew. (docs/decisions/0009-parts.md)

// ErrNotRecording reports that there is no recording to be paused, resumed,
// reset or changed: a timing can't be.
var ErrNotRecording = errors.New("nothing is being recorded")

// Pause silences all probes at once; nothing is recorded until Resume. Root
// invocations that are open then stay open in the report, with what they did so
// far. Pausing a recording that pauses does nothing.
func (s *Session) Pause(ctx context.Context) error {
	s.switching.Lock()
	defer s.switching.Unlock()
	return s.recording(ctx, func(l *loop) {
		if s.data.IsOpen() {
			l.shut()
			l.rec.pauses++
		}
	})
}

// Resume goes on recording, into the same tree. Root invocations count that
// begin from then on.
func (s *Session) Resume(ctx context.Context) error {
	s.switching.Lock()
	defer s.switching.Unlock()
	return s.recording(ctx, func(l *loop) {
		if !s.data.IsOpen() {
			l.open()
		}
	})
}

// Reset forgets everything recorded so far and begins anew, without a change to
// any class; a recording that pauses stays so. Root invocations count that
// begin from then on.
func (s *Session) Reset(ctx context.Context) error { return s.reset(ctx, false) }

// reset does so; with warm, it is the end of the warm-up. That must not be over before
// the gate is shut: what has returned so far could be taken for all calls asked for.
func (s *Session) reset(ctx context.Context, warm bool) error {
	s.switching.Lock()
	defer s.switching.Unlock()
	var open, full bool
	if err := s.recording(ctx, func(l *loop) {
		open = s.data.IsOpen()
		l.shut()
		full = s.data.QuarterUsed()
	}); err != nil {
		return err
	}
	quiet := full && s.awaitProbeExit(ctx)
	// What was begun is seen through, or the gate would stay shut.
	return s.anew(context.WithoutCancel(ctx), quiet, func(l *loop) {
		l.rec.warming = l.rec.warming && !warm
		l.rec.warmed = time.Since(l.rec.armed)
		if open {
			l.begin()
		}
	})
}

// Warm waits until the warm-up that the recording began with is over, and has
// what was recorded meanwhile forgotten; without one it returns at once. If the
// target ends before, what was recorded stays, and the report says so.
func (s *Session) Warm(ctx context.Context) error {
	var rec recording
	if err := s.recording(ctx, func(l *loop) { rec = l.rec }); err != nil || !rec.warming {
		return err
	}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-s.ended:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
		_, returned := s.data.Roots()
		if rec.Warmup > 0 && time.Since(rec.armed) >= rec.Warmup || rec.WarmupCalls > 0 && returned >= rec.WarmupCalls {
			break
		}
	}
	return s.reset(ctx, true)
}

// recording runs f on the loop if something is being recorded.
func (s *Session) recording(ctx context.Context, f func(l *loop)) error {
	var err error
	if e := s.do(ctx, func() {
		if err = s.loop.isRecording(); err == nil {
			f(&s.loop)
		}
	}); e != nil {
		return e
	}
	return err
}

// isRecording is nil while a recording is on, or paused.
func (l *loop) isRecording() error {
	if !l.armed || !l.kind.modes() || !l.rec.stopped.IsZero() || l.leaving {
		return ErrNotRecording
	}
	return nil
}

// begin opens the gate for a tree that is empty.
func (l *loop) begin() {
	l.s.stage.begin("recording", 0)
	l.rec.admitted = 0
	l.s.data.Admit(shm.All)
	if n := l.rec.UntilCalls; n > 0 && !l.rec.warming {
		l.rec.admitted = n
		l.s.data.Admit(n)
	}
	l.open()
}

func (l *loop) open() {
	l.rec.since = l.s.now()
	if l.rec.began == 0 {
		l.rec.began = l.rec.since
		if l.s.ticker != nil {
			l.s.ticker.Forget()
		}
	}
	l.s.collections.Part(true)
	l.s.keeper.begin(l.rec.began, l.stats)
	l.s.data.Open()
	l.calibrator.Resume()
}

// shut ends the part that is on. If the agent has shut the gate before, that
// was the end.
func (l *loop) shut() {
	d := l.s.data
	if l.rec.since == 0 {
		return
	}
	end := l.s.now()
	if ended := d.Ended(); ended != 0 {
		end = min(end, ended)
	}
	d.Shut(end)
	l.s.collections.Part(false)
	l.rec.took += time.Duration(max(0, end-l.rec.since))
	l.rec.since = 0
}

// renew makes every record begin a new tree at its next root invocation. The
// gate must be shut.
func (l *loop) renew() {
	l.s.data.Renew()
	l.forgetLate()
	l.rec.took, l.rec.pauses, l.rec.switched = 0, 0, false
	l.rec.stuck = time.Time{}
	l.s.glance.forget()
	l.s.collections.Renew()
	l.s.keeper.renew()
	l.s.slowCalls.renew()
	l.rec.began = 0
	l.kind.renew(l.rec.Recording)
	if l.calibrator.On() {
		l.kind.aside()
	}
}
