package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/doctor"
	"github.com/rivulet-profiler/rivulet/controller/roots"
	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

func (r result) want(t *testing.T, code int, stdout, stderr string) {
	t.Helper()
	if r.code != code || !strings.Contains(r.stdout, stdout) || !strings.Contains(r.stderr, stderr) {
		t.Errorf("got code %d, want %d\n-- stdout, want %q\n%s-- stderr, want %q\n%s", r.code, code, stdout, r.stdout, stderr, r.stderr)
	}
}

func TestProfile(t *testing.T) {
	f := newFake()
	r := f.run(t, "profile", "4711", "--root", "shop/Price#of(I)J", "--root", "shop.Price.of(I)J", "--root", "a.B.c",
		"--for", "10ms", "--until-calls", "7", "--scheme", "a", "--wait")
	r.want(t, 0, "shop.Price.of", "rivulet: this JVM will print a warning\n")
	want := spec.Recording{Roots: []string{"shop.Price.of(I)J", "a.B.c"}, Scheme: "A", Observe: spec.DefaultObserve, Every: 1, Clock: "tick", UntilCalls: 7, Wait: true, Natives: "on", RootTimes: "on", Leaves: spec.LeavesCounted, Probes: spec.ProbesAuto}
	if diff := cmp.Diff(want, f.rec); diff != "" {
		t.Error("-want +got:\n", diff)
	}
	if got := f.steps(); got != "attach start finish" {
		t.Error("steps:", got)
	}
}

// TestFilterFlags has the rules of both flags in the order of the command line.
func TestFilterFlags(t *testing.T) {
	f := newFake()
	f.run(t, "profile", "4711", "--root", "a.B.c", "--for", "1ms", "--exclude", "a.**", "--include", "a.B.get*", "--exclude=**.x", "--jdk").want(t, 0, "", "")
	want := []string{"--jdk", "--exclude a.**", "--include a.B.get*", "--exclude **.x"}
	if got := f.rec.Filter.Strings(); !slices.Equal(got, want) {
		t.Errorf("rules %q, want %q", got, want)
	}
}

// TestViewTrace writes a saved report's timeline: the same as the recording did.
func TestViewTrace(t *testing.T) {
	f := newFake()
	dir := t.TempDir()
	report, first, second := filepath.Join(dir, "r.rivulet"), filepath.Join(dir, "1.json"), filepath.Join(dir, "2.json")
	f.run(t, "profile", "4711", "--root", "a.B.c", "--for", "1ms", "--trace", first, "-o", report)
	f.run(t, "view", report, "--trace", second).want(t, 0, "", "timeline written to "+second+": 1 slice of time\n")
	a, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(second); err != nil || !bytes.Equal(a, b) {
		t.Errorf("%v: %s, want %s", err, b, a)
	}
	f.run(t, "view", report, "--trace", second, "--format", "html").want(t, 2, "", "nothing else")
	f.run(t, "profile", "4711", "--root", "a.B.c", "--for", "1ms", "-o", report)
	f.run(t, "view", report, "--trace", second).want(t, 2, "", "it has no timeline")
}

func TestEventFlags(t *testing.T) {
	f := newFake()
	f.run(t, "profile", "4711", "--root", "a.B.c", "--for", "1ms", "--record", "events").want(t, 0, "", "")
	if r := f.rec; !r.Events || r.Slowest != 0 || r.Timeline != 0 {
		t.Errorf("%+v", r)
	}
	path := filepath.Join(t.TempDir(), "trace.json")
	f.run(t, "profile", "4711", "--root", "a.B.c", "--for", "1ms", "--slowest", "3", "--over", "50ms", "--trace", path).want(t, 0, "", "timeline written to "+path+": 1 slice of time\n")
	if r := f.rec; r.Slowest != 3 || r.Over != 50*time.Millisecond || r.Timeline == 0 {
		t.Errorf("%+v", r)
	}
	stream := filepath.Join(t.TempDir(), "events.txt")
	f.run(t, "profile", "4711", "--root", "a.B.c", "--for", "1ms", "--stream", stream).want(t, 0, "", "events written to "+stream+": 2 events, and 0 came after them\n")
	if text, err := os.ReadFile(stream); err != nil || !strings.Contains(string(text), "record 1\nroot 1\nenter 1 +7  # shop.Price.of(I)J\n") {
		t.Errorf("%v: %s", err, text)
	}
	text, err := os.ReadFile(path)
	if err != nil || !json.Valid(text) || !strings.Contains(string(text), `"name":"shop.Price.of(I)J","cat":"root","ts":1.000,"dur":2.000,`) {
		t.Errorf("%v: %s", err, text)
	}
}

func TestDoctor(t *testing.T) {
	f := newFake()
	f.checks = []doctor.Check{
		{Name: "process", Status: doctor.OK, Text: "a.Main\x1b[31m, up 3s"}, {Name: "agents", Status: doctor.Warning, Text: "it warns", Fix: "a flag"},
	}
	r := f.run(t, "doctor", "4711", "--root", "a.B#c")
	r.want(t, 0, "OK    process      a.Main\uFFFD[31m, up 3s\nWARN  agents       it warns\n                   -> a flag\n", "")
	if got := f.steps(); got != "doctor:a.B.c" {
		t.Error("steps:", got)
	}
	f.checks = append(f.checks, doctor.Check{Name: "root", Status: doctor.Failure, Text: "no such root"})
	r = f.run(t, "doctor", "4711", "--json")
	r.want(t, 1, `"ok": false`, "")
	var got struct {
		OK     bool
		Checks []doctor.Check
	}
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || len(got.Checks) != 3 || got.Checks[1].Fix != "a flag" {
		t.Error(err, r.stdout)
	}
	f.run(t, "doctor", "4711", "--root", "c").want(t, 2, "", "no class before the method")
}

func TestDryRun(t *testing.T) {
	f := newFake()
	f.run(t, "profile", "4711", "--root", "a.B.c", "--exclude", "a.C", "--dry-run").want(t, 0, "nothing was instrumented. All at once (scheme A) would put probes into 1 method of 1 class in 1 package.", "")
	if got := f.steps(); got != "attach dry close" || len(f.rec.Filter.Rules) != 1 {
		t.Error("steps:", got, f.rec)
	}
	f.run(t, "profile", "4711", "--root", "a.B.c", "--dry-run", "--format", "json").want(t, 0, `"kind": "dry-run"`, "")
	f.run(t, "profile", "4711", "--root", "a.B.c", "--dry-run", "--scheme", "b").want(t, 2, "", "--dry-run shows scheme A's plan")
	f.run(t, "profile", "4711", "--root", "a.B.c", "--dry-run", "--for", "1s").want(t, 2, "", "--for says how to record")
	f.startErr = fmt.Errorf("%w: a.B.c", roots.ErrNoRoot)
	f.run(t, "profile", "4711", "--root", "a.B.c", "--dry-run").want(t, 2, "", "no such root: a.B.c")
}

func TestProfileEndsByItself(t *testing.T) {
	f := newFake()
	close(f.done)
	f.run(t, "profile", "4711", "--root", "a.B.c").want(t, 0, "shop.Price.of", "rivulet: stopped after 1.00 s\n")
}

func TestProfileNeverCalled(t *testing.T) {
	f := newFake()
	f.diagnose = "root a.B.c has not been called."
	f.run(t, "profile", "4711", "--root", "a.B.c", "--for", "1ms").want(t, 0, "note: root a.B.c has not been called.\n", "")
}

func TestProfileJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.json")
	f := newFake()
	r := f.run(t, "profile", "4711", "--root", "a.B.c", "--for", "1ms", "--format", "json", "-o", path)
	r.want(t, 0, "", "report written to "+path)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Schema, Calls int }
	if err := json.Unmarshal(text, &got); err != nil || got.Schema != 1 || got.Calls != 1 {
		t.Errorf("%+v, %v:\n%s", got, err, text)
	}
	if r.stdout != "" {
		t.Errorf("stdout: %q", r.stdout)
	}
}

// TestProfileFails has everything fail that can; the session must be closed,
// an old report stay, and no temporary file be left.
func TestProfileFails(t *testing.T) {
	gone := &attach.Error{PID: 4711, Kind: attach.ErrNoProcess, Cause: "no such process", Fix: "see rivulet ps"}
	tests := []struct {
		name   string
		fake   *fake
		code   int
		stderr string
		steps  string
	}{
		{"attach, bad pid", &fake{attachErr: gone}, 2, "rivulet: pid 4711: no such process; see rivulet ps\n", "attach"},
		{"attach", &fake{attachErr: errors.New("no\nsocket\x1b")}, 1, "rivulet: no socket\ufffd\n", "attach"},
		{"start, bad root", &fake{startErr: fmt.Errorf("%w: a.B.c", roots.ErrNoRoot)}, 2, "rivulet: no such root: a.B.c\n", "attach start close"},
		{"start", &fake{startErr: session.ErrExited}, 1, "rivulet: the target has exited\n", "attach start close"},
		{"finish", &fake{finishErr: session.ErrSilent}, 1, "rivulet: the agent in the target does not answer\n", "attach start finish"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "report.txt")
			if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			r := test.fake.run(t, "profile", "4711", "--root", "a.B.c", "--for", "1ms", "-o", path)
			r.want(t, test.code, "", test.stderr)
			if got := test.fake.steps(); got != test.steps {
				t.Errorf("steps: got %s, want %s", got, test.steps)
			}
			if text, err := os.ReadFile(path); string(text) != "old" {
				t.Errorf("the old report: %q, %v", text, err)
			}
			if left, _ := os.ReadDir(dir); len(left) != 1 {
				t.Errorf("left in the folder: %v", left)
			}
		})
	}
}

func signalSelf(t *testing.T, s syscall.Signal) {
	if err := syscall.Kill(os.Getpid(), s); err != nil {
		t.Error(err)
	}
}

func TestInterrupt(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			f := newFake()
			f.onStart = func(*fake) { time.AfterFunc(20*time.Millisecond, func() { signalSelf(t, sig) }) }
			f.run(t, "profile", "4711", "--root", "a.B.c").want(t, 0, "shop.Price.of", "stopped after")
			if got := f.steps(); got != "attach start finish" {
				t.Error("steps:", got)
			}
		})
	}
}

func TestInterruptBeforeRecording(t *testing.T) {
	f := newFake()
	f.startErr = fmt.Errorf("start: %w", context.Canceled)
	f.onStart = func(*fake) { signalSelf(t, syscall.SIGINT) }
	f.run(t, "profile", "4711", "--root", "a.B.c").want(t, 1, "", "rivulet: interrupted before the recording began")
	if got := f.steps(); got != "attach start close" {
		t.Error("steps:", got)
	}
}

// TestInterruptUnanswered says what stays where the JVM did not answer before.
func TestInterruptUnanswered(t *testing.T) {
	f := newFake()
	f.startErr = errors.Join(fmt.Errorf("attach: %w", context.Canceled), fmt.Errorf("/tmp/boot1.jar: %w", session.ErrJarStays))
	f.onStart = func(*fake) { signalSelf(t, syscall.SIGINT) }
	f.run(t, "profile", "4711", "--root", "a.B.c").want(t, 1, "", "/tmp/boot1.jar: the agent's jar (4 KB) stays until the next recording ends")
}

func TestRun(t *testing.T) {
	f := newFake()
	f.exitCode = 3
	f.onStart = func(f *fake) { close(f.exited) }
	r := f.run(t, "run", "--root", "a.B.c", "java", "-jar", "x.jar", "--for", "me")
	r.want(t, 3, "the program's output\n", "shop.Price.of")
	if diff := cmp.Diff([]string{"java", "-jar", "x.jar", "--for", "me"}, f.argv); diff != "" {
		t.Error("-want +got:\n", diff)
	}
	if !f.rec.Wait {
		t.Error("does not wait for the root")
	}
	if strings.Contains(r.stdout, "shop.Price") {
		t.Error("the report is in the program's output")
	}
}

func TestRunFails(t *testing.T) {
	f := newFake()
	f.startErr = fmt.Errorf("%w: a.B.c is native", roots.ErrNoRoot)
	f.run(t, "run", "--root", "a.B.c", "x").want(t, 2, "", "rivulet: no such root: a.B.c is native\n")
	if got := f.steps(); got != "launch start abandon" {
		t.Error("steps:", got)
	}
	for code, want := range map[int]int{0: 1, 1: 1, 7: 7} {
		f := newFake()
		f.attachErr = &session.ExitError{Code: code}
		f.run(t, "run", "--root", "a.B.c", "x").want(t, want, "", "rivulet: the program exited with code")
	}
}

// TestRunLength ends the recording before the program.
func TestRunLength(t *testing.T) {
	f := newFake()
	f.onFinish = func(f *fake) { close(f.exited) }
	f.run(t, "run", "--root", "a.B.c", "--for", "1ms", "--", "x").want(t, 0, "", "shop.Price.of")
}

// TestRunSignal passes a signal on and lets the program end as it likes.
func TestRunSignal(t *testing.T) {
	f := newFake()
	f.exitCode = 143
	f.onStart = func(*fake) { time.AfterFunc(20*time.Millisecond, func() { signalSelf(t, syscall.SIGTERM) }) }
	f.run(t, "run", "--root", "a.B.c", "--", "x").want(t, 143, "", "shop.Price.of")
	if got := f.steps(); got != "launch start signal:terminated finish" {
		t.Error("steps:", got)
	}
}

func TestLists(t *testing.T) {
	f := newFake()
	f.run(t, "ps").want(t, 0, `PID   USER  JAVA     UPTIME  PREPARED  MAIN
4711  anna  17.0.15  1h 30m  -         shop.jar
4712  bert  ?        5 s     -         `+"evil\ufffd[31m  not attachable: belongs to user bert, you are anna; run as bert or root (sudo)\n", "")
	f.run(t, "classes", "4711", "shop").want(t, 0, `CLASS                     LOADER  METHODS
shop.Price                app     3
shop.orders.OrderService  app     12
`, "")
	f.run(t, "methods", "4711", "shop/Price").want(t, 0, `METHOD              LOADER  FLAGS
shop.Price.of(I)J   app     public static
shop.Price.sync()V  app     native         no probes: native
`, "")
	for _, args := range [][]string{{"ps", "--json"}, {"classes", "4711", "--json"}, {"methods", "4711", "shop.Price", "--json"}} {
		r := f.run(t, args...)
		var got []map[string]any
		if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || len(got) != 2 || r.code != 0 {
			t.Errorf("%v: code %d, %v, %d entries:\n%s", args, r.code, err, len(got), r.stdout)
		}
	}
	if !strings.Contains(f.steps(), "attach close attach close") {
		t.Error("steps:", f.steps())
	}
}

func TestOutput(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("old"), []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("old", at("link")); err != nil {
		t.Fatal(err)
	}
	f := newFake()
	for _, name := range []string{"new", "link"} {
		f.run(t, "profile", "1", "--root", "a.B.c", "--for", "1ms", "-o", at(name)).want(t, 0, "", "report written")
	}
	info, err := os.Lstat(at("link"))
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced:", info, err)
	}
	info, err = os.Stat(at("old"))
	if err != nil || info.Mode().Perm() != 0o640 || info.Size() < 10 {
		t.Error("what it led to:", info, err)
	}
	before := f.steps()
	for _, path := range []string{dir, at("no/such/folder"), at("new") + "/x"} {
		f.run(t, "profile", "1", "--root", "a.B.c", "-o", path).want(t, 2, "", "rivulet: -o "+path+": can't write there: ")
	}
	if f.steps() != before {
		t.Error("attached without a place for the report")
	}
	f.run(t, "profile", "1", "--root", "a.B.c", "--for", "1ms", "-o", os.DevNull).want(t, 0, "", "")
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatal("the null device was replaced")
	}
	f.run(t, "profile", "1", "--root", "a.B.c", "--for", "1ms", "-o", "-").want(t, 0, "shop.Price.of", "")
}

func TestDemoLevel(t *testing.T) {
	tests := []struct {
		name   string
		speeds []float64
		want   []float64
	}{
		{"level at once", []float64{1, 2, 100, 101, 99, 100, 98, 5}, []float64{101, 99, 100, 98}},
		{"rising", []float64{1, 2, 3, 4, 5, 6, 60, 100, 100, 101, 102}, []float64{100, 100, 101, 102}},
		{"never", []float64{1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9}, []float64{9, 1, 9, 1}},
	}
	for _, test := range tests {
		target := &demoTarget{speeds: make(chan float64, len(test.speeds))}
		for _, v := range test.speeds {
			target.speeds <- v
		}
		got, err := target.settled(t.Context(), 3)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got[len(got)-4:]); diff != "" {
			t.Errorf("%s: -want +got:\n%s", test.name, diff)
		}
	}
}

func TestWriteSpeeds(t *testing.T) {
	var b strings.Builder
	if err := writeSpeeds(&b, []float64{1000, 1100, 900}, nil, []float64{990}); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"before      1,000", "during  not measured", "after         990", "99.0 %"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("no %q in\n%s", line, b.String())
		}
	}
}
