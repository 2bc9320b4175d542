package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// A Comparer is a [Backend] that can also try schemes on a JVM, one after another.
type Comparer interface {
	// CompareSchemes attaches to a JVM that this server is not attached to, tries
	// the schemes, and leaves it. Errors about what was asked for wrap [ErrInput].
	// What was compared before an error comes with it, nil if that is nothing.
	CompareSchemes(ctx context.Context, pid int, t Trial, tell TrialProgress) (*export.Comparison, error)
}

// TrialProgress are functions that are told how a comparison goes on. All are called from one
// goroutine.
type TrialProgress struct {
	Warn    func(string)             // what the user should know before a step is done
	Step    func(string)             // each step as it begins, of which there are two before the first scheme
	Partial func(*export.Comparison) // what there is after a step
}

// A Trial says how schemes are compared. In JSON it is an object with the fields of the
// recording, schemes and seconds.
type Trial struct {
	// Recording is what each of the schemes records. Its scheme is not used.
	Recording spec.Recording
	Schemes   []string // in this order; empty: spec.Schemes
	// Seconds is the length of each recording, and of timing the roots. If it is 0, each
	// ends with UntilCalls.
	Seconds float64
}

// UnmarshalJSON changes what an object has fields for, as [spec.Recording.UnmarshalJSON]
// does, whose errors it has.
func (t *Trial) UnmarshalJSON(b []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	for name, to := range map[string]any{"schemes": &t.Schemes, "seconds": &t.Seconds} {
		if raw, ok := fields[name]; ok {
			if err := json.Unmarshal(raw, to); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			delete(fields, name)
		}
	}
	rest, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return json.Unmarshal(rest, &t.Recording)
}

// A TrialState says how far a comparison is.
type TrialState struct {
	Schemes []string        `json:"schemes"`
	Seconds float64         `json:"seconds"`
	Step    int             `json:"step"` // from 1: the roots alone twice, then each scheme
	Steps   int             `json:"steps"`
	Doing   string          `json:"doing"`
	Since   time.Time       `json:"since"` // when the step began
	Sofar   json.RawMessage `json:"sofar"` // what there is, as its JSON; null before the first step has ended
}

// A trial is a comparison that is under way. Its state is guarded by the Live.
type trial struct {
	end  context.CancelCauseFunc
	over chan struct{} // closed when it has ended
	now  TrialState
}

// Why a comparison ends before it is done.
var (
	errEnded   = errors.New("it was ended")
	errClosing = errors.New("the server ends")
)

// state is a copy for a State; nil of none.
func (t *trial) state() *TrialState {
	if t == nil {
		return nil
	}
	now := t.now
	return &now
}

// endTrial ends the comparison that is under way and waits until the target is
// left; false if there is none.
func (l *Live) endTrial(ctx context.Context, why error) bool {
	l.mu.Lock()
	t := l.trial
	l.mu.Unlock()
	if t == nil {
		return false
	}
	t.end(why)
	select {
	case <-t.over:
	case <-ctx.Done():
	}
	return true
}

// CompareSchemes tries schemes on the attached JVM one after another, each in a session of
// its own, and keeps the result as a snapshot. It returns when all are tried, or when
// [Live.Stop] ends it, which keeps what there is. Afterwards the JVM is left; it is attached
// to again if there is no result. Errors are [ErrBusy], wrap [ErrInput] or [ErrPhase], or
// say why a scheme failed.
func (l *Live) CompareSchemes(ctx context.Context, t Trial) (SnapshotInfo, error) {
	b, ok := l.backend.(Comparer)
	if !ok {
		return SnapshotInfo{}, fmt.Errorf("%w: there is nobody here who compares schemes", ErrPhase)
	}
	end, err := l.begin("compare schemes", Comparing, Attached, Stopped)
	if err != nil {
		return SnapshotInfo{}, err
	}
	l.keepLastAgain() //nolint:errcheck // it has been said when it ended
	ctx, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	defer close(over)
	defer cancel(nil)
	l.mu.Lock()
	pid, how, was := l.target.PID, l.options, l.session != nil
	if t.Recording.Memory > 0 {
		how.Memory = t.Recording.Memory
	}
	t.Recording.Memory = how.Memory
	frame, recording := l.frame, l.recording
	l.frame, l.rate, l.diagnosis, l.recording, l.compared = nil, 0, "", t.Recording, 0
	l.trial = &trial{end: cancel, over: over, now: TrialState{Schemes: t.Schemes, Seconds: t.Seconds, Steps: 2 + len(t.Schemes), Since: time.Now()}}
	l.mu.Unlock()
	info, err := l.compareSchemes(ctx, b, pid, t)
	phase := Stopped
	if info.ID == 0 && was && context.Cause(ctx) != errClosing { // nothing to look at: back to the choice
		if again := l.attach(context.WithoutCancel(ctx), pid, how); again == nil {
			phase = Attached
		}
	}
	if err != nil {
		l.Logf("error", "comparing schemes: %v", err)
	}
	l.mu.Lock()
	l.trial = nil
	if info.ID == 0 && phase == Stopped { // what was there before can still be looked at
		l.frame, l.recording = frame, recording
	}
	l.mu.Unlock()
	end(phase)
	return info, err
}

func (l *Live) compareSchemes(ctx context.Context, b Comparer, pid int, t Trial) (SnapshotInfo, error) {
	if err := l.leave(context.WithoutCancel(ctx)); err != nil {
		return SnapshotInfo{}, err
	}
	change := func(f func(*TrialState)) {
		l.mu.Lock()
		if l.trial != nil {
			f(&l.trial.now)
		}
		l.mu.Unlock()
		l.changed()
	}
	step := func(text string) {
		change(func(n *TrialState) { n.Step, n.Doing, n.Since = n.Step+1, export.Clean(text), time.Now() })
		l.Logf("info", "comparing schemes: %s", text)
	}
	partial := func(c *export.Comparison) {
		var text bytes.Buffer
		if err := c.JSON(&text); err != nil {
			l.log.Debug("comparison", "error", err)
			return
		}
		change(func(n *TrialState) { n.Sofar = text.Bytes() })
	}
	warn := func(text string) { l.Logf("warn", "%s", text) }
	c, err := b.CompareSchemes(ctx, pid, t, TrialProgress{Warn: warn, Step: step, Partial: partial})
	ended := ctx.Err() != nil && context.Cause(ctx) == errEnded
	if ended {
		err = nil
	}
	if c == nil || len(c.Runs) == 0 {
		if ended {
			l.Logf("info", "the comparison was ended before a scheme had been tried")
		}
		return SnapshotInfo{}, err
	}
	if ended {
		c.Notes = append(c.Notes, "It was ended before all schemes had been tried.")
	}
	info, kerr := l.keepAs(&Snapshot{compared: c}, "", compressed(c))
	if kerr != nil {
		return SnapshotInfo{}, errors.Join(err, fmt.Errorf("the comparison is not kept: %w", kerr))
	}
	l.mu.Lock()
	l.compared = info.ID
	l.mu.Unlock()
	l.Logf("info", "schemes %s are compared: %s", schemesOf(c), c.Advice())
	return info, err
}

// Bounds of a comparison.
const (
	trialSeconds = 10.0 // unless told otherwise
	maxSeconds   = 3600.0
)

// Complete fills in what a trial leaves out, and refuses what makes no sense in any
// session. Its errors are for whoever made the request, and say which field is at
// fault.
func (t *Trial) Complete() error {
	if len(t.Schemes) == 0 {
		t.Schemes = slices.Clone(spec.Schemes)
	}
	if t.Seconds == 0 && t.Recording.UntilCalls == 0 {
		t.Seconds = trialSeconds
	}
	for i, name := range t.Schemes {
		if !slices.Contains(spec.Schemes, name) || slices.Contains(t.Schemes[:i], name) {
			return fmt.Errorf("schemes %s: there are %s; give each once", export.Fit(export.Clean(strings.Join(t.Schemes, ",")), 80), spec.SchemeNames())
		}
	}
	if t.Seconds < 0 || t.Seconds > maxSeconds {
		return fmt.Errorf("seconds %g: give a number up to %g", t.Seconds, maxSeconds)
	}
	return t.Recording.ValidateForComparison()
}
