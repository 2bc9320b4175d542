package priority

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// A worker is a thread of this process with a name, that works or rests.
type worker struct {
	tid        int
	rest, ends atomic.Bool
}

func workerOf(t *testing.T, name string, works bool) *worker {
	t.Helper()
	l := &worker{}
	l.rest.Store(!works)
	tid, ended := make(chan int), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // the thread ends with it
		name := append([]byte(name), 0)
		if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0); err != nil {
			t.Error(err)
		}
		tid <- unix.Gettid()
		for n := 0; !l.ends.Load(); n++ {
			if l.rest.Load() {
				time.Sleep(time.Millisecond)
			}
		}
	}()
	l.tid = <-tid
	t.Cleanup(func() {
		l.ends.Store(true)
		<-ended
	})
	return l
}

// mayRaise skips a test that takes CAP_SYS_NICE.
func mayRaise(t *testing.T) {
	t.Helper()
	g, err := NewGuard(os.Getpid(), unix.Gettid(), 0)
	if err != nil {
		t.Skip("this takes CAP_SYS_NICE:", err)
	}
	g.End()
}

// eventually looks until a condition holds, which looking may bring about.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(40 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 40 s: %s", what)
		}
	}
}

// TestCompilers: a compiler thread goes before others from a redefinition on while it
// has much to do and has to wait, but not while threads wait for a redefinition.
func TestCompilers(t *testing.T) {
	mayRaise(t)
	pid := os.Getpid()
	disperse := jvmtest.Crowd(t)
	c2 := workerOf(t, "C2 CompilerThread0", true)
	before := niceOf(t, c2.tid)
	c := NewCompilers(pid, Threads(pid))
	if c == nil {
		t.Fatal("no compiler threads")
	}
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		c.Look(false)
		if n := niceOf(t, c2.tid); n != before {
			t.Fatalf("nice %d, though nothing was redefined", n)
		}
	}
	c.Redefined()
	raisedNow := func(l *worker) func() bool {
		return func() bool {
			c.Look(false)
			return niceOf(t, l.tid) == Nice
		}
	}
	eventually(t, "it is hurried", raisedNow(c2))
	c.Look(true)
	if n := niceOf(t, c2.tid); n != before {
		t.Errorf("nice %d while threads wait for a redefinition", n)
	}
	eventually(t, "it is hurried again", raisedNow(c2))

	// A thread that the hurried one begins has its priority.
	c1 := workerOf(t, "C1 CompilerThread9", false)
	if err := unix.Setpriority(unix.PRIO_PROCESS, c1.tid, Nice); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other is known", func() bool {
		c.Look(false)
		_, known := c.work[c1.tid]
		return known
	})
	c.Look(true)
	if n := niceOf(t, c1.tid); n != before {
		t.Errorf("the thread that it has begun: nice %d", n)
	}
	disperse()
	c2.rest.Store(true)
	eventually(t, "both have their priority back", func() bool {
		c.Look(false)
		return niceOf(t, c1.tid) == before && niceOf(t, c2.tid) == before
	})
	if !c.ever || c.on {
		t.Errorf("ever %v, on %v", c.ever, c.on)
	}
}

// TestLinger: after a session in which the compiler was hurried a guard lets it go on,
// until it has little to do or the next session comes.
func TestLinger(t *testing.T) {
	mayRaise(t)
	pid := os.Getpid()
	c2 := workerOf(t, "C2 CompilerThread0", true)
	before := niceOf(t, c2.tid)
	begin := func() (*Compilers, *Guard) {
		c := NewCompilers(pid, Threads(pid))
		if c == nil {
			t.Fatal("no compiler threads, or they have a priority of their own")
		}
		g, err := NewGuard(pid, unix.Gettid(), c.Nice())
		if err != nil {
			t.Fatal(err)
		}
		return c, g
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	c, g := begin()
	c.ever = true
	c.End(g)
	time.Sleep(3 * time.Second)
	if n := niceOf(t, c2.tid); n != Nice {
		t.Errorf("nice %d at work", n)
	}
	disperse := jvmtest.Crowd(t)
	from := time.Now()
	c, g = begin() // has the first guard end, at once
	if n := niceOf(t, c2.tid); n != before {
		t.Errorf("nice %d in the next session", n)
	}
	t.Log("relieved after", time.Since(from))
	eventually(t, "one guard is left", func() bool { return guards(t, pid) == 1 })
	disperse()
	c2.rest.Store(true)
	c.ever = true
	c.End(g)
	if n := niceOf(t, c2.tid); n != Nice {
		t.Errorf("nice %d, while it may have much to do", n)
	}
	eventually(t, "it has its priority back", func() bool { return niceOf(t, c2.tid) == before })
	eventually(t, "no guard is left", func() bool { return guards(t, pid) == 0 })

	// Without a hurry, or when the controller is killed, at once.
	c, g = begin()
	c.scan()
	c.front.Set(true)
	if n := niceOf(t, c2.tid); n != Nice {
		t.Errorf("nice %d", n)
	}
	c.End(g)
	if n := niceOf(t, c2.tid); n != before {
		t.Errorf("nice %d after the end", n)
	}
}

// guards are how many linger for a process.
func guards(t *testing.T, pid int) (n int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil {
			if _, _, _, ok := parseGuard(b, pid); ok {
				n++
			}
		}
	}
	return n
}

// TestParseGuard tells guards of a process from those of another.
func TestParseGuard(t *testing.T) {
	line := func(s string) []byte { return []byte(strings.ReplaceAll(s, " ", "\x00")) }
	tid, nice, usual, ok := parseGuard(line("sh -c script "+guardName+" 12 -10 34 0 5 "), 12)
	if !ok || tid != 34 || nice != 0 || usual != 5 {
		t.Error(tid, nice, usual, ok)
	}
	for _, other := range []string{"sh -c script " + guardName + " 123 -10 34 0 5 ", "sh -c script " + guardName + " 12 -10 34 ", "sh rivulet 12 -10 34 0 5 ", ""} {
		if _, _, _, ok := parseGuard(line(other), 12); ok {
			t.Errorf("%q", other)
		}
	}
}
