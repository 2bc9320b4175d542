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
