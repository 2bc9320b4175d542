package console_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rivulet-profiler/rivulet/cli/console"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/live"
	"github.com/rivulet-profiler/rivulet/controller/spec"
)

// A fake is a JVM whose recordings have one call more at each look.
type fake struct {
	did  []string
	rec  spec.Recording
	done chan struct{}
	n    int64
	act  func() // during actions

	suggested []live.Suggestion
}

func (f *fake) Targets(context.Context) ([]live.Target, error) { return nil, nil }
func (f *fake) Demo(context.Context) (live.Demo, error)        { return live.Demo{}, errors.New("none") }

func (f *fake) Attach(context.Context, int, live.AttachOptions, func(string)) (live.Session, error) {
	f.did = append(f.did, "attach")
	f.done = make(chan struct{})
	return f, nil
}

func (f *fake) Target() export.Target { return export.Target{PID: 7, Main: "Main"} }

func (f *fake) Methods(context.Context) ([]live.Method, error) {
	return []live.Method{{Name: "a.Order\x1bService.process()V", Root: true}, {Name: "a.B.nat()V", Reason: "native"}}, nil
}

func (f *fake) Start(_ context.Context, r spec.Recording) error {
	f.did = append(f.did, fmt.Sprintf("start %s %s", r.Scheme, r.Clock))
	f.rec, f.n = r, 0
	return nil
}

func (f *fake) Done() <-chan struct{} { return f.done }

func (f *fake) Snapshot(context.Context) (*export.Report, error) {
	f.n++
	return &export.Report{
		Scheme: f.rec.Scheme, Clock: f.rec.Clock, Roots: f.rec.Roots, Time: time.Second,
		Tree:   &cct.Snapshot{Threads: []*cct.Thread{{RootEntries: f.n, RootReturns: f.n, Roots: []*cct.Node{{Calls: f.n, Self: 10, Total: 10}}}}},
		Lookup: func(int32) (cct.Method, bool) { return cct.Method{Name: "a.B.m()V"}, true },
	}, nil
}

func (f *fake) Warm(context.Context) error { return nil }

func (f *fake) Preview(context.Context, spec.Recording) (*export.Preview, error) {
	return nil, errors.New("no preview")
}

func (f *fake) Suggest(context.Context, bool) (*live.Suggestions, error) {
	return &live.Suggestions{Samples: 100, Roots: f.suggested}, nil
}

func (f *fake) Diagnose(context.Context) string { return "" }

func (f *fake) Actions() map[string]func(context.Context, string) error {
	out := map[string]func(context.Context, string) error{}
	for _, name := range []string{"pause", "resume", "reset", "clock", "mode"} {
		out[name] = func(_ context.Context, value string) error {
			f.did = append(f.did, strings.TrimSpace(name+" "+value))
			if f.act != nil {
				f.act()
			}
			return nil
		}
	}
	return out
}

func (f *fake) Finish(ctx context.Context) (*export.Report, error) {
	f.did = append(f.did, "finish")
	return f.Snapshot(ctx)
}

func (f *fake) Close() error { f.did = append(f.did, "close"); return nil }

func newConsole(t *testing.T, f *fake) (c *console.Console, saved map[string]string) {
	t.Helper()
	saved = map[string]string{}
	c = console.New(console.Config{
		Live: live.New(live.Config{Backend: f}), PID: 7,
		Save: func(path, format string, r *export.Report) error {
			saved[path] = format + " " + r.Scheme
			return nil
		},
		Load: func(path string) (*export.Report, error) { return nil, fmt.Errorf("open %s: %w", path, fs.ErrNotExist) },
	}, spec.Recording{Scheme: "B", Clock: "tick"})
	if err := c.Attach(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c, saved
}

func TestScript(t *testing.T) {
	f := &fake{}
	c, saved := newConsole(t, f)
	var out bytes.Buffer
	err := c.Script(t.Context(), strings.NewReader(`
# a comment
root a.B.m  "a.C.n o"   # two
root a.B.m
unroot 'a.C.n o'
root
include 'a.**'
exclude a.x.*
jdk
filters
find Order
clock precise
start
wait calls 3
clock tick
scheme b
scheme c
pause
keep before
compare 1
save 'a file' json
echo   one 'two  three'
quit
frobnicate
`), &out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"attach", "start B precise", "clock tick", "finish", "attach", "start C tick", "pause"}, f.did); diff != "" {
		t.Error("-want +got:\n", diff)
	}
	if want := []string{"--jdk", "--include a.**", "--exclude a.x.*"}; !slices.Equal(f.rec.Filter.Strings(), want) || !slices.Equal(f.rec.Roots, []string{"a.B.m"}) {
		t.Errorf("%+v", f.rec)
	}
	for _, want := range []string{
		"a.B.m\n--jdk\n--include a.**\n--exclude a.x.*\na.Order\uFFFDService.process()V\n",
		"snapshot 2: before\n", "before  snapshot 1: ", "saved to a file\none two  three\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if saved["a file"] != "json C" {
		t.Error(saved)
	}
}

// TestOptions sets options of the next recording by a script, and one of the recording that
// is on.
func TestOptions(t *testing.T) {
	f := &fake{}
	c, _ := newConsole(t, f)
	var out bytes.Buffer
	if err := c.Script(t.Context(), strings.NewReader(`
leaves timed
cpu on
mode a.*=off
mode clear
mode a.b.*=counted
slowest 3
over 50ms
slowest 0
leaves
cpu
mode
over
start a.B.m
mode a.B.x=precise
status
`), &out); err != nil {
		t.Fatal(err)
	}
	if r := f.rec; r.Leaves != "timed" || !r.CPU || len(r.Modes) != 1 || r.Modes[0].String() != "a.b.*=counted" || r.Slowest != 0 || r.Over != 0 {
		t.Errorf("%+v", r)
	}
	if got := f.did[len(f.did)-1]; got != "mode a.B.x=precise" {
		t.Errorf("did %q", f.did)
	}
	for _, want := range []string{"timed\non\na.b.*=counted\n0\n", "\nmode         a.b.*=counted a.B.x=precise\n", "\nleaves       timed\n", "\ncpu          on\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if m := c.Live().State().Recording.Modes; len(m) != 2 {
		t.Errorf("the recording that is on has modes %v", m)
	}
	if err := c.Script(t.Context(), strings.NewReader("stop\nevents on\nstart"), &out); !errors.Is(err, console.ErrUsage) || !strings.Contains(err.Error(), "with events there are off, tick and precise") {
		t.Error("modes and events:", err)
	}
}

func TestScriptFails(t *testing.T) {
	for _, test := range []struct {
		line, want string
		usage      bool
	}{
		{"frobnicate", `there is no command "frobnicate"`, true},
		{"unroot a.B.c", "is no root", true},
		{"root c", "no class before the method", true},
		{"include a..b", "--include", true},
		{"scheme E", "there is only auto, A, B, C and D", true},
		{"clock sun", "there is only tick and precise", true},
		{"until-calls -1", "give a number above zero", true},
		{"leaves green", "there is only counted and timed", true},
		{"cpu 2", "there is only on and off", true},
		{"mode a.*", "PATTERN=MODE", true},
		{"start", "no root is chosen", true},
		{"wait", "it is used as: wait TIME|end|calls N [TIME]", true},
		{"wait 5", "give a time such as 5s", true},
		{"wait end", "nothing is being recorded", true},
		{"wait calls 1 10ms", "nothing is being recorded any more", false},
		{"top x", "no number above 0", true},
		{"methods by size", "methods can be sorted by self", true},
		{"methods 1 2", "methods [N] [by KEY]", true},
		{"tree", "nothing has been recorded yet", false},
		{"around x", "nothing has been recorded yet", false},
		{"stop", "not possible now", false},
		{"compare 9", "there is no snapshot 9", true},
		{"compare x.json", "there is no snapshot and no file", true},
		{"echo 'a", "is not closed", true},
		{"help frobnicate", "there is no command", true},
		{"find nothing at all", "no loaded method matches", false},
	} {
		c, _ := newConsole(t, &fake{})
		var line *console.LineError
		err := c.Script(t.Context(), strings.NewReader("\n"+test.line+"\necho more\n"), &bytes.Buffer{})
		if !errors.As(err, &line) || line.Line != 2 || !strings.Contains(err.Error(), test.want) || errors.Is(err, console.ErrUsage) != test.usage {
			t.Errorf("%q: %v, want %q", test.line, err, test.want)
		}
	}
}

// TestBusyChoice wants a scheme and a clock that could not be switched to not to be
// taken for chosen, so that trying again does it.
func TestBusyChoice(t *testing.T) {
	f := &fake{}
	c, _ := newConsole(t, f)
	begun, end := make(chan bool), make(chan bool)
	f.act = func() { begun <- true; <-end }
	exec := func(line string) error { return c.Exec(t.Context(), line, &bytes.Buffer{}) }
	if err := exec("start a.B.m"); err != nil {
		t.Fatal(err)
	}
	paused := make(chan error, 1)
	go func() { paused <- exec("pause") }()
	<-begun
	for _, line := range []string{"scheme A", "clock precise"} {
		if err := exec(line); !errors.Is(err, live.ErrBusy) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if s := c.Settings(); s.Scheme != "B" || s.Clock != "tick" {
		t.Errorf("%+v", s)
	}
	f.act = nil
	end <- true
	for _, err := range []error{<-paused, exec("clock precise"), exec("scheme A"), exec("scheme auto")} {
		if err != nil {
			t.Error(err)
		}
	}
	want := []string{"attach", "start B tick", "pause", "clock precise", "finish", "attach", "start A precise", "finish", "attach", "start auto precise"}
	if diff := cmp.Diff(want, f.did); diff != "" {
		t.Error("-want +got:\n", diff)
	}
}

// TestSuggest has a script choose its root by samples.
func TestSuggest(t *testing.T) {
	f := &fake{}
	c, _ := newConsole(t, f)
	var out bytes.Buffer
	if err := c.Exec(t.Context(), "suggest root", &out); err == nil || !strings.Contains(err.Error(), "choose a root with find and root") {
		t.Error("none to suggest:", err)
	}
	f.suggested = []live.Suggestion{{Root: "a.B.m", Share: 0.25, Rate: 12.5, Price: "low"}, {Root: "a.C\x1b.n", Share: 0.1, Rate: 1, Price: "high"}}
	if err := c.Script(t.Context(), strings.NewReader("root x.Y.z\nsuggest\nsuggest root\nroot\nstart\nquit\n"), &out); err != nil {
		t.Fatal(err)
	}
	want := "a.B.m  25.0 % of the samples, entered 12.5 times a second or more, price low\n" + "a.C?.n  10.0 % of the samples, entered 1 times a second or more, price high\na.B.m\na.B.m\n"
	if !slices.Equal(f.rec.Roots, []string{"a.B.m"}) || strings.ReplaceAll(out.String(), "\ufffd", "?") != want {
		t.Errorf("roots %q, output\n%q, expected\n%q", f.rec.Roots, out.String(), want)
	}
	if err := c.Exec(t.Context(), "suggest 3", &out); err == nil {
		t.Error("suggest 3 makes sense")
	}
}

// TestHelp has every command in the help, and in the documentation.
func TestHelp(t *testing.T) {
	page, err := os.ReadFile("../../docs/terminal.md")
	if err != nil {
		t.Fatal(err)
	}
	c, _ := newConsole(t, &fake{})
	var out bytes.Buffer
	for _, name := range console.Names() {
		if err := c.Exec(t.Context(), "help "+name, &out); err != nil || !strings.Contains(console.Help(), "  "+name+" ") {
			t.Error(name, err)
		}
		if !bytes.Contains(page, []byte("`"+name+" ")) && !bytes.Contains(page, []byte("`"+name+"`")) {
			t.Error("docs/terminal.md knows nothing of", name)
		}
	}
}

// TestInterrupted has a script end while it waits, and while its reader does.
func TestInterrupted(t *testing.T) {
	for _, script := range []string{"wait 10m\n", ""} {
		c, _ := newConsole(t, &fake{})
		ctx, cancel := context.WithCancel(t.Context())
		r := &slow{text: script, gone: make(chan struct{})}
		time.AfterFunc(20*time.Millisecond, cancel)
		if err := c.Script(ctx, r, &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(r.gone)
	}
}

// slow has a text, and then nothing until it is gone.
type slow struct {
	text string
	gone chan struct{}
}

func (r *slow) Read(p []byte) (int, error) {
	if n := copy(p, r.text); n > 0 {
		r.text = r.text[n:]
		return n, nil
	}
	<-r.gone
	return 0, errors.New("gone")
}
