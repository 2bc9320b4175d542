package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/agent"
	"github.com/rivulet-profiler/rivulet/controller/live"
)

// The fake has no root invocations that end while it is watched.
func (f *fake) Exits() []agent.Exit                           { return nil }
func (f *fake) WatchExits(bool, time.Duration, time.Duration) {}
func (f *fake) Release(agent.Exit)                            {}
func (f *fake) Unheld() int64                                 { return 0 }
func (f *fake) Mark(text string)                              { f.note("mark:" + text) }

func star(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mine.star")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A script sees the recording, ends it, and stands in the report with its output.
func TestAgentStops(t *testing.T) {
	dir := t.TempDir()
	path := star(t, "def f(r):\n  print(args['k'], r.tree.sum('calls'))\n  write('a', 'b')\n  stop('enough')\ndef g(r): print(r.reason)\non_start(f)\non_end(g)")
	for _, argv := range [][]string{{"profile", "4711"}, {"run"}} {
		f := newFake()
		f.exitCode = 0
		args := append(argv, "--root", "shop.Price.of", "--agent", path, "--agent-arg", "k=v", "--agent-dir", dir, "--format", "text")
		if argv[0] == "run" {
			args = append(args, "--", "java")
			f.onFinish = func(f *fake) { close(f.exited) }
		}
		r := f.run(t, args...)
		text := r.stdout + r.stderr
		for _, want := range []string{"rivulet: mine: v 1", "Agent mine", "  v 1\n  end\n", "stopped by agent mine: enough", "written: " + dir + "/mine.out/a"} {
			if r.code != 0 || !strings.Contains(text, want) {
				t.Errorf("%v: exit code %d, no %q in\n%s", argv, r.code, want, text)
			}
		}
	}
}

// A script that fails is disabled, the report is written, and the exit code says it; of run it is
// the program's.
func TestAgentFails(t *testing.T) {
	path := star(t, "def f(r): fail('no')\non_start(f)")
	for _, c := range []struct {
		args []string
		code int
	}{{[]string{"profile", "4711"}, 1}, {[]string{"run"}, 7}} {
		f := newFake()
		f.exitCode = 7
		args := append(c.args, "--root", "shop.Price.of", "--agent", path, "--format", "text", "--for", "1s")
		if c.args[0] == "run" {
			args = append(args, "--", "java")
			f.onFinish = func(f *fake) { close(f.exited) }
		}
		if r := f.run(t, args...); r.code != c.code || !strings.Contains(r.stdout+r.stderr, "Error in fail: fail: no") {
			t.Errorf("%v: exit code %d, %s%s", c.args, r.code, r.stdout, r.stderr)
		}
	}
}

func TestAgentUsage(t *testing.T) {
	bytecodes := star(t, "on_bytecodes(print, 10)")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--agent", "nothing.star"}, "--agent: stat nothing.star"},
		{[]string{"--agent", star(t, "on_end(")}, "mine.star:1:8"},
		{[]string{"--agent", star(t, "x = 1")}, "names no function to be called"},
		{[]string{"--agent", star(t, "fail('no')")}, "in <toplevel> Error in fail: fail: no"},
		{[]string{"--agent", bytecodes}, "agent mine is activated by executed bytecodes: give --count bytecodes with it"},
		{[]string{"--agent-arg", "a=b"}, "--agent-arg is for scripts"},
		{[]string{"--agent", bytecodes, "--agent-arg", "a"}, "write NAME=VALUE"},
	} {
		f := newFake()
		r := f.run(t, append([]string{"profile", "4711", "--root", "shop.Price.of"}, c.args...)...)
		if r.code != 2 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%v: exit code %d, %s\nwant %s", c.args, r.code, r.stderr, c.want)
		}
	}
}

// On the page and in the terminal the state says how scripts go, and what they change is seen.
func TestAgentLive(t *testing.T) {
	f := newFake()
	src, err := agent.Read(star(t, "def f(r):\n  mode('a.*', 'off')\n  emit('n', 1)\n  print('done')\non_start(f)"), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &liveBackend{app: &app{backend: f, stderr: &strings.Builder{}}, quiet: true, agents: []agent.Source{src}}
	l := live.New(live.Config{Backend: b})
	var did []string
	b.steer = func(_ context.Context, action, value string) error {
		if did = append(did, action+" "+value); len(did) == 1 {
			return live.ErrBusy // tried again
		}
		return nil
	}
	ctx := context.Background()
	if err := l.Attach(ctx, 4711, live.AttachOptions{}); err != nil {
		t.Fatal(err)
	}
	rec := l.Defaults()
	rec.Roots = []string{"shop.Price.of"}
	if err := l.Start(ctx, rec); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); len(l.State().Agents) == 0 || len(l.State().Agents[0].Output) == 0; time.Sleep(time.Millisecond) {
		if time.Since(begin) > 5*time.Minute {
			t.Fatalf("the script has printed nothing: %+v", l.State().Agents)
		}
	}
	var text strings.Builder
	if err := l.OpenMetrics(ctx, &text); err != nil || !strings.HasPrefix(text.String(), "# TYPE rivulet_recording gauge\n") || !strings.Contains(text.String(), "\nrivulet_recording 1\n") || !strings.HasSuffix(text.String(), "\n# TYPE n gauge\nn 1\n# EOF\n") {
		t.Errorf("%v, %q", err, text.String())
	}
	if err := l.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if a := l.State().Agents; len(a) != 1 || a[0].Failed != "" || len(did) != 2 || did[1] != "mode a.*=off" {
		t.Errorf("%+v, %q", a, did)
	}
}
