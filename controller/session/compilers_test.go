package session

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A labourer is a thread of this process with a name, that works or rests.
type labourer struct {
	tid        int
	rest, ends atomic.Bool
}

func labourerOf(t *testing.T, name string, works bool) *labourer {
	t.Helper()
	l := &labourer{}
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

// crowd has all cores busy until it is dispersed.
func crowd(t *testing.T) (disperse func()) {
	t.Helper()
	var all []*exec.Cmd
	for range 2 * runtime.NumCPU() {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	disperse = func() {
		for _, cmd := range all {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		all = nil
	}
	t.Cleanup(disperse)
	return disperse
}

// mayFavour skips a test that takes CAP_SYS_NICE.
func mayFavour(t *testing.T) {
	t.Helper()
	g, err := guardThread(os.Getpid(), unix.Gettid(), 0)
	if err != nil {
		t.Skip("this takes CAP_SYS_NICE:", err)
	}
	g.end()
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
	mayFavour(t)
	pid := os.Getpid()
	disperse := crowd(t)
	c2 := labourerOf(t, "C2 CompilerThread0", true)
	before := niceOf(t, c2.tid)
	c := newCompilers(pid, threadsOf(pid))
	if c == nil {
		t.Fatal("no compiler threads")
	}
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		c.look(false)
		if n := niceOf(t, c2.tid); n != before {
			t.Fatalf("nice %d, though nothing was redefined", n)
		}
	}
	c.redefined()
	hurried := func(l *labourer) func() bool {
		return func() bool {
			c.look(false)
			return niceOf(t, l.tid) == favourNice
		}
	}
	eventually(t, "it is hurried", hurried(c2))
	c.look(true)
	if n := niceOf(t, c2.tid); n != before {
		t.Errorf("nice %d while threads wait for a redefinition", n)
	}
	eventually(t, "it is hurried again", hurried(c2))

	// A thread that the hurried one begins has its priority.
	c1 := labourerOf(t, "C1 CompilerThread9", false)
	if err := unix.Setpriority(unix.PRIO_PROCESS, c1.tid, favourNice); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other is known", func() bool {
		c.look(false)
		_, known := c.work[c1.tid]
		return known
	})
	c.look(true)
	if n := niceOf(t, c1.tid); n != before {
		t.Errorf("the thread that it has begun: nice %d", n)
	}
	disperse()
	c2.rest.Store(true)
	eventually(t, "both have their priority back", func() bool {
		c.look(false)
		return niceOf(t, c1.tid) == before && niceOf(t, c2.tid) == before
	})
	if !c.ever || c.on {
		t.Errorf("ever %v, on %v", c.ever, c.on)
	}
}

// TestLinger: after a session in which the compiler was hurried a guard lets it go on,
// until it has little to do or the next session comes.
func TestLinger(t *testing.T) {
	mayFavour(t)
	pid := os.Getpid()
	c2 := labourerOf(t, "C2 CompilerThread0", true)
	before := niceOf(t, c2.tid)
	begin := func() (*compilers, *guard) {
		c := newCompilers(pid, threadsOf(pid))
		if c == nil {
			t.Fatal("no compiler threads, or they have a priority of their own")
		}
		g, err := guardThread(pid, unix.Gettid(), c.usual)
		if err != nil {
			t.Fatal(err)
		}
		return c, g
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	c, g := begin()
	c.ever = true
	c.end(g)
	time.Sleep(3 * time.Second)
	if n := niceOf(t, c2.tid); n != favourNice {
		t.Errorf("nice %d at work", n)
	}
	disperse := crowd(t)
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
	c.end(g)
	if n := niceOf(t, c2.tid); n != favourNice {
		t.Errorf("nice %d, while it may have much to do", n)
	}
	eventually(t, "it has its priority back", func() bool { return niceOf(t, c2.tid) == before })
	eventually(t, "no guard is left", func() bool { return guards(t, pid) == 0 })

	// Without a hurry, or when the controller is killed, at once.
	c, g = begin()
	c.scan()
	c.front.set(true)
	if n := niceOf(t, c2.tid); n != favourNice {
		t.Errorf("nice %d", n)
	}
	c.end(g)
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
