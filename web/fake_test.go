package web

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// A fake is a machine with one JVM, whose session does what a test says.
type fake struct {
	startErr, attachErr error
	rec                 Recording
	diagnosis           string
	loaded              []Method                    // since the attach
	faulty              bool                        // Methods panics
	finishing           func(context.Context) error // nil does nothing
	compare             func(context.Context, Trial, Tidings) (*export.Comparison, error)

	mu   sync.Mutex
	did  []string
	tree func() *cct.Snapshot
	done chan struct{}
}

func newFake() *fake {
	return &fake{done: make(chan struct{}), tree: func() *cct.Snapshot { return snapshot(node(1, 3, 30, node(2, 6, 10))) }}
}

func (f *fake) note(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.did = append(f.did, what)
}

func (f *fake) steps() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fmt.Sprint(f.did)
}

func (f *fake) Targets(context.Context) ([]Target, error) {
	return []Target{{PID: 4711, Main: "shop.Main", Attachable: true}}, nil
}

func (f *fake) Attach(context.Context, int, int64, func(string)) (Session, error) {
	f.note("attach")
	if f.attachErr != nil {
		return nil, f.attachErr
	}
	return f, nil
}

func (f *fake) Demo(context.Context) (Demo, error) { return Demo{}, errors.New("no Java found") }

func (f *fake) Target() export.Target { return export.Target{PID: 4711, Main: "shop.Main"} }

func (f *fake) Methods(context.Context) ([]Method, error) {
	if f.faulty {
		panic("faulty")
	}
	return append([]Method{{Name: "shop.Price.of(I)J", Root: true}, {Name: "shop.Price.sync()V", Flags: "native"}}, f.loaded...), nil
}

func (f *fake) Start(_ context.Context, r Recording) error {
	f.note("start")
	f.rec = r
	return f.startErr
}

func (f *fake) Warm(context.Context) error {
	f.note("warm")
	return nil
}

func (f *fake) Preview(_ context.Context, r Recording) (*export.Preview, error) {
	if r.Roots[0] == "a.B.c" {
		return nil, fmt.Errorf("%w: no class a.B", ErrInput)
	}
	return &export.Preview{Roots: r.Roots, Classes: []export.PreviewClass{{Name: "shop.Price", Loader: "app", Methods: []string{"of(I)J"}}}}, nil
}

func (f *fake) Suggest(context.Context) (*Suggestions, error) {
	return &Suggestions{Looks: 9, Roots: []Suggestion{{Root: "shop.Price.of", Stacks: 3, Of: 8}}}, nil
}

func (f *fake) Done() <-chan struct{}           { return f.done }
func (f *fake) Diagnose(context.Context) string { return f.diagnosis }
func (f *fake) Close() error                    { f.note("close"); return nil }

func (f *fake) Actions() map[string]func(context.Context, string) error {
	note := func(name string) func(context.Context, string) error {
		return func(_ context.Context, value string) error { f.note(name + value); return nil }
	}
	return map[string]func(context.Context, string) error{"reset": note("reset"), "pause": note("pause"), "resume": note("resume"), "clock": note("clock=")}
}

func (f *fake) Snapshot(context.Context) (*export.Report, error) { return f.report(), nil }

func (f *fake) Finish(ctx context.Context) (*export.Report, error) {
	f.note("finish")
	if f.finishing != nil {
		if err := f.finishing(ctx); err != nil {
			return nil, err
		}
	}
	return f.report(), nil
}

func (f *fake) report() *export.Report { return reportOf(f.tree()) }

func reportOf(s *cct.Snapshot) *export.Report {
	return &export.Report{
		Target: export.Target{PID: 4711, Main: "shop.Main"}, Roots: []string{"shop.C1.m1()V"}, Scheme: "B", Clock: "tick", Ended: "stopped",
		Time: time.Second, Tree: s,
		Lookup: func(id int32) (cct.Method, bool) {
			return cct.Method{Name: fmt.Sprintf("p%d.C%d.m%d()V", id%3, id, id), Loader: "app"}, true
		},
	}
}

// node is a context with its own time; totals are summed up.
func node(method int32, calls, self int64, children ...*cct.Node) *cct.Node {
	n := &cct.Node{Method: method, Calls: calls, Self: self, Total: self, Children: children}
	for _, c := range children {
		n.Total += c.Total
	}
	return n
}

func snapshot(roots ...*cct.Node) *cct.Snapshot {
	var calls int64
	for _, r := range roots {
		calls += r.Calls
	}
	return &cct.Snapshot{Threads: []*cct.Thread{{ID: 1, Name: "main", Roots: roots, RootEntries: calls, RootReturns: calls}}}
}

func frameOf(b *Book, s *cct.Snapshot) *Frame { return newFrame(1, reportOf(s), b) }

// running is a server that answers, and that has ended when the test has.
func running(t *testing.T, f *fake) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0", Config{Backend: f})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx, context.Background()) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ran:
			if err != nil {
				t.Errorf("run: %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("the server does not end")
		}
	})
	return s
}
