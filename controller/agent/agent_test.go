package agent

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// A fake is a recording of one thread that calls main, which calls n times work.
type fake struct {
	mu       sync.Mutex
	calls    int64 // of work
	returned int64
	epoch    uint32
	took     time.Duration
	held     bool
	watched  []any
	marks    []string
	counted  bool
}

var methods = []string{"shop.Main.main()V", "shop.data.Item.work(I)I", "shop.Main.other()V"}

func (f *fake) Snapshot(context.Context) (*export.Report, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.report(), nil
}

func (f *fake) report() *export.Report {
	var table *metric.Table
	counts := func(int64) *metric.Values { return nil }
	if f.counted {
		table = metric.NewTable(metric.Bytecodes)
		counts = func(n int64) *metric.Values {
			return &metric.Values{Table: table, Own: [metric.Room]int64{n}}
		}
	}
	roots := []*cct.Node{{Method: 0, Calls: f.returned, Self: 10, Counts: counts(5 * f.returned), Children: []*cct.Node{
		{Method: 1, Calls: f.calls, Thrown: 1, Self: 3 * f.calls, Counts: counts(f.calls * f.calls)},
		{Method: 2, Calls: 1, Self: 1, Counts: counts(2)},
	}}}
	cct.Totals(roots)
	return &export.Report{
		Clock: "tick", Time: 2 * time.Second, Lookup: func(id int32) (cct.Method, bool) { return cct.Method{Name: methods[id], Loader: "app"}, true },
		Tree: &cct.Snapshot{Metrics: table, Threads: []*cct.Thread{{ID: 1, Name: "main", RootEntries: f.returned, RootReturns: f.returned, Roots: roots}}},
	}
}

func (f *fake) Exits() []Exit {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.returned == 0 {
		return nil
	}
	return []Exit{{Record: 1, Epoch: f.epoch, Thread: 1, Returned: f.returned, Took: f.took, Held: f.held}}
}

func (f *fake) WatchExits(watch bool, over, hold time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watched = append(f.watched, watch, over, hold)
}

func (f *fake) Release(Exit) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held = false
}

func (f *fake) Unheld() int64 { return 0 }

func (f *fake) Mark(text string) { f.marks = append(f.marks, text) }

// invoke ends a root invocation that has called work so often, and is held until somebody has
// looked at it.
func (f *fake) invoke(t *testing.T, calls int64, took time.Duration) {
	t.Helper()
	f.mu.Lock()
	f.calls += calls
	f.returned++
	f.took, f.held = took, true
	f.mu.Unlock()
	until(t, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return !f.held
	})
}

func until(t *testing.T, ok func() bool) {
	t.Helper()
	for begin := time.Now(); !ok(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > 5*time.Minute {
			t.Fatal("it has not happened")
		}
	}
}

// source is a script with a folder of its own.
func source(t *testing.T, text string) Source {
	t.Helper()
	return Source{Name: "test", Path: "test.star", Text: text, Dir: filepath.Join(t.TempDir(), "test.out")}
}

// hosted has a script run beside a recording that goes on while during is called.
func hosted(t *testing.T, f *fake, c Config, src Source, during func(h *Host)) export.Agent {
	t.Helper()
	h, err := New([]Source{src}, c)
	if err != nil {
		t.Fatal(err)
	}
	h.Prepare(f)
	h.Start()
	if during != nil {
		during(h)
	}
	h.Halt(context.Background())
	r := f.report()
	h.Finish(context.Background(), r)
	if len(r.Agents) != 1 {
		t.Fatalf("%d agents", len(r.Agents))
	}
	return r.Agents[0]
}

func want(t *testing.T, a export.Agent, lines ...string) {
	t.Helper()
	if a.Failed != "" {
		t.Fatalf("failed: %s", a.Failed)
	}
	if !slices.Equal(a.Output, lines) {
		t.Errorf("printed %q\n   want %q", a.Output, lines)
	}
}

func TestViews(t *testing.T) {
	f := &fake{calls: 4, returned: 1, counted: true}
	a := hosted(t, f, Config{}, source(t, `
def end(r):
    print(r.reason, r.activation, r.seconds, r.figures)
    for n in r.tree.nodes():
        print(n.depth, n.method, n.name, n.class_name, n.package, n.loader, n.calls, n.thrown, n.self_ns, n.total_ns, n.self_bytecodes, n.total_bytecodes)
    print(r.tree.sum("calls"), r.tree.sum("self_bytecodes"), r.tree.contexts, r.thread, r.took_ns)
    print([m.name for m in r.tree.flat()], [n.path for n in r.tree.nodes()][1])
    print(r.threads, r.threads[0].returned, r.threads[0].open, r.tree.roots[0].children[0].parent.calls)
    print(r.report()["root_invocations"], sorted(r.report()["tree"][0])[:2])
    print(args.get("x"), json.encode({"a": 1}), math.sqrt(4.0))
on_end(end)
`), nil)
	want(t, a,
		`end 1 2.0 ["calls", "thrown", "self_ns", "total_ns", "self_bytecodes", "total_bytecodes"]`,
		`0 shop.Main.main()V shop.Main.main shop.Main shop app 1 0 10 23 5 23`,
		`1 shop.Main.other()V shop.Main.other shop.Main shop app 1 0 1 1 2 2`,
		`1 shop.data.Item.work(I)I shop.data.Item.work shop.data.Item shop.data app 4 1 12 12 16 16`,
		`6 23 3 None None`,
		`["shop.Main.main", "shop.Main.other", "shop.data.Item.work"] ("shop.Main.main", "shop.Main.other")`,
		`[<thread 1 "main">] 1 False 1`,
		`1 ["below", "bytecodes_per_ns"]`,
		`None {"a":1} 2.0`,
	)
}

func TestSince(t *testing.T) {
	f := &fake{counted: true}
	a := hosted(t, f, Config{}, source(t, `
def exit(r):
    s = r.thread.since
    print(r.took_ns // 1000000, [(n.name, n.calls, n.self_bytecodes) for n in s.nodes()], r.since.sum("calls"))
on_exit(exit, exact = True, over_ms = 3)
`), func(*Host) {
		f.invoke(t, 2, 3*time.Millisecond)
		f.invoke(t, 1, 2*time.Millisecond) // too short: only held here, since the fake holds all
		f.invoke(t, 3, 9*time.Millisecond)
	})
	want(t, a,
		`3 [("shop.Main.main", 1, 5), ("shop.Main.other", 1, 2), ("shop.data.Item.work", 2, 4)] 4`,
		`9 [("shop.Main.main", 2, 10), ("shop.data.Item.work", 4, 32)] 6`,
	)
	if got := f.watched; !slices.Equal(got, []any{true, 3 * time.Millisecond, holdMost, false, time.Duration(0), time.Duration(0)}) {
		t.Errorf("watched %v", got)
	}
}

// A root invocation is seen once, though its thread is held when it is looked at again; the first
// one after a reset is seen, too.
func TestExitOnce(t *testing.T) {
	f := &fake{calls: 1, returned: 1, held: true}
	h, err := New([]Source{source(t, "on_exit(print)")}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	h.rec = f
	for i, want := range []int{1, 0, 0, 1, 0, 1} {
		switch i {
		case 3:
			f.epoch++
		case 5:
			f.returned++
		}
		if got := len(h.exits()); got != want {
			t.Errorf("look %d: %d exits, want %d", i, got, want)
		}
	}
}

// What ends just before the recording does is seen with the last report.
func TestLastExit(t *testing.T) {
	f := &fake{}
	h, err := New([]Source{source(t, "def f(r): print(r.reason, r.thread.tree.sum('calls'))\non_exit(f)\non_end(f) if False else on_end(lambda r: print('end'))")}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	h.Prepare(f)
	h.Start()
	close(h.quit)
	<-h.ran
	f.calls, f.returned = 7, 1
	h.quit = make(chan struct{})
	h.Halt(context.Background())
	r := f.report()
	h.Finish(context.Background(), r)
	want(t, r.Agents[0], "exit 9", "end")
}

func TestTimes(t *testing.T) {
	f := &fake{calls: 1, returned: 1}
	var mu sync.Mutex
	var told []string
	c := Config{Tell: func(s string) { mu.Lock(); told = append(told, s); mu.Unlock() }}
	a := hosted(t, f, c, source(t, `
n = 0
def tick(r):
    global_n[0] += 1
    if global_n[0] <= 3: print(r.reason, global_n[0])
global_n = [n]
on_start(tick)
on_time(tick, seconds = 0.01)
`), func(*Host) {
		until(t, func() bool { mu.Lock(); defer mu.Unlock(); return len(told) >= 3 })
	})
	want(t, a, "start 1", "time 2", "time 3")
	if told[0] != "test: start 1" {
		t.Errorf("told %q", told)
	}
}

// A thread activates again when it has executed as many bytecodes as were asked for, or as the
// function has said since.
func TestBytecodes(t *testing.T) {
	f := &fake{counted: true}
	var mu sync.Mutex
	var told int
	a := hosted(t, f, Config{Tell: func(string) { mu.Lock(); told++; mu.Unlock() }}, source(t, `
def f(r):
    print(r.reason, r.thread.name, r.thread.tree.sum("self_bytecodes"))
    return 1000
on_bytecodes(f, 100)
`), func(*Host) {
		for i, calls := range []int64{11, 30, 40} { // 121+2, 900+2: too few more, 1600+2
			f.mu.Lock()
			f.calls = calls
			f.mu.Unlock()
			if i != 1 {
				until(t, func() bool { mu.Lock(); defer mu.Unlock(); return told == (i+2)/2 })
			}
		}
	})
	if want(t, a, "bytecodes main 123", "bytecodes main 1602"); a.Activations != 2 {
		t.Errorf("%d activations", a.Activations)
	}
}

func TestActions(t *testing.T) {
	var steered []string
	c := Config{Steer: func(_ context.Context, a, v string) error { steered = append(steered, a+" "+v); return nil }}
	f := &fake{calls: 3, returned: 1}
	src := source(t, `
def go(r):
    pause(); resume(); reset(); clock("precise"); mode("a.*", "counted"); exclude("b.**"); include("b.**")
    mark("here")
    write("sub/a.txt", "x"); append("sub/a.txt", "y"); append("b.txt", "new")
    snapshot("s")
    emit("calls", 3, labels = {"p": 'a"b'}, help = "how many")
    emit("n_total", 2.5, kind = "counter")
    stop("enough")
    print("after")
on_start(go)
`)
	c.Metrics = &Metrics{}
	var why string
	a := hosted(t, f, c, src, func(h *Host) {
		select {
		case <-h.Stopped():
			why = h.Why()
		case <-time.After(5 * time.Minute):
			t.Error("not stopped")
		}
	})
	want(t, a, "after")
	if why != "stopped by agent test: enough" {
		t.Errorf("why: %q", why)
	}
	if got := strings.Join(steered, "; "); got != "pause ; resume ; reset ; clock precise; mode a.*=counted; mode b.**=off; mode b.**=tick" {
		t.Errorf("steered %s", got)
	}
	if !slices.Equal(f.marks, []string{"test: here"}) || a.Marks != 1 {
		t.Errorf("marks %q", f.marks)
	}
	if !slices.Equal(a.Files, []string{"sub/a.txt", "b.txt", "s.json", MetricsFile}) {
		t.Errorf("files %q", a.Files)
	}
	if b, _ := os.ReadFile(filepath.Join(src.Dir, "sub/a.txt")); string(b) != "xy" {
		t.Errorf("a.txt: %q", b)
	}
	saved, err := os.Open(filepath.Join(src.Dir, "s.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer saved.Close()
	if r, err := export.ReadJSON(saved); err != nil || len(r.Tree.Threads) != 1 {
		t.Errorf("the snapshot: %v", err)
	}
	var b strings.Builder
	c.Metrics.WriteTo(&b) //nolint:errcheck // it is memory
	if got := b.String(); got != "# TYPE calls gauge\n# HELP calls how many\ncalls{p=\"a\\\"b\"} 3\n# TYPE n counter\nn_total 2.5\n# EOF\n" {
		t.Errorf("metrics:\n%s", got)
	}
	lines, _ := os.ReadFile(filepath.Join(src.Dir, MetricsFile))
	if got := string(lines); strings.Count(got, "\n") != 2 || !strings.Contains(got, `"name":"calls","labels":{"p":"a\"b"},"value":3}`) {
		t.Errorf("lines:\n%s", got)
	}
}

// What was allocated is seen by type, and what was since.
func TestAllocations(t *testing.T) {
	ints, lines := &cct.Type{Name: "int[]", Array: true}, &cct.Type{Name: "shop.Line"}
	node := func(allocs ...cct.Alloc) []*cct.Node {
		return []*cct.Node{(&cct.Node{Method: 1, Calls: 1}).With(cct.Details{Allocs: allocs})}
	}
	before := node(cct.Alloc{Type: ints, Objects: 1, Elements: 10, Bytes: 56}, cct.Alloc{Type: lines, Objects: 2, Bytes: cct.NotKnown})
	now := node(cct.Alloc{Type: lines, Objects: 2, Bytes: cct.NotKnown}, cct.Alloc{Type: ints, Objects: 3, Elements: 30, Bytes: 168})
	now[0].Calls = 2
	if got := allocations(now[0].Allocs()).String(); got != `[{"type": "int[]", "objects": 3, "elements": 30, "bytes": 168}, {"type": "shop.Line", "objects": 2, "elements": 0, "bytes": None}]` {
		t.Error(got)
	}
	if got := allocations(since(now, before)[0].Allocs()).String(); got != `[{"type": "int[]", "objects": 2, "elements": 20, "bytes": 112}]` {
		t.Error(got)
	}
}
