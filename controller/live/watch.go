package live

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// run keeps the frames coming until the context is done. What it began then
// is carried through as long as patience lasts.
func (l *Live) run(ctx, patience context.Context) {
	context.AfterFunc(patience, l.impatient)
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
			l.endedByItself(patience, phase)
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
		l.Say("warn", "the target has exited")
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
	l.mu.Lock()
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
	return newFrame(id, r, l.book)
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
	l.Say("warn", "%s", text)
}

// Figures are what the page shows all the time; times in ns.
type Figures struct {
	Seconds      float64 `json:"seconds"`
	Calls        int64   `json:"calls"`
	Rate         float64 `json:"rate"` // calls a second
	Invocations  int64   `json:"invocations"`
	Open         int64   `json:"open"`
	Nodes        int64   `json:"nodes"`
	Instrumented int     `json:"instrumented"`
	Called       int     `json:"called"`
	Skipped      int     `json:"skipped"`
	Batches      int     `json:"batches"`
	Classes      int     `json:"classes"`
	Redefining   int64   `json:"redefining"`
	Pause        *int64  `json:"pause"` // the longest; null where not measured
	Measured     int64   `json:"measured"`
	Charged      int64   `json:"charged"`
	Subtracted   *int64  `json:"subtracted"` // null where the probes' cost is not known
	Clamped      *int64  `json:"clamped"`
	Suspended    int64   `json:"suspended"`
	Exact        bool    `json:"exact"` // nothing is incomplete, overflowed, lost or unfollowed
	Used         int64   `json:"used"`  // bytes of the room for trees
	Most         int64   `json:"most"`
}

func (f *Frame) figures() *Figures {
	r := f.Report
	g := &Figures{
		Seconds: f.seconds(), Calls: f.sums.Calls, Invocations: f.invocations, Open: f.open, Nodes: f.sums.Nodes,
		Instrumented: r.Instrumented, Called: f.called(), Skipped: len(r.Skipped),
		Batches: r.Redefinition.Batches, Classes: r.Redefinition.Classes, Redefining: int64(r.Redefinition.Time),
		Measured: f.sums.Self, Charged: f.sums.Self, Suspended: f.suspended,
		Exact: r.Tree.Incomplete == 0 && r.Tree.Overflow == 0 && r.Tree.Lost == 0 && r.Tree.Unfollowed == 0 && r.Tree.Bad == 0,
	}
	if r.Room != nil {
		g.Used, g.Most = r.Room.Used, r.Room.Most
	}
	if p := r.Redefinition.LongestPause; p != nil {
		ns := int64(*p)
		g.Pause = &ns
	}
	if r.Calibration != nil {
		g.Measured = f.sums.Raw
		g.Subtracted, g.Clamped = &r.Correction.Subtracted, &r.Correction.Clamped
	}
	return g
}

// actionNames are the actions that the page knows of, in its order.
var actionNames = []string{"pause", "resume", "reset", "clock", switchScheme}

// switchScheme is an action that there is with every session.
const switchScheme = "scheme"

var schemes = []string{"A", "B", "C"}

// A State is everything about a server but the trees.
type State struct {
	Phase     string         `json:"phase"`
	Paused    bool           `json:"paused"`
	Warming   bool           `json:"warming"` // what is recorded now will be forgotten
	Target    *TargetInfo    `json:"target"`  // null when idle
	Recording Recording      `json:"recording"`
	Methods   int            `json:"methods"` // of the application, loaded when it was attached
	Actions   []string       `json:"actions"`
	Diagnosis string         `json:"diagnosis"`
	Frame     int64          `json:"frame"` // 0 if there is none
	Figures   *Figures       `json:"figures"`
	Comparing *Trying        `json:"comparing"` // null but while schemes are compared
	Compared  int64          `json:"compared"`  // the last comparison's number among the snapshots, 0 if there was none
	Snapshots []SnapshotInfo `json:"snapshots"` // null to a client that has the same list
}

// A TargetInfo is the JVM that is attached, or was.
type TargetInfo struct {
	PID  int    `json:"pid"`
	Java string `json:"java"`
	VM   string `json:"vm"`
	Main string `json:"main"`
}

// State says how things stand.
func (l *Live) State() State {
	l.mu.Lock()
	s := State{
		Phase: l.phase, Paused: l.paused, Warming: l.warming, Recording: l.recording, Methods: len(l.methods), Actions: []string{}, Diagnosis: l.diagnosis,
		Snapshots: []SnapshotInfo{},
	}
	if s.Recording.Roots == nil {
		s.Recording.Roots = []string{}
	}
	if l.target.PID != 0 {
		t := l.target
		s.Target = &TargetInfo{t.PID, export.Clean(t.Java), export.Clean(t.VM), export.Clean(t.Main)}
	}
	if l.session != nil && l.phase == InRecording {
		for _, name := range actionNames {
			if name == switchScheme || l.session.Actions()[name] != nil {
				s.Actions = append(s.Actions, name)
			}
		}
	}
	for _, k := range l.snapshots {
		s.Snapshots = append(s.Snapshots, k.info())
	}
	s.Comparing, s.Compared = l.trial.state(), l.compared
	f, rate := l.frame, l.rate
	l.mu.Unlock()
	if f != nil {
		s.Frame, s.Figures = f.ID, f.figures()
		s.Figures.Rate = rate
	}
	return s
}
