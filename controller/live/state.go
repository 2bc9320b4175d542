package live

import (
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// Figures are the totals of a recording. Times are in ns.
type Figures struct {
	Scheme       string  `json:"scheme"` // that records, where the recording leaves it open
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
	Exact        bool    `json:"exact"` // see [export.Report.Exact]
	Used         int64   `json:"used"`  // bytes of the room for trees
	Most         int64   `json:"most"`

	Governor *export.Governor `json:"governor,omitempty"` // nil without a budget

	// Sampling is set where the recording is made of samples: calls are entries then.
	Sampling *export.Sampling `json:"sampling,omitempty"`
}

func (f *Frame) figures() *Figures {
	r := f.Report
	g := &Figures{
		Scheme:  r.Scheme,
		Seconds: f.seconds(), Calls: f.sums.Calls, Invocations: f.invocations, Open: f.open, Nodes: f.sums.Nodes,
		Instrumented: r.Instrumented, Called: f.called(), Skipped: len(r.Skipped),
		Batches: r.Redefinition.Batches, Classes: r.Redefinition.Classes, Redefining: int64(r.Redefinition.Time),
		Measured: f.sums.Self, Charged: f.sums.Self, Suspended: f.suspended,
		Exact: r.Exact(), Sampling: r.Sampling, Governor: r.Governor,
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

// actionNames are the actions that viewers know of, in their order.
var actionNames = []string{"pause", "resume", "reset", "clock", switchScheme, "mode", switchRoots}

// switchRoots is the action that replaces the roots.
const switchRoots = "roots"

// switchScheme is an action that there is with every session.
const switchScheme = "scheme"

// shownLines is how many of the lines that a script has printed a state has.
const shownLines = 100

// A State is everything about a [Live] except the trees.
type State struct {
	Phase     string         `json:"phase"`
	Paused    bool           `json:"paused"`
	Warming   bool           `json:"warming"`   // what is recorded now will be forgotten
	Target    *TargetInfo    `json:"target"`    // null when idle
	Recording spec.Recording `json:"recording"` // as it was started, and switched since
	Defaults  spec.Recording `json:"defaults"`  // of a recording that says nothing else
	Methods   int            `json:"methods"`   // of the application, loaded when it was attached
	Actions   []string       `json:"actions"`
	Diagnosis string         `json:"diagnosis"`
	Agents    []export.Agent `json:"agents,omitempty"` // users' scripts beside the recording
	Ended     string         `json:"ended"`            // why the last recording ended, such as "stopped" or "the target has exited"; "" if none has
	Frame     int64          `json:"frame"`            // 0 if there is none
	Figures   *Figures       `json:"figures"`
	Comparing *TrialState    `json:"comparing"` // null but while schemes are compared
	Compared  int64          `json:"compared"`  // the last comparison's number among the snapshots, 0 if there was none
	Snapshots []SnapshotInfo `json:"snapshots"` // null to a client that has the same list
}

// A TargetInfo describes the JVM that is attached, or was the last.
type TargetInfo struct {
	PID  int    `json:"pid"`
	Java string `json:"java"`
	VM   string `json:"vm"`
	Main string `json:"main"`
	// Redefinition is what the first redefinition is going to cost the JVM, where it throws
	// away all compiled code; "" where it does not, or was.
	Redefinition string `json:"redefinition,omitempty"`
}

// State says how things stand. It costs nothing of the target.
func (l *Live) State() State {
	l.mu.Lock()
	s := State{
		Phase: l.phase, Paused: l.paused, Warming: l.warming, Recording: l.recording.Clone(), Defaults: l.defaults, Methods: len(l.methods), Actions: []string{}, Diagnosis: l.diagnosis,
		Snapshots: []SnapshotInfo{},
	}
	if l.target.PID != 0 {
		t := l.target
		s.Target = &TargetInfo{t.PID, export.Clean(t.Java), export.Clean(t.VM), export.Clean(t.Main), export.Clean(l.redefinition)}
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
	if l.report != nil && l.phase == Stopped {
		s.Ended = export.Clean(l.report.Ended)
	}
	f, rate, session := l.frame, l.rate, l.session
	l.mu.Unlock()
	if with, ok := session.(Agents); ok {
		s.Agents = with.Agents()
	} else if f != nil {
		s.Agents = slices.Clone(f.Report.Agents)
	}
	for i, a := range s.Agents {
		s.Agents[i].Output = a.Output[max(0, len(a.Output)-shownLines):]
	}
	if f != nil {
		s.Frame, s.Figures = f.ID, f.figures()
		s.Figures.Rate = rate
	}
	return s
}
