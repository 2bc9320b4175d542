package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// withTimeout is the context of an action that can be given up: it is done with ctx, with
// grace, or after actionLimit.
func (l *Live) withTimeout(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(ctx, actionLimit)
	stop := context.AfterFunc(l.grace, cancel)
	return ctx, func() { stop(); cancel() }
}

// withGrace is the context of what restores the target: whoever asked for it may
// go, and it goes on as long as grace lasts.
func (l *Live) withGrace(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(l.grace, cancel)
	return ctx, func() { stop(); cancel() }
}

// Stop ends the recording, restores the target, detaches, and keeps the recording as a
// snapshot. It also ends a comparison of schemes. Once begun it goes on even if ctx is
// done, until the grace of [Live.Run] is over. Errors are [ErrBusy], wrap [ErrPhase], or say
// what could not be restored.
func (l *Live) Stop(ctx context.Context) error {
	if l.endTrial(ctx, errEnded) {
		return nil
	}
	end, err := l.begin("stop", Stopping, InRecording)
	if err != nil {
		return err
	}
	err = l.finish(ctx)
	end(Stopped)
	return err
}

// finish ends the recording as long as grace lasts, whether the context is done
// or not: what has begun to restore the target has to do so.
func (l *Live) finish(ctx context.Context) error {
	ctx, done := l.withGrace(ctx)
	defer done()
	l.reading.Lock()
	l.mu.Lock()
	s, endWarmup := l.session, l.endWarmup
	l.session, l.started, l.endWarmup = nil, time.Time{}, nil
	l.mu.Unlock()
	l.reading.Unlock()
	endWarmup()
	begin := time.Now()
	r, err := s.Finish(ctx)
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("stopped without waiting for the target, which restores itself: %w", ctx.Err())
	}
	if err != nil {
		l.Logf("error", "%v", err)
		l.mu.Lock()
		l.left = err
		l.mu.Unlock()
	}
	if r == nil {
		return err
	}
	f := l.newFrame(r)
	l.mu.Lock()
	f.moments = later(l.moments, nil)
	l.frame, l.moments, l.report, l.rate, l.paused = f, nil, r, 0, false
	l.mu.Unlock()
	restored := ""
	if err == nil {
		restored = fmt.Sprintf(" restored and detached in %d ms;", time.Since(begin).Milliseconds())
	}
	l.Logf("info", "%s after %.1f s;%s %s calls", r.Ended, f.seconds(), restored, export.Count(f.sums.Calls))
	if kerr := l.keepLast(f); kerr != nil {
		l.Logf("warn", "not kept as a snapshot: %v; the next recording takes its place, so export it", kerr)
	}
	return err
}

// keepLast keeps a recording that has ended.
func (l *Live) keepLast(f *Frame) error {
	kept, err := l.keep(f, "")
	l.mu.Lock()
	l.notKept = nil
	if err != nil {
		l.notKept = f
	}
	l.mu.Unlock()
	if err == nil {
		l.Logf("info", "kept as snapshot %q", kept.Name)
	}
	return err
}

// keepLastAgain tries again to keep the last recording, before another one takes its
// place: there may be room by now.
func (l *Live) keepLastAgain() error {
	l.mu.Lock()
	f := l.notKept
	l.mu.Unlock()
	if f == nil {
		return nil
	}
	return l.keepLast(f)
}

// Detach leaves the JVM and forgets it; a recording that is on ends first. Errors are
// [ErrBusy], wrap [ErrPhase], or say what could not be restored.
func (l *Live) Detach(ctx context.Context) error {
	end, err := l.begin("detach", Stopping, Attached, InRecording, Stopped)
	if err != nil {
		return err
	}
	err = l.leave(ctx)
	l.mu.Lock()
	l.target, l.frame, l.report, l.notKept, l.methods, l.recording = export.Target{}, nil, nil, nil, nil, spec.Recording{}
	l.mu.Unlock()
	end(Idle)
	return err
}

func (l *Live) leave(ctx context.Context) error {
	l.mu.Lock()
	s, recorded := l.session, !l.started.IsZero()
	l.mu.Unlock()
	if s == nil {
		return nil
	}
	if recorded {
		return l.finish(ctx)
	}
	l.reading.Lock()
	l.mu.Lock()
	l.session = nil
	l.mu.Unlock()
	l.reading.Unlock()
	err := s.Close()
	if err != nil {
		l.Logf("error", "%v", err)
	} else {
		l.Logf("info", "detached")
	}
	return err
}

const (
	// closeWait is for how long an action under way is waited for without grace.
	closeWait = 3 * time.Second
	// closeEvery is how often it is looked whether that action has ended.
	closeEvery = 15 * time.Millisecond
)

// close ends whatever is on; the action under way is waited for, and none begins any
// more. Who asked for that action may have gone: its error is close's, too, if it ended
// a recording and failed.
func (l *Live) close(ctx context.Context) error {
	l.mu.Lock()
	l.closing, l.left = true, nil
	l.mu.Unlock()
	l.endTrial(ctx, errClosing)
	for late := time.Duration(0); !l.act.TryLock(); time.Sleep(closeEvery) {
		l.endTrial(ctx, errClosing) // it may have been about to begin
		if ctx.Err() != nil {
			if late += closeEvery; late > closeWait {
				return fmt.Errorf("%s has not ended: %w", l.Phase(), ctx.Err())
			}
		}
	}
	defer l.act.Unlock()
	l.mu.Lock()
	left := l.left
	l.mu.Unlock()
	err := l.leave(ctx)
	l.mu.Lock()
	l.phase = Idle
	l.mu.Unlock()
	return errors.Join(left, err)
}
