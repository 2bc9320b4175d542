// Package fakejvm is a machine with one JVM for tests without a JVM: it implements
// [live.Backend], [live.Comparer] and [live.Session], and does what a test says.
//
// Its errors are those that the test has set. A [JVM] may be used concurrently, as its
// interfaces demand.
package fakejvm

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/live/livetest"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// A JVM is process 4711. Its fields are set before it is used; its methods may be called
// concurrently.
type JVM struct {
	AttachErr, StartErr error
	Diagnosis           string
	Loaded              []live.Method // loaded since the attach
	Faulty              bool          // Methods panics

	Tree      func() *cct.Snapshot               // of each snapshot
	Report    func(*cct.Snapshot) *export.Report // of a tree
	Finishing func(context.Context) error        // during Finish; nil does nothing
	Comparing func(context.Context, live.Trial, live.TrialProgress) (*export.Comparison, error)

	Recording spec.Recording // of the last start

	done chan struct{}
	mu   sync.Mutex
	did  []string
}

// New is a JVM with a tree of two contexts and nine calls.
func New() *JVM {
	return &JVM{
		done: make(chan struct{}), Report: livetest.Report,
		Tree: func() *cct.Snapshot {
			return livetest.Snapshot(livetest.Node(1, 3, 30, livetest.Node(2, 6, 10)))
		},
	}
}

func (f *JVM) note(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.did = append(f.did, what)
}

// Steps is what was asked of it so far, in order: "[attach start finish]".
func (f *JVM) Steps() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fmt.Sprint(f.did)
}

// Exit ends the process.
func (f *JVM) Exit() { close(f.done) }

// Targets implements live.Backend.
func (f *JVM) Targets(context.Context) ([]live.Target, error) {
	return []live.Target{{PID: 4711, Main: "shop.Main", Attachable: true}}, nil
}

// Attach implements live.Backend.
func (f *JVM) Attach(_ context.Context, _ int, how live.AttachOptions, _ func(string)) (live.Session, error) {
	f.note("attach")
	if f.AttachErr != nil && !(how.FullHeap && errors.Is(f.AttachErr, live.ErrFullHeap)) {
		return nil, f.AttachErr
	}
	return f, nil
}

// Demo implements live.Backend.
func (f *JVM) Demo(context.Context) (live.Demo, error) {
	return live.Demo{}, errors.New("no Java found")
}

// CompareSchemes implements live.Comparer.
func (f *JVM) CompareSchemes(ctx context.Context, pid int, t live.Trial, tell live.TrialProgress) (*export.Comparison, error) {
	f.note(fmt.Sprint("compare ", pid, t.Schemes))
	return f.Comparing(ctx, t, tell)
}

// Target implements live.Session.
func (f *JVM) Target() export.Target { return export.Target{PID: 4711, Main: "shop.Main"} }

// Methods implements live.Session.
func (f *JVM) Methods(context.Context) ([]live.Method, error) {
	if f.Faulty {
		panic("faulty")
	}
	return append([]live.Method{{Name: "shop.Price.of(I)J", Root: true}, {Name: "shop.Price.sync()V", Flags: "native"}}, f.Loaded...), nil
}

// Start implements live.Session.
func (f *JVM) Start(_ context.Context, r spec.Recording) error {
	f.note("start")
	f.Recording = r
	return f.StartErr
}

// Warm implements live.Session.
func (f *JVM) Warm(context.Context) error {
	f.note("warm")
	return nil
}

// Preview implements live.Session. It knows no class a.B.
func (f *JVM) Preview(_ context.Context, r spec.Recording) (*export.Preview, error) {
	if r.Roots[0] == "a.B.c" {
		return nil, fmt.Errorf("%w: no class a.B", live.ErrInput)
	}
	return &export.Preview{Roots: r.Roots, Classes: []export.PreviewClass{{Name: "shop.Price", Loader: "app", Methods: []string{"of(I)J"}}}}, nil
}

// Suggest implements live.Session.
func (f *JVM) Suggest(context.Context, bool) (*live.Suggestions, error) {
	return &live.Suggestions{Looks: 9, Roots: []live.Suggestion{{Root: "shop.Price.of", Stacks: 3, Of: 8}}}, nil
}

// Done implements live.Session.
func (f *JVM) Done() <-chan struct{} { return f.done }

// Diagnose implements live.Session.
func (f *JVM) Diagnose(context.Context) string { return f.Diagnosis }

// Close implements live.Session.
func (f *JVM) Close() error { f.note("close"); return nil }

// Actions implements live.Session.
func (f *JVM) Actions() map[string]func(context.Context, string) error {
	note := func(name string) func(context.Context, string) error {
		return func(_ context.Context, value string) error { f.note(name + value); return nil }
	}
	return map[string]func(context.Context, string) error{"reset": note("reset"), "pause": note("pause"), "resume": note("resume"), "clock": note("clock="), "roots": note("roots=")}
}

// Snapshot implements live.Session.
func (f *JVM) Snapshot(context.Context) (*export.Report, error) { return f.Report(f.Tree()), nil }

// Finish implements live.Session.
func (f *JVM) Finish(ctx context.Context) (*export.Report, error) {
	f.note("finish")
	if f.Finishing != nil {
		if err := f.Finishing(ctx); err != nil {
			return nil, err
		}
	}
	return f.Report(f.Tree()), nil
}

// Timed is a JVM whose recordings have the timeline of [livetest.Timeline].
type Timed struct{ *JVM }

// Attach implements live.Backend.
func (f Timed) Attach(ctx context.Context, pid int, how live.AttachOptions, tell func(string)) (live.Session, error) {
	_, err := f.JVM.Attach(ctx, pid, how, tell)
	return f, err
}

// Timeline implements live.Timeliner.
func (f Timed) Timeline(_ context.Context, q event.Query) (*export.TimelineView, error) {
	t, m := livetest.Timeline()
	return t.View(q, m, f.Report(f.Tree()).Lookup), nil
}

// Finish implements live.Session.
func (f Timed) Finish(ctx context.Context) (*export.Report, error) {
	r, err := f.JVM.Finish(ctx)
	r.Timeline, r.Marks = livetest.Timeline()
	return r, err
}
