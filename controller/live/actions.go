package live

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// SwitchScheme ends the recording, which is kept as a snapshot, and begins another one that
// differs by the scheme alone: classes instrumented by one scheme can't be used by another.
// Errors wrap [ErrInput] or [ErrPhase]. If there is no room to keep the recording, the error
// says so, and the recording goes on; if it can't be kept once it has ended, none is begun.
func (l *Live) SwitchScheme(ctx context.Context, scheme string) error {
	if scheme != spec.SchemeAuto && !slices.Contains(spec.Schemes, scheme) {
		return fmt.Errorf("%w: scheme %q: there are auto, %s", ErrInput, scheme, spec.SchemeNames())
	}
	l.mu.Lock()
	r, phase := l.recording, l.phase
	l.mu.Unlock()
	if phase == InRecording && r.Scheme == scheme {
		return nil
	}
	if phase != InRecording {
		return fmt.Errorf("%w: can't switch the scheme while %s", ErrPhase, phase)
	}
	if err := l.roomForLive(); err != nil {
		return fmt.Errorf("the recording goes on, since it could not be kept: %w", err)
	}
	if err := l.Stop(ctx); err != nil {
		return err
	}
	if err := l.keepLastAgain(); err != nil {
		return fmt.Errorf("the recording has ended and is not kept: %w; no other one is begun, so export it", err)
	}
	r.Scheme = scheme
	return l.Start(ctx, r)
}

// roomForLive says why the recording that is on can't be kept, as far as that can be
// told before it ends.
func (l *Live) roomForLive() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.store.dir != "" {
		return nil
	}
	nodes := int64(0)
	if l.frame != nil {
		nodes = l.frame.sums.Nodes
	}
	return l.checkMemory(nodes)
}

// Do carries out one of the actions that [State.Actions] lists. value is the clock for
// "clock", the scheme for "scheme", a rule for "mode", the new roots for "roots", a line for
// each, and empty for the others. Before the roots are replaced, what was recorded so far is
// kept as a snapshot. A session that can't change
// its scheme is followed by another one, see [Live.SwitchScheme]. Errors are [ErrBusy], wrap
// [ErrPhase], or are the session's.
func (l *Live) Do(ctx context.Context, name, value string) error {
	l.mu.Lock()
	followed := name == switchScheme && l.session != nil && l.session.Actions()[name] == nil
	l.mu.Unlock()
	if followed {
		return l.SwitchScheme(ctx, value)
	}
	end, err := l.begin(name, InRecording, InRecording)
	if err != nil {
		return err
	}
	defer end(InRecording)
	l.mu.Lock()
	do := l.session.Actions()[name]
	l.mu.Unlock()
	if do == nil {
		return fmt.Errorf("%w: this session knows no action %q", ErrPhase, name)
	}
	ctx, cancel := l.withTimeout(ctx)
	defer cancel()
	if name == switchRoots {
		if err := l.keepRoots(ctx); err != nil {
			return err
		}
	}
	if err := do(ctx, value); err != nil {
		l.Logf("error", "%s: %v", name, err)
		return err
	}
	l.mu.Lock()
	switch name {
	case switchRoots:
		l.moments = nil
		l.recording.Roots, l.started, l.paused, l.diagnosis, l.diagnosed = strings.Split(value, "\n"), time.Now(), false, "", false
		value = strings.Join(l.recording.Roots, ", ")
	case "reset":
		l.moments = nil
	case "pause":
		l.paused = true
	case "resume":
		l.paused = false
	case "clock":
		l.recording.Clock = value
	case "scheme":
		l.recording.Scheme = value
	case "mode":
		if m, err := spec.ParseModeRule(value); err == nil {
			l.recording.Modes = append(slices.Clip(l.recording.Modes), m)
		}
	}
	l.mu.Unlock()
	l.Logf("info", "%s", strings.TrimSpace(name+" "+value))
	_, err = l.refresh(ctx)
	return err
}

// keepRoots keeps what was recorded with the roots that are about to be replaced, unless
// nothing was.
func (l *Live) keepRoots(ctx context.Context) error {
	f, err := l.refresh(ctx)
	if err == nil && f != nil && f.sums.Calls > 0 {
		_, err = l.keep(f, "")
	}
	if err != nil {
		return fmt.Errorf("the recording goes on with its roots, since it could not be kept: %w", err)
	}
	return nil
}
