package session_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// profile starts the program itself on a target and waits until it records.
func profile(t *testing.T, p *jvmtest.Proc, args ...string) *jvmtest.Proc {
	t.Helper()
	return rivulet(t, append([]string{"profile", fmt.Sprint(p.PID()), "--root", "t.Load.root", "--observe", "300ms", "--format", "json"}, args...)...)
}

// peek opens the data file that a controller has open, so that the agent's
// state can be seen after the controller is gone.
func peek(t *testing.T, controller *jvmtest.Proc) *os.File {
	t.Helper()
	return dataOf(t, controller.PID())
}

func dataOf(t *testing.T, controller int) *os.File {
	t.Helper()
	for range 1000 {
		fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", controller))
		for _, fd := range fds {
			if to, _ := os.Readlink(fd); !strings.HasPrefix(to, "/dev/shm/.rivulet-") {
				continue
			}
			f, err := os.Open(fd)
			if err != nil {
				continue
			}
			t.Cleanup(func() { f.Close() })
			return f
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the controller has no data file")
	return nil
}

// state is a small word of its header.
func state(f *os.File, off int64) uint32 {
	var b [4]byte
	f.ReadAt(b[:], off) //nolint:errcheck // the file has no size yet: 0
	return binary.NativeEndian.Uint32(b[:])
}

// returns are the root invocations that have ended so far.
func returns(f *os.File) (n uint32) {
	for i := int64(1); i < 16; i++ {
		r := wire.OffRecords + i<<wire.RecordShift
		if state(f, r+wire.REpoch) == state(f, wire.HEpoch) {
			n += state(f, r+wire.RReturns)
		}
	}
	return n
}

// until waits for a condition and tells how long it took.
func until(t *testing.T, what string, within time.Duration, f func() bool) time.Duration {
	t.Helper()
	begin := time.Now()
	for !f() {
		if time.Since(begin) > within {
			t.Errorf("%s: not within %v", what, within)
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	return time.Since(begin)
}

// patient is how long things may take that take a second at rest: tests run
// beside others.
const patient = jvmtest.Patience

// ended is what a report says of its end.
func ended(t *testing.T, c *jvmtest.Proc) (reason string, calls int64) {
	t.Helper()
	var r struct {
		Ended string
		Calls int64
	}
	if err := json.Unmarshal([]byte(strings.Join(c.Stdout(), "\n")), &r); err != nil {
		t.Errorf("report: %v\n%s", err, c.Stdout())
	}
	return r.Ended + strings.Join(c.Stderr(), "\n"), r.Calls
}

// TestControllerFaults kills, stops and signals a controller that records
// under load. The target goes on and is restored.
func TestControllerFaults(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Load")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		p := program(t, j, dir, "Load", nil, "classes")
		for _, sig := range []syscall.Signal{unix.SIGKILL, unix.SIGSTOP, unix.SIGHUP, unix.SIGTERM, unix.SIGINT} {
			c := profile(t, p)
			mem := peek(t, c)
			c.WaitError("rivulet: recording")
			until(t, "the root returns", jvmtest.Patience, func() bool { return returns(mem) > 3 })
			time.Sleep(time.Duration(rand.Int64N(int64(300 * time.Millisecond))))
			p.Send("gap")
			p.WaitLine("GAP ")
			c.Signal(sig)
			begin := time.Now()
			until(t, "gate", patient, func() bool { return state(mem, wire.HTag+4) == 0 })
			gate := time.Since(begin)
			until(t, "restored", patient, func() bool { return state(mem, wire.HState) == wire.StateStopped })
			restored := time.Since(begin)
			gap := ask(t, p, "gap", "GAP ")
			t.Logf("%v: silent after %v, restored after %v; longest standstill of the target %d ms", sig, gate, restored, gap)
			if gap > 15_000 { // without a controller its threads wait for two seconds; the rest is a slow machine's
				t.Errorf("%v: the target stood still for %d ms", sig, gap)
			}
			switch sig {
			case unix.SIGKILL:
				c.Wait()
			case unix.SIGSTOP:
				gone(t, p.PID(), patient) // without the controller's help
				c.Signal(unix.SIGCONT)
				if code := c.Wait(); code != 0 {
					t.Errorf("after Ctrl-Z and fg: exit code %d: %s", code, c.Stderr())
				}
				if why, calls := ended(t, c); !strings.Contains(why, "stopped") || calls == 0 {
					t.Errorf("after Ctrl-Z and fg: %d calls, %s", calls, why)
				}
			default:
				if code := c.Wait(); code != 0 {
					t.Errorf("%v: exit code %d: %s", sig, code, c.Stderr())
				}
				if _, calls := ended(t, c); calls == 0 {
					t.Errorf("%v: no calls", sig)
				}
			}
			gone(t, p.PID(), patient)
			if sig == unix.SIGKILL || sig == unix.SIGINT { // else the compiler's may take 30 seconds, and the next session sees to it
				until(t, "all threads' priorities are those of before", patient, func() bool { return niceAsAtFirst(t, p.PID()) })
			}
		}
		p.Send("end")
		if code := p.Wait(); code != 0 {
			t.Errorf("the target ended with %d", code)
		}
	}, 8, 17, 25)
}

// niceAtFirst is what JVMs begin with. Later on, this process's own first thread may be
// one that a session made faster.
var niceAtFirst = func() int32 {
	a, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		panic(err)
	}
	return a.Nice
}()

// niceAsAtFirst tells whether all threads of a JVM have the priority that it began
// with; false where the kernel's list of threads lacks the VM thread, as it may while
// another one ends. A compiler thread may have another for some 30 seconds after the end
// of a session.
func niceAsAtFirst(t *testing.T, pid int) bool {
	t.Helper()
	threads := session.ThreadsOf(pid)
	for _, tids := range threads {
		for _, tid := range tids {
			if a, err := unix.SchedGetAttr(tid, 0); err == nil && a.Nice != niceAtFirst {
				return false
			}
		}
	}
	return len(threads["VM Thread"]) > 0
}

// TestKillAnyTime kills controllers at random moments from their start on.
func TestKillAnyTime(t *testing.T) {
	dir := compiled(t, []string{"-parameters"}, "Load")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		p := program(t, j, dir, "Load", nil, "classes")
		for i := range 7 {
			c := profile(t, p, "--scheme", string("AB"[i%2]))
			time.Sleep(time.Duration(rand.Int64N(int64(1500 * time.Millisecond))))
			c.Signal(unix.SIGKILL)
			c.Wait()
			until(t, "all threads' priorities are those of before", patient, func() bool { return niceAsAtFirst(t, p.PID()) })
			time.Sleep(time.Duration(rand.Int64N(int64(300 * time.Millisecond))))
		}
		begin := time.Now()
		record(t, p, loadRoot)
		t.Logf("attached, recorded and gone %v after the last kill", time.Since(begin))
		gone(t, p.PID(), patient)
		p.Send("reflect")
		if text := p.WaitLine("REFLECT"); !strings.Contains(text, "second") {
			t.Errorf("reflection sees %s", text)
		}
		p.Send("end")
		if code := p.Wait(); code != 0 {
			t.Errorf("the target ended with %d", code)
		}
		time.Sleep(2 * time.Second) // what is left over is only taken for that after a while
		p = program(t, j, dir, "Load", nil)
		record(t, p, loadRoot)
		_, before := traces(p.PID())
		until(t, fmt.Sprintf("files %q gone", before), patient, func() bool {
			for _, f := range before {
				if fi, err := os.Stat(f); err == nil && time.Since(fi.ModTime()) > 10*time.Second {
					return false
				}
			}
			return true
		})
	}, 8, 17, 25)
}

// TestTargetEnds has the target end while it is recorded: killed, and by
// itself.
func TestTargetEnds(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Load")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		for _, how := range []string{"kill", "exit"} {
			p := program(t, j, dir, "Load", nil, "classes")
			c := profile(t, p)
			mem := peek(t, c)
			c.WaitError("rivulet: recording")
			until(t, "the root returns", jvmtest.Patience, func() bool { return returns(mem) > 3 })
			if how == "kill" {
				p.Kill()
			} else {
				p.Send("end")
				if code := p.Wait(); code != 0 {
					t.Errorf("the target ended with %d", code)
				}
			}
			if code := c.Wait(); code != 0 {
				t.Errorf("%s: exit code %d: %s", how, code, c.Stderr())
			}
			if why, calls := ended(t, c); !strings.Contains(why, "exited") || calls == 0 {
				t.Errorf("%s: %d calls, %s", how, calls, why)
			}
		}
	}, 8, 17, 25)
}

// TestSeveralControllers has a second controller come while the first works,
// two at the same instant, and one right after the first was killed.
func TestSeveralControllers(t *testing.T) {
	t.Parallel()
	dir := sources(t, "Load")
	jvmtest.One(t, func(t *testing.T, j jvmtest.JDK) {
		t.Parallel()
		p := program(t, j, dir, "Load", nil)
		s := attached(t, p)
		start(t, s, session.Recording{Roots: loadRoot.Roots, UntilCalls: 1000})
		c := profile(t, p)
		if code := c.Wait(); code != 1 || !strings.Contains(strings.Join(c.Stderr(), " "), session.ErrBusy.Error()) {
			t.Errorf("the second: exit code %d, %s", code, c.Stderr())
		}
		finish(t, s)
		gone(t, p.PID(), patient)

		a, b := profile(t, p, "--until-calls", "50"), profile(t, p, "--until-calls", "50")
		if x, y := a.Wait(), b.Wait(); x+y > 1 {
			t.Errorf("two at the same instant: exit codes %d, %d: %s %s", x, y, a.Stderr(), b.Stderr())
		}

		a = profile(t, p)
		a.WaitError("rivulet: recording")
		a.Signal(unix.SIGKILL)
		a.Wait()
		begin := time.Now()
		b = profile(t, p, "--until-calls", "50")
		if code := b.Wait(); code != 0 {
			t.Errorf("after a kill: exit code %d, %s", code, b.Stderr())
		}
		t.Logf("a new one after a kill: %v", time.Since(begin))
	}, 8, 17, 25)
}
