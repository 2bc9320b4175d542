package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// command runs the command line.
func command(args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	code = Main(args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// TestVirtual: deadlocks of virtual threads, and virtual threads summed up by stack.
func TestVirtual(t *testing.T) {
	j := jvmtest.Need(t, 25)
	text, err := os.ReadFile("../controller/threads/testdata/Virtual.java")
	if err != nil {
		t.Fatal(err)
	}
	dir := jvmtest.Compile(t, j, 21, map[string]string{"Virtual.java": string(text)})
	p := jvmtest.Start(t, j, []string{"-Xmx64m"}, "Virtual", nil, dir)
	p.WaitLine("ready")
	code, stdout, stderr := command("locks", fmt.Sprint(p.PID()), "--json")
	var l locksJSON
	if err := json.Unmarshal([]byte(stdout), &l); err != nil || code != 0 {
		t.Fatalf("code %d, %v: %s", code, err, stderr)
	}
	var got []string
	for _, d := range l.Deadlocks {
		var names []string
		for _, th := range d.Threads {
			names = append(names, th.Thread)
			if len(th.Stack) == 0 || th.WaitsFor == "" || th.Holds == "" {
				t.Errorf("%+v", th)
			}
		}
		slices.Sort(names)
		got = append(got, strings.Join(names, " "))
	}
	slices.Sort(got)
	if want := []string{"lock-0 lock-1", "monitor-0 monitor-1", "pair-0 pair-1"}; !slices.Equal(got, want) {
		t.Errorf("deadlocks %q, want %q", got, want)
	}
	code, stdout, stderr = command("threads", fmt.Sprint(p.PID()), "--json", "--for", "50ms")
	var all threadsJSON
	if err := json.Unmarshal([]byte(stdout), &all); err != nil || code != 0 {
		t.Fatalf("code %d, %v: %s", code, err, stderr)
	}
	if all.Virtual.Count != 25 || len(all.Virtual.Groups) == 0 || len(all.Virtual.Groups[0].Threads) != 20 || len(all.Deadlocks) != 3 {
		t.Errorf("%d virtual threads, %+v", all.Virtual.Count, all.Virtual.Groups)
	}
	main := slices.IndexFunc(all.Threads, func(th threadJSON) bool { return th.Name == "main" })
	if main < 0 || all.Threads[main].State != "RUNNABLE" || all.Threads[main].CPU <= 0 {
		t.Errorf("main thread: %+v", all.Threads)
	}
	code, stdout, _ = command("threads", fmt.Sprint(p.PID()))
	for _, want := range []string{"deadlock of 2 threads", "pair-1", "25 virtual threads", "20 virtual threads"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("code %d: %q is not in\n%s", code, want, stdout)
		}
	}
	p.CloseStdin()
	if code := p.Wait(); code != 0 {
		t.Errorf("the target ended with %d", code)
	}
}

// TestNoDeadlock: a JDK without virtual threads.
func TestNoDeadlock(t *testing.T) {
	p := jvmtest.Start(t, jvmtest.Any(t), []string{"-Xmx64m"}, "Leaks", []string{"cache"}, leaks(t))
	p.WaitLine("ready")
	if code, stdout, stderr := command("locks", fmt.Sprint(p.PID())); code != 0 || stdout != "no deadlock\n" {
		t.Errorf("code %d: %s %s", code, stdout, stderr)
	}
}

// TestThreadTimeline: threads that do the same all the time have the same letter at each moment.
func TestThreadTimeline(t *testing.T) {
	text, err := os.ReadFile("../controller/threads/testdata/Locked.java")
	if err != nil {
		t.Fatal(err)
	}
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Locked.java": string(text)})
	p := jvmtest.Start(t, jvmtest.Any(t), []string{"-Xmx64m"}, "Locked", nil, dir)
	p.WaitLine("ready")
	pid := fmt.Sprint(p.PID())
	code, stdout, stderr := command("threads", pid, "--timeline", "--for", "300ms", "--hz", "50", "--json")
	var j threadsJSON
	if err := json.Unmarshal([]byte(stdout), &j); err != nil || code != 0 || j.Timeline == nil {
		t.Fatalf("code %d, %v: %s", code, err, stderr)
	}
	want := map[string]string{"two-0": "B", "five-4": "B", "mutex-1": "w", "waiting-2": "w"}
	for _, s := range j.Timeline.Tracks {
		letter, ok := want[s.Thread]
		if !ok {
			continue
		}
		delete(want, s.Thread)
		if s.States != strings.Repeat(letter, len(j.Timeline.Moments)) || len(s.Places) != 1 || s.Places[0].Count != int64(len(j.Timeline.Moments)) {
			t.Errorf("%+v", s)
		}
	}
	if len(want) > 0 || len(j.Timeline.Moments) == 0 || len(j.Deadlocks) == 0 || j.Seconds <= 0 {
		t.Errorf("missing %v of %+v", want, j)
	}
	code, stdout, stderr = command("threads", pid, "--timeline", "--for", "10ms")
	if code != 0 || !strings.Contains(stdout, "ON A CORE") || !strings.Contains(stdout, "100 %") || !strings.Contains(stdout, "five-4") {
		t.Errorf("code %d: %s%s", code, stdout, stderr)
	}
	for _, args := range [][]string{{"--hz", "5"}, {"--timeline", "--hz", "0"}, {"--timeline", "--hz", "101"}, {"--timeline", "--for", "-1s"}} {
		if code, _, stderr := command(append([]string{"threads", pid}, args...)...); code != 2 {
			t.Errorf("%q: code %d: %s", args, code, stderr)
		}
	}
}

// TestSqueezed: a column has the state that most of its moments have.
func TestSqueezed(t *testing.T) {
	for states, want := range map[string]string{"RB": "RB", "RRRBBBB": "RB", "RRBwwt ": "Rw", "": ""} {
		if got := squeezed(states, 2); got != want {
			t.Errorf("%q: %q, want %q", states, got, want)
		}
	}
}
