package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// small are limits that are reached soon; the time is not, unless it is what is tried.
var small = Limits{Steps: 2_000_000, Time: time.Minute, Memory: 64 << 20, Files: 100}

// A script that fails is disabled with its traceback; others go on.
func TestFailures(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"error", `fail("no")`, "no"},
		{"division", `1 // 0`, "division by zero"},
		{"steps", "while True: pass", "more than 2000000 steps"},
		{"deep", "def g(n): return g(n)\n    g(1)", "called recursively"},
		{"list", `x = [0] * (1 << 29)`, "a product of more than 1048576 elements"},
		{"factor first", `x = (1 << 62) * [0]`, "a product of more than 1048576 elements"},
		{"product in place", "x = [0, 0]\n    x *= 1 << 20", "a product of more than 1048576 elements"},
		{"text", `x = "ab" * (1 << 25)`, "a product of more than 16777216 elements"},
		{"join", `x = ",".join(["a" * 999999] * 900000)`, "join: a text of more than 16777216 letters"},
		{"replace", `x = ("a" * 100000).replace("a", "b" * 100000)`, "replace: a text of more than 16777216 letters"},
		{"format", `x = ("{0}" * 1000).format("a" * 1000000)`, "format: a text of more than 16777216 letters"},
		{"percent", `x = ("%s" * 1000) % tuple(["a" * 1000000] * 1000)`, "a text of more than 16777216 letters"},
		{"sum", "s = \"a\"\n    for i in range(40): s = s + s", "a sum of more than 16777216 letters"},
		{"sum in place", "s = \"a\"\n    for i in range(40): s += s", "a sum of more than 16777216 letters"},
		{"list in place", "s = [0]\n    t = s\n    s += [1]\n    if len(t) == 2: fail('as Starlark has it')", "as Starlark has it"},
		{"formats", "if '%d of %s' % (1, 'x') + '!' == '1 of x!' and '{}'.format(2) == '2' and 7 % 4 == 3: fail('as Starlark has it')", "as Starlark has it"},
		{"range", `x = list(range(1 << 40))`, "range of more than 1048576 numbers"},
		{"memory", "x = [[]]\n    while True: x = [x + [0] * 100000, x]", "more than 64 MB of memory"},
		{"kept", `kept.extend(["x" * 1000000] * 100)`, "it keeps more than 64 MB"},
		{"outside", `write("../x", "")`, "lies outside of the script's folder"},
		{"absolute", `write("/etc/x", "")`, "lies outside of the script's folder"},
		{"link", `write("link/x", "")`, "lies outside of the script's folder"},
		{"no name", `write("", "")`, "is no file's name"},
		{"folder", `write("a/", "")`, "is no file's name"},
		{"much", `write("a", "x" * 101)`, "MB in files"},
		{"attribute", `r.self_bytecodes`, "has no .self_bytecodes field or method"},
		{"figure", `r.tree.sum("bytes")`, `there is no figure "bytes" to add up; there are calls, thrown, self_ns`},
		{"metric's name", `emit("a b", 1)`, `"a b" can't be a metric's name`},
		{"label", `emit("a", 1, labels = {"__x": "1"})`, `"__x" can't be a label's name`},
		{"kind", `emit("a", 1, kind = "histogram")`, "there are gauge and counter"},
		{"no steering", `pause()`, "pause: the recording has ended"},
		{"late handler", `on_end(f)`, "only at the top level"},
		{"value", `emit("a", "b")`, "got string, want a number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := source(t, "kept = []\ndef f(r):\n    "+c.body+"\non_end(f)\n")
			if err := os.MkdirAll(src.Dir, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("/tmp", filepath.Join(src.Dir, "link")); err != nil {
				t.Fatal(err)
			}
			var told []string
			h, err := New([]Source{{Name: "other", Path: "other.star", Text: "def f(r): print('fine')\non_end(f)"}, src}, Config{
				Limits: small, Tell: func(s string) { told = append(told, s) },
			})
			if err != nil {
				t.Fatal(err)
			}
			f := &fake{}
			h.Prepare(f)
			h.Start()
			h.Halt(context.Background())
			r := f.report()
			h.Finish(context.Background(), r)
			want(t, r.Agents[0], "fine")
			failed := r.Agents[1].Failed
			if !strings.Contains(failed, c.want) {
				t.Errorf("failed: %s\nwant: %s", failed, c.want)
			}
			if !strings.HasPrefix(failed, "activation 1 (end): ") || c.name != "kept" && !strings.Contains(failed, "test.star:") {
				t.Errorf("no traceback: %s", failed)
			}
			if last := told[len(told)-1]; !strings.HasPrefix(last, "agent test has failed and is disabled") {
				t.Errorf("told %q", told)
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(src.Dir), "x")); err == nil {
				t.Error("it has written outside")
			}
		})
	}
}

func TestTimeLimit(t *testing.T) {
	src := source(t, "def f(r):\n  while True: pass\non_end(f)")
	h, err := New([]Source{src}, Config{Limits: Limits{Steps: 1 << 62, Time: 50 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{}
	h.Prepare(f)
	h.Start()
	h.Halt(context.Background())
	r := f.report()
	h.Finish(context.Background(), r)
	if !strings.Contains(r.Agents[0].Failed, "more than 50ms in one activation") {
		t.Errorf("failed: %s", r.Agents[0].Failed)
	}
}

// A failed script is not activated again.
func TestDisabled(t *testing.T) {
	f := &fake{}
	a := hosted(t, f, Config{}, source(t, "def f(r): fail('once')\non_exit(f, exact = True)\non_end(f)"), func(*Host) {
		f.invoke(t, 1, time.Second)
		f.mu.Lock()
		f.returned++
		f.mu.Unlock()
	})
	if a.Activations != 1 || !strings.Contains(a.Failed, "once") {
		t.Errorf("%d activations, failed: %s", a.Activations, a.Failed)
	}
}

func TestLoadErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"def f(:", "test.star:1:8: got ':'"},
		{"x = nothing", "test.star:1:5: undefined: nothing"},
		{"x = 1", "names no function to be called"},
		{"write('a', 'b')\non_end(print)", "only in a function that is called for an activation"},
		{"on_time(print, 0)", "0 seconds; from 0.01 on"},
		{"on_time(print, 'x')", "got string, want"},
		{"on_bytecodes(print, 0)", "give a count above zero"},
		{"on_exit(print, over_ms = -1)", "over_ms is a time from 0 on"},
		{"while True: pass", "steps in one activation"},
		{"load('x.star', 'y')\non_end(y)", "load not implemented"},
	} {
		if _, err := New([]Source{source(t, c.text)}, Config{Limits: small}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", c.text, err, c.want)
		}
	}
	twice := source(t, "on_end(print)")
	if _, err := New([]Source{twice, twice}, Config{}); err == nil || !strings.Contains(err.Error(), "two agents are named test") {
		t.Error(err)
	}
}

// What a script does while the recording ends is no fault of its own.
func TestEnding(t *testing.T) {
	f := &fake{}
	begun := make(chan struct{})
	c := Config{Steer: func(context.Context, string, string) error {
		close(begun)
		time.Sleep(50 * time.Millisecond)
		return context.Canceled
	}}
	a := hosted(t, f, c, source(t, "def f(r): pause()\ndef g(r): print('end')\non_start(f)\non_end(g)"), func(h *Host) { <-begun; h.halting.Store(true) })
	want(t, a, "end")
}

// Lines that a script prints are bounded; the last ones are kept.
func TestMuchOutput(t *testing.T) {
	a := hosted(t, &fake{}, Config{}, source(t, "def f(r):\n  for i in range(2500): print('\\x1b[31m' + str(i))\n  print('x' * 10000)\non_end(f)"), nil)
	if len(a.Output) > mostLines || int(a.Dropped)+len(a.Output) != 2501 || len(a.Output[len(a.Output)-1]) > mostLine+4 || strings.Contains(a.Output[0], "\x1b") {
		t.Errorf("%d lines, %d dropped, first %q", len(a.Output), a.Dropped, a.Output[0])
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "my.agent.star")
	if err := os.WriteFile(path, []byte("on_end(print)"), 0o666); err != nil {
		t.Fatal(err)
	}
	src, err := Read(path, "out", nil)
	if err != nil || src.Name != "my.agent" || src.Dir != "out/my.agent.out" {
		t.Errorf("%+v, %v", src, err)
	}
	if _, err := Read(dir, "out", nil); err == nil {
		t.Error("a folder was read")
	}
}
