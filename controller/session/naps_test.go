package session_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/session"
	"github.com/rivulet-profiler/rivulet/jvmside/jvmtest"
)

// TestNaps has the session answer nobody while 300 threads wait until a method's callees have
// probes. They leave the processors to those that carry it out: all of them together may wake
// up so often as one nap of 30 ms each allows, and the 12 of them that have a box as naps of
// 2 ms do. Twice as often is allowed.
func TestNaps(t *testing.T) {
	t.Parallel()
	p := program(t, jvmtest.Need(t, 17), sources(t, "Traps"), "Traps", nil, "crowd")
	s := attached(t, p)
	start(t, s, session.Recording{Roots: []string{"t.Traps.crowd"}, Scheme: "B", Wait: true})
	gaveUp := false
	s.Block(func() { // on the session's own goroutine: nothing may end it here
		p.Send("go")
		// A dozen naps of growing length, and a thread has come to the longest.
		for threads, least := sleeps(p.PID()); least < 15; threads, least = sleeps(p.PID()) {
			if gaveUp = len(threads) == 0; gaveUp {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		begin := time.Now()
		before, _ := sleeps(p.PID())
		time.Sleep(time.Second)
		after, _ := sleeps(p.PID())
		took := time.Since(begin)
		naps := int64(0)
		for tid, n := range after {
			naps += n - before[tid]
		}
		most := 2 * (300*int64(1+took/(30*time.Millisecond)) + 12*int64(1+took/(2*time.Millisecond)))
		t.Logf("%d threads woke up %d times in %v", len(after), naps, took)
		if naps > most {
			t.Errorf("more than %d times", most)
		}
	})
	if gaveUp {
		t.Skip("the threads have given up before all of them had waited for a while")
	}
	p.WaitLine("OK")
	stopped(t, s)
}

// sleeps are how often the threads of a crowd have gone to sleep, by their numbers, and the
// least of that.
func sleeps(pid int) (threads map[int]int64, least int64) {
	threads = map[int]int64{}
	dir := fmt.Sprintf("/proc/%d/task/", pid)
	tasks, _ := os.ReadDir(dir)
	for _, task := range tasks {
		b, err := os.ReadFile(dir + task.Name() + "/status")
		if err != nil || !strings.HasPrefix(string(b), "Name:\tcrowd-") {
			continue
		}
		tid, _ := strconv.Atoi(task.Name())
		_, n, _ := strings.Cut(string(b), "\nvoluntary_ctxt_switches:\t")
		n, _, _ = strings.Cut(n, "\n")
		threads[tid], _ = strconv.ParseInt(n, 10, 64)
		if least = min(least, threads[tid]); len(threads) == 1 {
			least = threads[tid]
		}
	}
	return threads, least
}
