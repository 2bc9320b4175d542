package live

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// Run reads frames until ctx is done. Then it ends the recording and restores the target,
// for as long as grace is not done. The error says what could not be restored. Run must be
// called once.
func (l *Live) Run(ctx, grace context.Context) error {
	l.run(ctx, grace)
	return l.close(grace)
}

// run keeps the frames coming until the context is done. What it began then
// is carried through as long as grace lasts.
func (l *Live) run(ctx, grace context.Context) {
	context.AfterFunc(grace, l.giveUp)
	wait := frameEvery
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		wait = frameEvery
		l.mu.Lock()
		s, phase, seen, uncalled := l.session, l.phase, l.frame != nil, l.uncalled()
		l.mu.Unlock()
		if s == nil {
			continue
		}
		select {
		case <-s.Done():
			l.endedByItself(grace, phase)
			continue
		default:
		}
		if phase != InRecording || seen && !uncalled && !l.watched() {
			continue
		}
		if _, err := l.recent(ctx); err != nil {
			l.log.Debug("frame", "error", err)
			continue
		}
		l.mu.Lock()
		wait = max(time.Until(l.next), time.Millisecond)
		l.mu.Unlock()
		l.diagnose(ctx, s)
	}
}

// endedByItself follows a session to its end.
func (l *Live) endedByItself(ctx context.Context, phase string) {
	var err error
	switch phase {
	case InRecording:
		err = l.Stop(ctx)
	case Attached:
		l.Logf("warn", "the target has exited")
		err = l.Detach(ctx)
	}
	if err != nil && !errors.Is(err, ErrBusy) && !errors.Is(err, ErrPhase) {
		l.log.Warn("end", "error", err)
	}
}

// recent is the live frame, read anew if that may be.
func (l *Live) recent(ctx context.Context) (*Frame, error) {
	l.mu.Lock()
	f, soon := l.frame, time.Now().Before(l.next)
	l.mu.Unlock()
	if f != nil && soon {
		return f, nil
	}
	return l.refresh(ctx)
}

// refresh reads a frame now, if there is a recording on.
func (l *Live) refresh(ctx context.Context) (*Frame, error) {
	l.reading.Lock()
	defer l.reading.Unlock()
	l.mu.Lock()
	s, last, phase := l.session, l.frame, l.phase
	l.mu.Unlock()
	if s == nil || phase != InRecording {
		return last, nil
	}
	begin := time.Now()
	r, err := s.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	f := l.newFrame(r)
	now := momentOf(f)
	l.mu.Lock()
	l.moments = later(l.moments, now)
	f.moments = l.moments
	l.frame, l.rate = f, 0
	l.next = begin.Add(max(frameEvery, frameShare*time.Since(begin)))
	if last != nil && f.Report.Time > last.Report.Time && f.sums.Calls >= last.sums.Calls {
		l.rate = float64(f.sums.Calls-last.sums.Calls) / (f.Report.Time - last.Report.Time).Seconds()
	}
	if f.invocations > 0 {
		l.diagnosis = ""
	}
	l.mu.Unlock()
	l.changed()
	return f, nil
}

func (l *Live) newFrame(r *export.Report) *Frame {
	l.mu.Lock()
	l.frames++
	id := l.frames
	l.mu.Unlock()
	return newFrame(id, r, l.numbering)
}

// uncalled tells whether no root invocation was recorded for so long, as of the last
// frame, that somebody should look why. Whoever asks for the state wants to know, so it
// is looked even if nobody watches. l.mu is held.
func (l *Live) uncalled() bool {
	return !l.diagnosed && l.frame != nil && l.frame.invocations == 0 && time.Since(l.started) > diagnoseAfter
}

// diagnose looks once why no root invocation was recorded.
func (l *Live) diagnose(ctx context.Context, s Session) {
	l.mu.Lock()
	due := l.uncalled()
	l.diagnosed = l.diagnosed || due
	l.mu.Unlock()
	if !due {
		return
	}
	text := strings.TrimSpace(s.Diagnose(ctx))
	if text == "" {
		return
	}
	l.mu.Lock()
	l.diagnosis = export.Clean(text)
	l.mu.Unlock()
	l.Logf("warn", "%s", text)
}
