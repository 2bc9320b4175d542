package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/locks"
	"github.com/rivulet-profiler/rivulet/controller/sampler"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/threads"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// locked starts the program with deadlocks.
func locked(t *testing.T, j jvmtest.JDK, options []string, args ...string) *jvmtest.Proc {
	t.Helper()
	text, err := os.ReadFile("../controller/threads/testdata/Locked.java")
	if err != nil {
		t.Fatal(err)
	}
	dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Locked.java": string(text)})
	p := jvmtest.Start(t, j, append([]string{"-Xmx64m"}, options...), "Locked", args, dir)
	p.WaitLine("ready")
	return p
}

// circles names the threads of each deadlock, in order.
func circles(all []threads.Deadlock) []string {
	var out []string
	for _, d := range all {
		var names []string
		for _, l := range d.Threads {
			names = append(names, l.Thread)
		}
		slices.Sort(names)
		out = append(out, strings.Join(names, " "))
	}
	slices.Sort(out)
	return out
}

// circlesOfLocked are those of the program.
var circlesOfLocked = []string{"five-0 five-1 five-2 five-3 five-4", "mixed-0 mixed-1", "mutex-0 mutex-1", "three-0 three-1 three-2", "two-0 two-1"}

// TestThreadsOutside: what is read from outside is what the JVM's own thread dump says, with each collector and
// each form of objects.
func TestThreadsOutside(t *testing.T) {
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		forms := [][]string{nil, {"-XX:+UseSerialGC"}, {"-XX:+UseParallelGC"}, {"-XX:-UseCompressedOops"}, {"-Xint"}}
		if j.Version >= 17 {
			forms = append(forms, []string{"-XX:+UseZGC"})
		}
		if j.Version == 21 {
			forms = append(forms, []string{"-XX:+UseZGC", "-XX:+ZGenerational"}, []string{"-XX:+UnlockExperimentalVMOptions", "-XX:LockingMode=2"})
		}
		if j.Version == 25 {
			forms = append(forms, []string{"-XX:+UseCompactObjectHeaders"}, []string{"-XX:+UseZGC", "-XX:+UseCompactObjectHeaders"})
		}
		for _, options := range forms {
			t.Run(strings.Join(options, " "), func(t *testing.T) {
				p := locked(t, j, options)
				zgc := slices.Contains(options, "-XX:+UseZGC")
				seen, said := threadsBy(t, p.PID(), outsideName), threadsBy(t, p.PID(), dumpsName)
				for name, want := range said {
					got, there := seen[name]
					if want.State == "" || want.State == "RUNNABLE" && len(want.Stack) == 0 {
						continue // the JVM's own
					}
					if !there {
						t.Errorf("no %s", name)
					}
					if zgc && want.WaitFor != nil && got.WaitFor != nil { // it may have moved
						want.WaitFor.Address, got.WaitFor.Address = "", ""
					}
					if got.State != want.State || got.ID != want.ID || got.NID != want.NID || got.Wait != want.Wait || got.Daemon != want.Daemon || (got.WaitFor == nil) != (want.WaitFor == nil) ||
						want.WaitFor != nil && *got.WaitFor != *want.WaitFor {
						t.Errorf("%s from outside\n%+v %+v\nthe JVM says\n%+v %+v", name, got, got.WaitFor, want, want.WaitFor)
					}
					if want.State != "RUNNABLE" && !slices.Equal(got.Stack, want.Stack) {
						t.Errorf("%s from outside\n%s\nthe JVM says\n%s", name, strings.Join(got.Stack, "\n"), strings.Join(want.Stack, "\n"))
					}
				}
				if _, ok := seen["VM Thread"]; !ok || len(seen) < 20 {
					t.Errorf("%d threads", len(seen))
				}
				code, stdout, stderr := command("locks", fmt.Sprint(p.PID()), "--source", outsideName, "--json")
				var l locksJSON
				if err := json.Unmarshal([]byte(stdout), &l); err != nil || code != 0 {
					t.Fatalf("code %d, %v: %s", code, err, stderr)
				}
				if got := circles(l.Deadlocks); !slices.Equal(got, circlesOfLocked) || l.Source != outsideName || l.Why != "" {
					t.Errorf("from outside: deadlocks %q, %+v", got, l)
				}
				// By itself it asks the JVM where a collector moves objects meanwhile.
				code, stdout, stderr = command("locks", fmt.Sprint(p.PID()), "--json")
				if err := json.Unmarshal([]byte(stdout), &l); err != nil || code != 0 {
					t.Fatalf("code %d, %v: %s", code, err, stderr)
				}
				if got := circles(l.Deadlocks); !slices.Equal(got, circlesOfLocked) || (l.Source == dumpsName) != zgc || (l.Why != "") != zgc {
					t.Errorf("deadlocks %q, %+v", got, l)
				}
			})
		}
	}, 8, 11, 17, 21, 25)
}

// hidden is what a dump has behind the name of a hidden class.
var hidden = regexp.MustCompile(`/(0x[0-9a-f]+|[0-9]+)\.`)

func threadsBy(t *testing.T, pid int, source string) map[string]threads.Thread {
	t.Helper()
	code, stdout, stderr := command("threads", fmt.Sprint(pid), "--source", source, "--virtual=false", "--json")
	var j threadsJSON
	if err := json.Unmarshal([]byte(stdout), &j); err != nil || code != 0 || j.Source != source {
		t.Fatalf("code %d, %v: %s", code, err, stderr)
	}
	out := map[string]threads.Thread{}
	for _, th := range j.Threads {
		for i := range th.Stack {
			th.Stack[i] = hidden.ReplaceAllString(th.Stack[i], ".")
		}
		out[th.Name] = th.Thread
	}
	return out
}

// TestDeadlocksWhileCollecting: objects move all the time; no look finds a deadlock that is none, and together they find
// all. With ZGC, which moves them while threads run, this is not promised.
func TestDeadlocksWhileCollecting(t *testing.T) {
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		collectors := []string{"-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC"}
		if j.Version >= 17 {
			collectors = append(collectors, "-XX:+UseZGC")
		}
		for _, c := range collectors {
			t.Run(c, func(t *testing.T) {
				p := locked(t, j, []string{c}, "collect")
				o, err := onlook(t.Context(), p.PID(), lookHow{source: outsideName})
				if err != nil {
					t.Fatal(err)
				}
				defer o.close()
				missing := map[string]bool{}
				for _, c := range circlesOfLocked {
					missing[c] = true
				}
				zgc := strings.Contains(c, "ZGC")
				for n := 0; n < 50 || !zgc && len(missing) > 0; n++ { // the test's own time limit ends it
					all, err := o.threads(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					for _, c := range circles(threads.Deadlocks(all)) {
						if delete(missing, c); !slices.Contains(circlesOfLocked, c) {
							t.Errorf("%q is no deadlock", c)
						}
					}
				}
				for !zgc { // and sure ones, of two looks
					all, err := o.threads(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					found, err := surely(t.Context(), o, all)
					if err != nil {
						t.Fatal(err)
					}
					if slices.Equal(circles(found), circlesOfLocked) {
						return
					}
				}
			})
		}
	}, 8, 11, 17, 21, 25)
}

// TestLocksOutside: of locks that change hands nobody is named who did not wait, or did not own them.
func TestLocksOutside(t *testing.T) {
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		text, err := os.ReadFile("testdata/Contention.java")
		if err != nil {
			t.Fatal(err)
		}
		dir := jvmtest.Compile(t, jvmtest.Any(t), 8, map[string]string{"Contention.java": string(text)})
		p := jvmtest.Start(t, j, nil, "Contention", []string{"locks", "8", "platform"}, dir)
		p.WaitLine("ready")
		s, err := sampler.Open(p.PID(), sampler.Options{Wall: true, Locks: true, Hz: 500})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var d locks.Samples
		begun, ended := make(chan bool), make(chan error)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			first := true
			ended <- s.Run(ctx, func(batch []stack.Stack) {
				if d.Add(batch); first {
					first = false
					close(begun)
				}
			})
		}()
		<-begun
		p.Send("go")
		own := map[string]int64{}
		for _, name := range []string{"monitor", "lock"} {
			var count, ns int64
			if _, err := fmt.Sscan(strings.TrimPrefix(p.WaitLine(name+" "), name+" "), &count, &ns); err != nil {
				t.Fatal(err)
			}
			own[name] = count
		}
		p.WaitLine("over")
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		for _, r := range d.Rows() {
			t.Logf("%s of %s by %s (%s): %d, %v", r.Waiter, r.Class, r.OwnerThread, r.Owner, r.Count, time.Duration(r.Blocked))
			name, owner := "monitor", "owner 0"
			switch {
			case r.Waiter == "Contention$Monitor.enter" && r.Class == "Contention$Gate":
			case r.Waiter == "Contention$Lock.enter" && r.Class == "java.util.concurrent.locks.ReentrantLock$NonfairSync":
				name, owner = "lock", "owner 1"
			default:
				continue // the program's output, say
			}
			if own[name] -= r.Count; own[name] < 0 || r.OwnerThread != "" && r.OwnerThread != owner {
				t.Errorf("%+v; the program counted %d less", r, -own[name])
			}
		}
	}, 8, 11, 17, 21, 25)
}

// TestUnanswering: a JVM that takes no commands is looked at, and one that stands still.
func TestUnanswering(t *testing.T) {
	p := locked(t, jvmtest.Any(t), []string{"-XX:+DisableAttachMechanism"})
	for _, stopped := range []bool{false, true} {
		if stopped {
			if err := syscall.Kill(p.PID(), syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
		}
		code, stdout, stderr := command("threads", fmt.Sprint(p.PID()), "--json")
		var j threadsJSON
		if err := json.Unmarshal([]byte(stdout), &j); err != nil || code != 0 {
			t.Fatalf("stopped %v: code %d, %v: %s", stopped, code, err, stderr)
		}
		if got := circles(j.Deadlocks); !slices.Equal(got, circlesOfLocked) || len(j.Threads) < 20 {
			t.Errorf("stopped %v: %q of %d threads", stopped, got, len(j.Threads))
		}
	}
	if err := syscall.Kill(p.PID(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.CloseStdin()
	if code := p.Wait(); code != 0 {
		t.Errorf("the target ended with %d", code)
	}
}
