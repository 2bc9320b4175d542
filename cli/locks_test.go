package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/locks"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// contended runs a command while the program Contention plays its rounds, and returns
// what it says of locks, and the program's own account: count and ns of waits, by "monitor" and "lock".
func contended(t *testing.T, j jvmtest.JDK, kind string, args ...string) (out locksJSON, own map[string][2]int64) {
	t.Helper()
	text, err := os.ReadFile("testdata/Contention.java")
	if err != nil {
		t.Fatal(err)
	}
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Contention.java": string(text)})
	p := jvmtest.Start(t, j, nil, "Contention", []string{"locks", "8", kind}, dir)
	p.WaitLine("ready")
	type result struct {
		code           int
		stdout, stderr string
	}
	done := make(chan result, 1)
	go func() {
		code, stdout, stderr := command(append([]string{"locks", fmt.Sprint(p.PID()), "--json"}, args...)...)
		done <- result{code, stdout, stderr}
	}()
	vm, err := attach.Open(t.Context(), p.PID())
	if err != nil {
		t.Fatal(err)
	}
	for recording := false; !recording; { // the test's own time limit ends it
		r, err := vm.Execute(t.Context(), "jcmd", "JFR.check")
		if err != nil {
			t.Fatal(err)
		}
		recording = strings.Contains(r.Text, "rivulet-")
	}
	p.Send("go")
	own = map[string][2]int64{}
	for _, name := range []string{"monitor", "lock"} {
		var n [2]int64
		if _, err := fmt.Sscan(strings.TrimPrefix(p.WaitLine(name+" "), name+" "), &n[0], &n[1]); err != nil {
			t.Fatal(err)
		}
		own[name] = n
	}
	p.WaitLine("over")
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	r := <-done
	if r.code != 0 {
		t.Fatalf("code %d: %s", r.code, r.stderr)
	}
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		t.Fatal(err)
	}
	return out, own
}

// sum adds up the rows of one waiter.
func sum(rows []locks.Row, waiter string) (count int64, blocked time.Duration, class string, owners map[string]bool) {
	owners = map[string]bool{}
	for _, r := range rows {
		if r.Waiter == waiter {
			count += r.Count
			blocked += time.Duration(r.Blocked)
			class = r.Class
			owners[r.Owner+"|"+r.OwnerThread] = true
		}
	}
	return count, blocked, class, owners
}

// TestLocksExact: counts are the program's own. What it measures contains the wait, and some
// more; the owner kept each lock 20 ms after it saw the other thread wait.
func TestLocksExact(t *testing.T) {
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		got, own := contended(t, j, "platform", "--for", "5m", "--exact")
		if !got.Exact || got.Seconds <= 0 {
			t.Errorf("%+v", got)
		}
		for name, want := range map[string]struct{ waiter, class string }{
			"monitor": {"Contention$Monitor.enter", "Contention$Gate"},
			"lock":    {"Contention$Lock.enter", "java.util.concurrent.locks.ReentrantLock$NonfairSync"},
		} {
			count, blocked, class, owners := sum(got.Locks, want.waiter)
			t.Logf("%s: %d waits, %v; the program's own account: %d, %v", name, count, blocked, own[name][0], time.Duration(own[name][1]))
			if count != own[name][0] || class != want.class {
				t.Errorf("%s: %d waits for %s, want %d for %s", name, count, class, own[name][0], want.class)
			}
			if least := time.Duration(count) * 20 * time.Millisecond; blocked < least || blocked > time.Duration(own[name][1]) {
				t.Errorf("%s: waited %v, want %v to %v", name, blocked, least, time.Duration(own[name][1]))
			}
			if name == "monitor" && !owners["|owner 0"] {
				t.Errorf("owners: %v", owners)
			}
		}
	}, 8, 11, 17, 21, 25)
}

// TestLocksOfExited: what was seen until the JVM exited is reported.
func TestLocksOfExited(t *testing.T) {
	for source, note := range map[string]string{dumpsName: "thread dumps: ", autoSource: "from outside, "} {
		t.Run(source, func(t *testing.T) { locksOfExited(t, source, note) })
	}
}

func locksOfExited(t *testing.T, source, note string) {
	text, err := os.ReadFile("testdata/Contention.java")
	if err != nil {
		t.Fatal(err)
	}
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Contention.java": string(text)})
	for after := 500 * time.Millisecond; ; after *= 2 { // until something was seen before
		p := jvmtest.Start(t, jvmtest.Any(t), nil, "Contention", []string{"busy"}, dir)
		p.WaitLine("ready")
		time.AfterFunc(after, func() { syscall.Kill(p.PID(), syscall.SIGKILL) }) //nolint:errcheck // it may have failed
		code, stdout, stderr := command("locks", fmt.Sprint(p.PID()), "--for", "5m", "--json", "--source", source)
		if code != 0 && after < time.Minute {
			continue
		}
		var out locksJSON
		if err := json.Unmarshal([]byte(stdout), &out); code != 0 || err != nil {
			t.Fatalf("code %d, %v: %s", code, err, stderr)
		}
		if notes := strings.Join(out.Notes, "\n"); !strings.Contains(notes, note) || !strings.Contains(notes, "has exited") || out.Deadlocks != nil || out.Seconds <= 0 {
			t.Errorf("%+v", out)
		}
		return
	}
}
