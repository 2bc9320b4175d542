package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/sampler"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

func TestSample(t *testing.T) {
	f := newFake()
	r := f.run(t, "sample", "4711", "--for", "1m", "--hz", "250", "--threads", "ma*")
	r.want(t, 0, "101 samples on 6 call paths stand for 1.01 s", "sampling time on a core by perf at 250 Hz\n")
	r.want(t, 0, "     99     0 ns   1.00 s  99.0 %  *    └─ shop.Orders$Line.handle\n", "target exited")
	if got := f.steps(); got != "sample close" {
		t.Error("steps:", got)
	}
	if o := f.sampled; o.Hz != 250 || o.Wall || o.Native || !o.Threads("main") || o.Threads("worker") {
		t.Errorf("options %+v", o)
	}
	f.run(t, "sample", "4711", "--wall", "--native", "--for", "1s")
	if o := f.sampled; o.Hz != usualWall || !o.Wall || !o.Native || o.Threads != nil {
		t.Errorf("options %+v", o)
	}
}

// TestSampleFor ends by time while the target goes on.
func TestSampleFor(t *testing.T) {
	f := newFake()
	f.sampleOn = true
	r := f.run(t, "sample", "4711", "--for", "10ms", "--json")
	r.want(t, 0, `"ended": "stopped"`, "")
	var got struct {
		Kind     string
		Sampling export.Sampling
		Flat     []struct {
			Method  string
			Self    int64 `json:"self_samples"`
			Total   int64 `json:"total_samples"`
			Entries int64
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
		t.Fatal(err)
	}
	if s := got.Sampling; got.Kind != "sample" || s.Samples != 101 || s.Complete != 101 || s.Source != "perf" || s.Mode != "cpu" || s.Hz != usualHz || s.First < 30 {
		t.Errorf("%q %+v", got.Kind, s)
	}
	for _, m := range got.Flat {
		if m.Method == "shop.Orders$Line.handle(I)V" && (m.Self != 0 || m.Total != 100 || m.Entries != 99) {
			t.Errorf("%+v", m)
		}
	}
}

func TestSampleForms(t *testing.T) {
	dir := t.TempDir()
	f := newFake()
	for name, want := range map[string]string{
		"a.json": `"kind": "sample"`, "a.txt": "entries: activations", "a.html": `"sampling":`,
		"a.collapsed": ";shop.Price.of(I)J 50\n", "a.speedscope.json": `"all threads: entries"`, "a.rivulet": "\x1f\x8b", "a.pb.gz": "\x1f\x8b",
	} {
		path := filepath.Join(dir, name)
		f.run(t, "sample", "4711", "--lines", "-o", path).want(t, 0, "", "report written to "+path)
		b, err := os.ReadFile(path)
		text := string(b)
		if name == "a.html" {
			text = pageData(t, text)
		}
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%s lacks %q: %v", name, want, err)
		}
	}
	a, b := filepath.Join(dir, "a.json"), filepath.Join(dir, "a.rivulet")
	f.run(t, "view", b).want(t, 0, "Hot methods, by self time", "")
	f.run(t, "merge", a, b).want(t, 0, "202 samples", "")
	f.run(t, "diff", a, b).want(t, 0, "101 samples in ", "")
	f.run(t, "diff", a, b, "--json").want(t, 0, `"samples": 101`, "")
	exact := filepath.Join(dir, "exact.json")
	f.run(t, "profile", "4711", "--root", "a.B.c", "--for", "1ms", "-o", exact)
	f.run(t, "diff", a, exact).want(t, 2, "", "one is of samples, the other of a recording")
	f.run(t, "merge", exact, a).want(t, 2, "", "one is of samples, the other of a recording")
	f.run(t, "suggest", exact).want(t, 2, "", "rivulet sample writes one")
	f.run(t, "suggest", b).want(t, 0, "shop.Orders$Line.handle", "")
}

func TestSampleFlags(t *testing.T) {
	f := newFake()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"sample"}, "PID is missing"},
		{[]string{"sample", "x"}, "is not a process id"},
		{[]string{"sample", "1", "--for", "10ms"}, "no such process"},
		{[]string{"sample", "4711", "--hz", "0"}, "from 1 to 10000"},
		{[]string{"sample", "4711", "--hz", "10001"}, "from 1 to 10000"},
		{[]string{"sample", "4711", "--for", "-1s"}, "above zero"},
		{[]string{"sample", "4711", "--frames", "-1"}, "--frames -1"},
		{[]string{"sample", "4711", "--root", "main"}, `"main": a root is a method`},
		{[]string{"sample", "4711", "--root", "a.B.c", "--frames", "9"}, "give one of both"},
		{[]string{"sample", "4711", "--format", "x"}, "there is only text"},
		{[]string{"sample", "4711", "--json", "--format", "html"}, "give one of both"},
		{[]string{"sample", "4711", "-o", "/no/such/folder/x"}, "can't write there"},
		{[]string{"top", "4711", "--by", "x"}, "there is only self"},
		{[]string{"top", "4711", "--every", "1ms"}, "100ms at least"},
		{[]string{"suggest", "4711", "--top", "0"}, "above zero"},
		{[]string{"suggest", "/no/such/file"}, "no such file"},
	} {
		if r := f.run(t, c.args...); r.code != 2 || !strings.Contains(r.stderr, c.want) || r.stdout != "" {
			t.Errorf("%v: code %d, %s%s", c.args, r.code, r.stdout, r.stderr)
		}
	}
	if got := f.steps(); got != "" {
		t.Error("a target was touched:", got)
	}
	f.attachErr = sampler.ErrMemory
	f.run(t, "sample", "4711").want(t, 1, "", sampler.ErrMemory.Error())
	f.attachErr = errors.New("no way")
	f.run(t, "top", "4711").want(t, 1, "", "no way")
}

func TestSuggest(t *testing.T) {
	f := newFake()
	r := f.run(t, "suggest", "4711", "--for", "1m")
	r.want(t, 0, "99.0 %  94.6 to 99.8 %", "")
	r.want(t, 0, "record one exactly: rivulet profile 4711 --root 'shop.Orders$Line.handle' --for 10s\n", "")
	if strings.Contains(r.stdout, "shop.Main.loop") || strings.Contains(r.stdout, "HashMap") {
		t.Errorf("what never begins, or is the JDK's, is suggested:\n%s", r.stdout)
	}
	var got jsonSuggestions
	r = f.run(t, "suggest", "4711", "--for", "1m", "--json")
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || len(got.Roots) == 0 || got.Kind != "suggestions" {
		t.Fatal(err, r.stdout)
	}
	if s := got.Roots[0]; s.Root != "shop.Orders$Line.handle" || s.Samples != 100 || s.Entries != 99 || s.Price != "high" || s.Methods != 2 || s.Classes != 2 || s.Depth != 2 {
		t.Errorf("%+v", s)
	}
}

func TestTop(t *testing.T) {
	f := newFake()
	r := f.run(t, "top", "4711", "--every", "100ms", "--by", "total")
	r.want(t, 0, "101 samples in ", "")
	r.want(t, 0, "  shop.Orders$Line.handle\n", "")
	f.run(t, "top", "4711", "--every", "100ms", "--by-thread").want(t, 0, "  main\n", "")
	r = f.run(t, "top", "4711", "--every", "100ms", "--looks", "1", "--json", "--rows", "1")
	var got jsonLook
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || got.Samples != 101 || len(got.Methods) != 1 || len(got.Threads) != 1 || got.Threads[0].Samples != 100 {
		t.Errorf("%v: %s", err, r.stdout)
	}
}

func TestWildcard(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"http", "exec-http-1", true},
		{"http", "exec", false},
		{"http-*", "http-nio/8080", true},
		{"http-*", "x http-1", false},
		{"a.b?", "a.bc", true},
		{"a.b?", "aXbc", false},
		{"*", "", true},
	} {
		if got := wildcard(c.pattern)(c.name); got != c.want {
			t.Errorf("wildcard(%q)(%q) is %v", c.pattern, c.name, got)
		}
	}
}

func TestShellWord(t *testing.T) {
	for s, want := range map[string]string{"a.B.c": "a.B.c", "a.B$C.d": "'a.B$C.d'", "": "''", "it's": `'it'\''s'`, "a.B.<init>": "'a.B.<init>'"} {
		if got := shellWord(s); got != want {
			t.Errorf("shellWord(%q) is %s, want %s", s, got, want)
		}
	}
}

// TestSampleSession goes through the life of a session that a page samples by.
func TestSampleSession(t *testing.T) {
	f := newFake()
	f.sampleOn = true
	var errs bytes.Buffer
	a := &app{backend: f, stderr: &errs}
	b := &sampleBackend{liveBackend: &liveBackend{app: a}, begun: time.Now()}
	b.o.sampler.Hz = 99
	ctx := t.Context()
	s, err := b.Attach(ctx, 4711, live.AttachOptions{}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Target(); got.PID != 4711 || got.Java != "17.0.15" {
		t.Errorf("%+v", got)
	}
	if err := s.Start(ctx, spec.Recording{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(ctx, spec.Recording{}); err == nil {
		t.Error("it starts twice")
	}
	samples := func() int64 {
		r, err := s.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return r.Sampling.Samples
	}
	for samples() < 101 {
		time.Sleep(time.Millisecond)
	}
	if err := s.Actions()["reset"](ctx, ""); err != nil || samples() != 0 {
		t.Errorf("%v: %d samples after a reset", err, samples())
	}
	for _, refused := range []func() error{
		func() error { _, err := s.Preview(ctx, spec.Recording{}); return err },
		func() error { _, err := s.Suggest(ctx, true); return err },
	} {
		if err := refused(); !errors.Is(err, live.ErrInput) {
			t.Error(err)
		}
	}
	r, err := s.Finish(ctx)
	if err != nil || r.Ended != "stopped" {
		t.Errorf("%v, %+v", err, r)
	}
	<-s.Done()
	if got := f.steps(); got != "sample close" {
		t.Error("steps:", got)
	}
	s, err = b.Attach(ctx, 4711, live.AttachOptions{}, nil)
	if err != nil || s.Close() != nil {
		t.Error(err)
	}
	if _, err := b.Attach(ctx, 1, live.AttachOptions{}, nil); !errors.Is(err, attach.ErrNoProcess) {
		t.Error(err)
	}
}

// TestPageSuggest goes by samples, and by thread dumps where there are none.
func TestPageSuggest(t *testing.T) {
	f := newFake()
	b := &liveBackend{app: &app{backend: f, stderr: io.Discard}}
	s, err := b.Attach(t.Context(), 4711, live.AttachOptions{}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Suggest(t.Context(), true)
	if err != nil || got.Samples != 101 || got.Roots[0].Root != "shop.Orders$Line.handle" || got.Roots[0].Price != "high" || got.Roots[0].Share != 0.99 {
		t.Errorf("%v: %+v", err, got)
	}
	if got.Report == nil || got.Prices["shop.Orders$Line.handle(I)V"] != "high" {
		t.Errorf("prices %v", got.Prices)
	}
	f.attachErr = sampler.ErrMemory
	if got, err = s.Suggest(t.Context(), false); err != nil || len(got.Roots) != 0 || got.Why != sampler.ErrMemory.Error() {
		t.Errorf("without thread dumps: %v: %+v", err, got)
	}
	got, err = s.Suggest(t.Context(), true)
	if err != nil || got.Samples != 0 || got.Why != sampler.ErrMemory.Error() || len(got.Roots) == 0 {
		t.Errorf("%v: %+v", err, got)
	}
}

// TestAutoRoot has samples choose the root.
func TestAutoRoot(t *testing.T) {
	f := newFake()
	r := f.run(t, "profile", "4711", "--root", "auto", "--for", "1ms")
	r.want(t, 0, "shop.Price.of", "rivulet: the root is shop.Orders$Line.handle: 99 % of the time")
	if got := f.rec.Roots; len(got) != 1 || got[0] != "shop.Orders$Line.handle(I)V" {
		t.Errorf("roots %q", got)
	}
	if got := f.steps(); got != "sample close attach start finish" {
		t.Error("steps:", got)
	}
	f.run(t, "profile", "4711", "--root", "auto", "--root", "a.B.c").want(t, 2, "", "leave out the other roots")
	f.run(t, "run", "--root", "auto", "--", "java").want(t, 2, "", "no class before the method")
	f.attachErr = sampler.ErrMemory
	f.run(t, "profile", "4711", "--root", "auto").want(t, 1, "", "--root auto: "+sampler.ErrMemory.Error())
}

// TestSampleSeveral samples two JVMs at once, one of which there isn't.
func TestSampleSeveral(t *testing.T) {
	f := newFake()
	r := f.run(t, "sample", "4711", "4712", "--for", "1m")
	r.want(t, 0, "202 samples", "")
	r.want(t, 0, "(2 processes", "")
	r.want(t, 0, "shop.jar: main", "")
	r = newFake().run(t, "sample", "--pid", "4711,7", "--for", "1m", "--json")
	r.want(t, 1, `"error": "pid 7: `, "1 of 2 processes failed, the report is of the others")
	if strings.Contains(r.stderr, "pid 7: pid 7") {
		t.Error(r.stderr)
	}
	newFake().run(t, "sample", "7", "8", "--for", "1m").want(t, 2, "", "none of 2 processes")
	r = newFake().run(t, "sample", "--match", "main=*shop*", "--for", "1m")
	r.want(t, 0, "101 samples", "")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--match", "main=nothing"}, "no JVM is meant by --match main=nothing"},
		{[]string{"--match", "color=red"}, "where KEY is main"},
		{[]string{"--match", "main=x", "--all"}, "leave out --match"},
		{[]string{"--pid", "-3"}, "not a process id"},
		{[]string{"--match", "user=*", "--ui"}, "--ui shows one JVM"},
	} {
		newFake().run(t, append([]string{"sample"}, c.args...)...).want(t, 2, "", c.want)
	}
}
