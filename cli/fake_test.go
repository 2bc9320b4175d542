package cli

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/compare"
	"github.com/rivulet-profiler/rivulet/controller/doctor"
	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/controller/sampler"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/spec"
	"github.com/rivulet-profiler/rivulet/controller/threads"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// A fake is a machine with one JVM that does what a test says.
type fake struct {
	fullHeap, littleMemory         bool // what the last attach was to put up with
	attachErr, startErr, finishErr error
	onStart, onFinish              func(*fake)
	exitCode                       int

	mu        sync.Mutex
	did       []string // what was asked of it, in order
	rec       spec.Recording
	timing    session.Timing
	comparing compare.Options
	argv      []string
	done      chan struct{}
	exited    chan struct{}
	diagnose  string
	checks    []doctor.Check
	flushes   doctor.Flush

	sampled  sampler.Options
	locked   []threads.Deadlock
	extra    int64 // bytes of byte arrays
	sampleOn bool  // samples come to an end, and the target does not
}

func newFake() *fake {
	return &fake{done: make(chan struct{}), exited: make(chan struct{})}
}

func (f *fake) note(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.did = append(f.did, what)
}

func (f *fake) steps() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.did, " ")
}

func (f *fake) processes(context.Context) ([]attach.Process, error) {
	return []attach.Process{
		{PID: 4711, User: "anna", JavaVersion: "17.0.15", Main: "/opt/shop/shop.jar", Started: time.Now().Add(-90 * time.Minute), Attachable: true},
		{PID: 4712, User: "bert", Main: "evil\x1b[31m", Started: time.Now().Add(-5 * time.Second), Reason: "belongs to user bert, you are anna; run as bert or root (sudo)"},
	}, nil
}

func (f *fake) attach(_ context.Context, _ int, cfg session.Config) (attached, error) {
	f.note("attach")
	f.fullHeap, f.littleMemory = cfg.FullHeap, cfg.LittleMemory
	if f.attachErr != nil {
		return nil, f.attachErr
	}
	cfg.Warn("this JVM will print a warning")
	return f, nil
}

func (f *fake) launch(_ context.Context, argv []string, std session.Stdio, _ session.Config) (launched, error) {
	f.note("launch")
	f.argv = argv
	if f.attachErr != nil {
		return nil, f.attachErr
	}
	if _, err := std.Out.Write([]byte("the program's output\n")); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *fake) compare(_ context.Context, _ int, c compare.Options) (*export.Comparison, error) {
	return f.compareRuns(context.Background(), nil, session.Stdio{}, c)
}

func (f *fake) compareRuns(_ context.Context, argv []string, _ session.Stdio, c compare.Options) (*export.Comparison, error) {
	f.note("compare:" + strings.Join(c.Schemes, ""))
	f.argv, f.rec, f.comparing = argv, c.Recording, c
	c.Say("recording by scheme A")
	if f.startErr != nil {
		return nil, f.startErr
	}
	out := &export.Comparison{Command: argv, Clock: c.Clock, Roots: c.Roots}
	for _, s := range c.Schemes {
		out.Runs = append(out.Runs, export.SchemeRun{Scheme: s, Calls: 12, Invocations: 3, Exact: true, Instrumented: 5, Called: 4})
	}
	return out, f.finishErr
}

func (f *fake) doctor(_ context.Context, _ int, root string, _ session.Config) []doctor.Check {
	f.note("doctor:" + root)
	return f.checks
}

func (f *fake) gather(ctx context.Context, pid int, root string, cfg session.Config) *doctor.Evidence {
	cfg.Log.Debug("looking", "option", "-Dapp.x=fake-secret")
	return &doctor.Evidence{Checks: f.doctor(ctx, pid, root, cfg), Files: []doctor.EvidenceFile{{Name: "flags.txt", What: "flags", Text: "bool UseG1GC = true\n"}}}
}

func (f *fake) flush(context.Context, int) (doctor.Flush, error) { return f.flushes, nil }

func (f *fake) Target() session.Target { return session.Target{PID: 4711} }

func (f *fake) Classes(context.Context, string) ([]roots.ClassInfo, error) {
	return []roots.ClassInfo{{Name: "shop.Price", Loader: "app", Methods: 3}, {Name: "shop.orders.OrderService", Loader: "app", Methods: 12}}, nil
}

func (f *fake) Methods(_ context.Context, class string) ([]roots.MethodInfo, error) {
	return []roots.MethodInfo{
		{Name: class + ".of(I)J", Loader: "app", Flags: "public static", Probeable: true},
		{Name: class + ".sync()V", Loader: "app", Flags: "native", Reason: "native"},
	}, nil
}

func (f *fake) Start(ctx context.Context, r spec.Recording) error {
	f.note("start")
	f.rec = r
	if f.onStart != nil {
		f.onStart(f)
	}
	if errors.Is(f.startErr, context.Canceled) {
		<-ctx.Done()
	}
	return f.startErr
}

func (f *fake) Warm(context.Context) error {
	if f.rec.Warmup > 0 || f.rec.WarmupCalls > 0 {
		f.note("warm")
	}
	return nil
}

func (f *fake) StartTiming(_ context.Context, r session.Timing) error {
	f.note("time")
	f.timing = r
	if f.onStart != nil {
		f.onStart(f)
	}
	return f.startErr
}

func (f *fake) TimedLooks(context.Context) ([]session.TimedLook, error) { return nil, nil }

func (f *fake) FinishTiming(ctx context.Context) (*export.Timing, error) {
	f.note("finish")
	if f.finishErr != nil {
		return nil, f.finishErr
	}
	row := export.Timed{Method: "shop.Price.of(I)J", Loader: "app", Count: 3, Thrown: 1, Measured: 3300}
	row.Fill(1000, 1200, 100, maps.All(map[int64]int64{1000: 1, 1100: 1, 1200: 1}))
	return &export.Timing{
		Target: export.Target{PID: 4711, Main: "shop.Main"}, Time: time.Second, Ended: "stopped",
		Timer: &export.Timer{Inner: 100, Call: 200, Spread: 2, Batches: 9}, Methods: []export.Timed{row},
	}, ctx.Err()
}

func (f *fake) DryRun(_ context.Context, r spec.Recording) (*export.Preview, error) {
	f.note("dry")
	f.rec = r
	if f.startErr != nil {
		return nil, f.startErr
	}
	return &export.Preview{Roots: r.Roots, Classes: []export.PreviewClass{{Name: "shop.Price", Loader: "app", Methods: []string{"of(I)J"}}}}, nil
}

func (f *fake) Suggest(context.Context) (*roots.Suggestions, error) {
	f.note("suggest")
	return &roots.Suggestions{Looks: 9, Time: 2 * time.Second, Busy: 1, Threads: 12, Stacks: 8, Roots: []roots.Suggestion{
		{Method: "shop.Price.of", Stacks: 7, Threads: []string{"evil\x1b[31m"}},
	}}, nil
}

func (f *fake) Done() <-chan struct{}           { return f.done }
func (f *fake) Progress() session.Progress      { return session.Progress{Phase: "recording", Calls: 12} }
func (f *fake) Diagnose(context.Context) string { return f.diagnose }
func (f *fake) Prepare(context.Context) error {
	f.note("prepare")
	return f.startErr
}

func (f *fake) Close() error             { f.note("close"); return nil }
func (f *fake) Signal(s os.Signal) error { f.note("signal:" + s.String()); close(f.exited); return nil }
func (f *fake) abandon()                 { f.note("abandon") }
func (f *fake) Exited() <-chan struct{}  { return f.exited }
func (f *fake) ExitCode() int            { return f.exitCode }

func (f *fake) Finish(ctx context.Context) (*export.Report, error) {
	f.note("finish")
	if f.onFinish != nil {
		f.onFinish(f)
	}
	if f.finishErr != nil {
		return nil, f.finishErr
	}
	r := f.report()
	if f.rec.Stream > 0 {
		r.Stream = event.NewDump(f.rec.Stream)
		r.Stream.Take(1, []event.Word{event.Valued(wire.EvRoot, 1), event.Timed(wire.EvEnter, 1, 7)})
	}
	if f.rec.Timeline > 0 {
		r.Timeline = &export.Timeline{Slices: []event.Slice{{Thread: 1, Root: true, Start: 1000, Took: 2000}}, Threads: map[int64]cct.Thread{1: {ID: 1, Name: "main"}}}
	}
	return r, ctx.Err()
}

func (f *fake) report() *export.Report {
	return &export.Report{
		Target: export.Target{PID: 4711, Main: "shop.Main"}, Scheme: f.rec.Scheme, Clock: f.rec.Clock, Roots: f.rec.Roots,
		Time: time.Second, Ended: "stopped",
		Tree:   &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Name: "main", RootEntries: 1, RootReturns: 1, Roots: []*cct.Node{{Calls: 1, Self: 5, Total: 5}}}}},
		Lookup: func(int32) (cct.Method, bool) { return cct.Method{Name: "shop.Price.of(I)J", Loader: "app"}, true },
	}
}

// A result is how one command ended.
type result struct {
	code           int
	stdout, stderr string
}

func (f *fake) run(t *testing.T, args ...string) result {
	t.Helper()
	var out, err bytes.Buffer
	a := &app{backend: f, stdin: strings.NewReader(""), stdout: &out, stderr: &err}
	code := a.run(args)
	return result{code, out.String(), err.String()}
}
