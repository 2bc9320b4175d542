package session

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// compilerThreads are what the JVM's compiler threads are called, as far as the kernel
// keeps names.
var compilerThreads = []string{"C1 CompilerThre", "C2 CompilerThre"}

const (
	hurryLook = 250 * time.Millisecond
	hurryScan = 2 * time.Second // threads come and go
	hurryMost = 2 * time.Minute // after the last redefinition
	hurryCalm = 4               // looks at compilers that have little to do
	hurryPart = 4               // less than a quarter of the time is little
)

// compilers are the target's compiler threads. What is redefined loses its compiled code,
// and so does what it was inlined into. Where all cores are busy the compiler has the
// share of one thread of them, and the program crawls through the interpreter for minutes:
// until the compiler has caught up it goes before others, where it may
// (docs/decisions/0027). It is for the loop.
type compilers struct {
	pid     int
	usual   int32 // nice value of such a thread
	front   precedence
	work    map[int]labour
	on      bool
	ever    bool // they have been hurried
	calm    int
	looked  time.Time
	scanned time.Time
	until   time.Time
}

// labour is how long a thread has run and waited for a core.
type labour struct{ ran, waited time.Duration }

// newCompilers yields nil where there are none, or where they have a priority of
// their own.
func newCompilers(pid int, threads map[string][]int) *compilers {
	c := &compilers{pid: pid, work: map[int]labour{}, usual: favourNice}
	tids := compilersIn(threads)
	relieve(pid, tids)
	for _, tid := range tids {
		if a, err := unix.SchedGetAttr(tid, 0); err == nil && a.Policy == unix.SCHED_NORMAL {
			c.usual = max(c.usual, a.Nice)
		}
	}
	if c.usual <= favourNice {
		return nil
	}
	return c
}

func compilersIn(threads map[string][]int) (tids []int) {
	for _, name := range compilerThreads {
		tids = append(tids, threads[name]...)
	}
	return tids
}

// redefined notes that there is work for the compiler.
func (c *compilers) redefined() {
	if c != nil {
		c.until = time.Now().Add(hurryMost)
	}
}

// look lets the compiler go before others while it has much to do and has to wait for a
// core, but for the time in which threads wait for a redefinition.
func (c *compilers) look(waited bool) {
	if c == nil {
		return
	}
	c.front.set(c.on && !waited)
	now := time.Now()
	if now.Sub(c.looked) < hurryLook || !c.on && now.After(c.until) {
		return
	}
	if now.Sub(c.scanned) > hurryScan {
		c.scan()
		c.scanned = now
	}
	took := now.Sub(c.looked)
	c.looked = now
	busy, starved := false, false
	for tid, before := range c.work {
		w, err := labourOf(fmt.Sprintf("/proc/%d/task/%d", c.pid, tid))
		if err != nil {
			delete(c.work, tid)
			continue
		}
		c.work[tid] = w
		if before == (labour{}) || took > 2*hurryScan {
			continue // nothing to compare with
		}
		waits := w.waited - before.waited
		busy = busy || w.ran-before.ran+waits > took/hurryPart
		starved = starved || waits > took/hurryPart
	}
	if c.calm++; busy {
		c.calm = 0
	}
	c.on = c.on && c.calm < hurryCalm || starved
	c.on = c.on && now.Before(c.until)
	c.ever = c.ever || c.on
	c.front.set(c.on && !waited)
}

// scan finds the threads. One that a hurried one has begun has its priority.
func (c *compilers) scan() {
	c.front.set(false)
	c.front.threads = nil // a number may have become another thread's
	work := map[int]labour{}
	for _, tid := range compilersIn(threadsOf(c.pid)) {
		a, err := unix.SchedGetAttr(tid, 0)
		if err != nil || a.Policy != unix.SCHED_NORMAL {
			continue
		}
		before, known := c.work[tid]
		if !known && c.on && a.Nice == favourNice {
			a.Nice = c.usual
			_ = unix.SchedSetAttr(tid, a, 0) // it may have ended
		}
		work[tid] = before
		c.front.add(tid)
	}
	c.work = work
}

// end has the guard, which is not needed for anything else by now, give the threads
// their priority back: classes were restored, so if there ever was too much for the
// compiler to do, there is again.
func (c *compilers) end(g *guard) {
	if c == nil || !c.ever {
		g.end()
		return
	}
	c.scan()
	c.front.set(true)
	g.linger()
}

// labourOf reads what a thread has done from its folder under /proc.
func labourOf(task string) (w labour, err error) {
	b, err := os.ReadFile(filepath.Join(task, "schedstat"))
	if err != nil {
		return w, err
	}
	_, err = fmt.Sscan(string(b), &w.ran, &w.waited)
	return w, err
}
