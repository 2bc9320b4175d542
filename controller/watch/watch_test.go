package watch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/ring"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

const second = int64(time.Second)

func rule(t *testing.T, text string) Rule {
	t.Helper()
	r, err := ParseRule(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParseRule(t *testing.T) {
	for text, want := range map[string]Rule{
		"cpu > 80%":                             {Kind: CPU, For: 10 * time.Second, Over: 0.8},
		"cpu>1.5 cores  for 30s":                {Kind: CPU, For: 30 * time.Second, Over: 1.5, Cores: true},
		"share(a.B.c) > 30% for 1m":             {Kind: Share, For: time.Minute, Over: 0.3, Name: "a.B.c"},
		"share( a.** ) doubled for 20s":         {Kind: Share, For: 20 * time.Second, Over: 2, Times: true, Name: "a.**"},
		"share(a.B.c) > 1.5x":                   {Kind: Share, For: 10 * time.Second, Over: 1.5, Times: true, Name: "a.B.c"},
		"p99(a.B.c) > 200ms":                    {Kind: Quantile, For: 10 * time.Second, Name: "a.B.c", Rank: 0.99, Limit: 200 * time.Millisecond},
		"p99.9(a.B.c(I)V) > 1.5s for 5s":        {Kind: Quantile, For: 5 * time.Second, Name: "a.B.c(I)V", Rank: 0.999, Limit: 1500 * time.Millisecond},
		"deadlock":                              {Kind: Deadlock, For: 30 * time.Second},
		"deadlock every 5s":                     {Kind: Deadlock, For: 5 * time.Second},
		"share(a.B.<init>(Ljava/lang/X;)) > 3%": {Kind: Share, For: 10 * time.Second, Over: 0.03, Name: "a.B.<init>(Ljava/lang/X;)"},
	} {
		got := rule(t, text)
		if got.Text == "" {
			t.Errorf("%q has no text", text)
		}
		got.Text, got.pattern = "", want.pattern
		got.Rank = float64(int(got.Rank*1e6+0.5)) / 1e6
		if got.Kind != want.Kind || got.For != want.For || got.Over != want.Over || got.Cores != want.Cores || got.Times != want.Times ||
			got.Name != want.Name || got.Rank != want.Rank || got.Limit != want.Limit {
			t.Errorf("%q is %+v", text, got)
		}
	}
	for text, want := range map[string]string{
		"":                         "rules are such as",
		"memory > 3":               "rules are such as",
		"cpu > 80":                 "give %",
		"cpu > 120%":               "no more than 100 %",
		"cpu > 2x":                 "give %",
		"cpu > x%":                 "above zero",
		"cpu(a.B.c) > 10%":         "share(a.B.c)",
		"share > 10%":              "of which method?",
		"share(a..b) > 10%":        "is empty",
		"share(a.B.c) > 0.5x":      "above one",
		"share(a.B.c) > 1 cores":   "give %",
		"p99(a.*) > 1s":            "without *",
		"p100(a.B.c) > 1s":         "p50, p90",
		"p99(a.B.c) > 3":           "such as 200ms",
		"cpu > 80% for 1s":         "from 2s to 10m0s",
		"deadlock every 1h":        "from 2s to 10m0s",
		"cpu > 80% for 10s please": "rules are such as",
	} {
		if _, err := ParseRule(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v lacks %q", text, err, want)
		}
	}
}

// events runs seconds by, and says in which of them something came true.
func events(e *Engine, from, to int64, each func(now int64)) (at []int64, what []Event) {
	for s := from; s < to; s++ {
		each(s * second)
		for _, ev := range e.Tick(s * second) {
			at, what = append(at, s), append(what, ev)
		}
	}
	return at, what
}

// TestCPU goes from half of two cores to nearly all.
func TestCPU(t *testing.T) {
	e := NewEngine([]Rule{rule(t, "cpu > 80% for 10s"), rule(t, "cpu > 1.2 cores for 5s")}, time.Minute)
	used := time.Duration(0)
	load := func(cores float64) func(int64) {
		return func(now int64) {
			used += time.Duration(cores * float64(time.Second))
			e.CPU(now, used, 2)
		}
	}
	if at, _ := events(e, 0, 100, load(1)); len(at) > 0 {
		t.Errorf("half of the cores is an event at %v", at)
	}
	at, what := events(e, 100, 200, load(1.9))
	if len(at) != 2 || at[0] > 105 || at[1] < 105 || at[1] > 110 {
		t.Fatalf("events at %v: %v", at, what)
	}
	if what[1].Rule != "cpu > 80% for 10s" || !strings.Contains(what[1].What, "of 2 cores for 10s") || what[1].At != at[1]*second {
		t.Errorf("%+v", what[1])
	}
	// It goes on, and is no new event; nor is one within a minute.
	if at, _ := events(e, 200, 400, load(1.9)); len(at) > 0 {
		t.Errorf("what goes on is an event at %v", at)
	}
	events(e, 400, 420, load(1))
	if at, _ = events(e, 420, 440, load(1.9)); len(at) != 2 {
		t.Errorf("after it was untrue: %v", at)
	}
	events(e, 440, 455, load(1))
	if at, _ = events(e, 455, 470, load(1.9)); len(at) != 0 {
		t.Errorf("within a minute: %v", at)
	}
}

var methods = map[string]*stack.Method{}

// sample is a stack of methods, the outermost first.
func sample(at int64, names ...string) stack.Stack {
	s := stack.Stack{Time: at, Weight: second / 19, TID: 1, Thread: "main", Java: true, State: stack.Running, Complete: true}
	for i := len(names) - 1; i >= 0; i-- {
		m := methods[names[i]]
		if m == nil {
			class, name, _ := strings.Cut(names[i], ".")
			m = &stack.Method{Class: "shop/" + class, Name: name, Desc: "()V"}
			methods[names[i]] = m
		}
		s.Frames = append(s.Frames, stack.Frame{Method: m, BCI: -1, Slot: uint64(4096 - 8*i), Return: 1, Words: 1})
	}
	return s
}

// feed gives 19 samples a second, of which n are in a method.
func feed(e *Engine, method string, n func(now int64) int) func(int64) {
	return func(now int64) {
		var batch []stack.Stack
		for i := range 19 {
			path := []string{"Main.main", "Main.loop", "Main.loop"}
			if i < n(now) {
				path = append(path, method)
			}
			batch = append(batch, sample(now-second+int64(i+1)*second/20, path...))
		}
		e.Samples(batch)
	}
}

func always(n int) func(int64) int { return func(int64) int { return n } }

func TestShare(t *testing.T) {
	e := NewEngine([]Rule{rule(t, "share(shop.Price.of) > 50%")}, time.Minute)
	if at, _ := events(e, 1000, 1100, feed(e, "Price.of", always(9))); len(at) > 0 {
		t.Errorf("47 %% is an event at %v", at)
	}
	at, what := events(e, 1100, 1200, feed(e, "Price.of", always(15)))
	if len(at) != 1 || at[0] > 1112 || what[0].Method != "shop.Price.of" || !strings.HasPrefix(what[0].What, "shop.Price.of was in ") {
		t.Errorf("%v %+v", at, what)
	}
	// Recursion counts once.
	e = NewEngine([]Rule{rule(t, "share(shop.Main.loop) > 99%")}, time.Minute)
	if at, what := events(e, 1000, 1400, feed(e, "Price.of", always(3))); len(at) > 0 {
		t.Errorf("%v %+v", at, what)
	}
	// Few samples say nothing.
	e = NewEngine([]Rule{rule(t, "share(shop.Price.of) > 10%")}, time.Minute)
	if at, _ := events(e, 1000, 1100, func(now int64) { e.Samples([]stack.Stack{sample(now, "Price.of")}) }); len(at) > 0 {
		t.Errorf("ten samples are an event at %v", at)
	}
}

// TestDoubled finds the method whose share grows, among all.
func TestDoubled(t *testing.T) {
	e := NewEngine([]Rule{rule(t, "share(shop.**) doubled")}, time.Minute)
	noisy := func(now int64) int { return 3 + int(now/second*7)%4 }
	if at, what := events(e, 1000, 1900, feed(e, "Price.of", noisy)); len(at) > 0 {
		t.Errorf("noise is an event at %v: %+v", at, what)
	}
	at, what := events(e, 1900, 1960, feed(e, "Price.of", always(17)))
	if len(at) != 1 || at[0] > 1912 || what[0].Method != "shop.Price.of" || !strings.Contains(what[0].What, " before") {
		t.Errorf("%v %+v", at, what)
	}
	// What was high for ten minutes is what there was before.
	if at, what := events(e, 1960, 3000, feed(e, "Price.of", always(17))); len(at) > 0 {
		t.Errorf("%v %+v", at, what)
	}
	// A method that wasn't there before has doubled, too.
	if at, what = events(e, 3000, 3060, feed(e, "New.one", always(12))); len(at) != 1 || what[0].Method != "shop.New.one" {
		t.Errorf("%v %+v", at, what)
	}
	// Without a minute to compare with nothing has doubled.
	e = NewEngine([]Rule{rule(t, "share(shop.**) doubled")}, time.Minute)
	events(e, 0, 30, feed(e, "Price.of", always(1)))
	if at, _ := events(e, 30, 65, feed(e, "Price.of", always(19))); len(at) > 0 {
		t.Errorf("%v", at)
	}
}

func TestToldRules(t *testing.T) {
	e := NewEngine([]Rule{rule(t, "deadlock every 5s"), rule(t, "p99(shop.Front.serve) > 200ms"), rule(t, "deadlock every 50s")}, time.Hour)
	if e.Every() != 5*time.Second {
		t.Error(e.Every())
	}
	e.Quantile(1, 1, 100*time.Millisecond, 1000)
	e.Quantile(2, 1, 300*time.Millisecond, 99) // too few for a p99
	e.Deadlock(3, "")
	if ev := e.Tick(4); len(ev) > 0 {
		t.Errorf("%+v", ev)
	}
	e.Quantile(5, 1, 300*time.Millisecond, 100)
	e.Deadlock(6, "a waits for b of c")
	ev := e.Tick(7)
	if len(ev) != 3 || ev[1].Method != "shop.Front.serve" || !strings.Contains(ev[1].What, "1 % took 300ms at least") || ev[0].What != "a waits for b of c" || ev[0].At != 6 {
		t.Errorf("%+v", ev)
	}
	if none := NewEngine(nil, 0); none.Every() != 0 || len(none.Tick(9)) > 0 {
		t.Error("no rules, and events")
	}
}

func TestFolder(t *testing.T) {
	root := t.TempDir()
	f, err := Take(filepath.Join(root, "7-99"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Take(f.Path); !errors.Is(err, ErrWatched) {
		t.Errorf("taken twice: %v", err)
	}
	head := func() ring.Header {
		return ring.Header{PID: 7, Main: "shop.Main", Mode: "cpu", Hz: 19, Wall: 1_700_000_000*second + 100*second, Mono: 100 * second}
	}
	w, err := ring.Create(f.Ring(), ring.ForKeep(time.Hour, 1<<20), head)
	if err != nil {
		t.Fatal(err)
	}
	for s := range int64(100) {
		err = errors.Join(err, w.Add([]stack.Stack{sample((s+1)*second, "Main.main", "Main.loop")}), w.Flush((s+1)*second))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	h := head()
	for n := range 4 {
		c, err := f.Keep(Event{Rule: "cpu > 1%", At: 90*second + int64(n), What: "much"}, &h, 60*second, 95*second)
		if err != nil || c.Samples != 36 {
			t.Fatal(c, err)
		}
	}
	all, err := f.Captures()
	if err != nil || len(all) != 4 || all[0].Event.Rule != "cpu > 1%" || all[1].ID != all[0].ID+"-2" {
		t.Fatalf("%d captures, %v", len(all), err)
	}
	r, err := Report(all[2].Ring(), all[2].From, all[2].Until, pcct.Options{})
	if err != nil || r.Sampling.Samples != 36 || r.Target.Main != "shop.Main" || r.Sampling.Mode != "cpu" {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := Report(f.Ring(), 500*second, 600*second, pcct.Options{}); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
	if err := f.Bound(2, 1<<30); err != nil {
		t.Fatal(err)
	}
	if left, _ := f.Captures(); len(left) != 2 || left[1].ID != all[3].ID {
		t.Errorf("%d captures are left", len(left))
	}
	if err := f.Bound(2, 1); err != nil {
		t.Fatal(err)
	}
	if left, _ := f.Captures(); len(left) != 1 {
		t.Errorf("%d captures are left of one byte", len(left))
	}
	os.Mkdir(filepath.Join(root, "mine"), 0o700)
	if found, err := Folders(root, 7); err != nil || len(found) != 1 || !found[0].Active() {
		t.Errorf("%v %v", found, err)
	}
	if found, _ := Folders(root, 8); len(found) != 0 {
		t.Error("another process has a folder")
	}
	if err := Forget(root, time.Now().Add(30*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if found, _ := Folders(root, 0); len(found) != 1 {
		t.Error("a folder in use was removed")
	}
	f.Close()
	if found, _ := Folders(root, 0); len(found) != 1 || found[0].Active() {
		t.Error("nobody writes into it any more")
	}
	Forget(root, time.Now().Add(24*time.Hour))
	if found, _ := Folders(root, 0); len(found) != 1 {
		t.Error("a folder of yesterday was removed")
	}
	Forget(root, time.Now().Add(30*24*time.Hour))
	if found, _ := os.ReadDir(root); len(found) != 1 || found[0].Name() != "mine" {
		t.Error("what is not ours was removed, or what is stays")
	}
	if name, err := NameOf(os.Getpid()); err != nil || !nameForm.MatchString(name) {
		t.Error(name, err)
	}
}
