package priority

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// compilerThreads are what the JVM's compiler threads are called, as far as the kernel
// keeps names.
var compilerThreads = []string{"C1 CompilerThre", "C2 CompilerThre"}

const (
	lookEvery  = 250 * time.Millisecond
	scanEvery  = 2 * time.Second // threads come and go
	longest    = 2 * time.Minute // after the last redefinition
	calmLooks  = 4               // looks at compilers that have little to do
	littlePart = 4               // less than a quarter of the time is little
)

// Compilers are the compiler threads of a JVM. A class that is redefined loses its
// compiled code, and so does what it was inlined into. Where all cores are busy a
// compiler has the share of one thread of many, and the program crawls through the
// interpreter for minutes. So from a redefinition until they have caught up,
// compilers that have to wait for a core get priority (docs/decisions/0027).
//
// One goroutine at a time may use it; a nil one has no threads.
type Compilers struct {
	pid     int
	usual   int32 // nice value of such a thread
	front   Boost
	work    map[int]Work
	on      bool
	ever    bool // they have had priority
	calm    int  // looks in a row at which they had little to do
	looked  time.Time
	scanned time.Time
	until   time.Time
}

// NewCompilers finds the compilers of a JVM among its [Threads]. It is nil where there
// are none, or where they have a priority of their own. Guards that linger for
// this JVM are relieved.
func NewCompilers(pid int, threads map[string][]int) *Compilers {
	c := &Compilers{pid: pid, work: map[int]Work{}, usual: Nice}
	tids := CompilersIn(threads)
	relieve(pid, tids)
	for _, tid := range tids {
		if a, err := unix.SchedGetAttr(tid, 0); err == nil && a.Policy == unix.SCHED_NORMAL {
			c.usual = max(c.usual, a.Nice)
		}
	}
	if c.usual <= Nice {
		return nil
	}
	return c
}

// Nice is the nice value that the compilers have by themselves, for [NewGuard].
func (c *Compilers) Nice() int32 {
	if c == nil {
		return Nice
	}
	return c.usual
}

// CompilersIn are those of a JVM's [Threads] that compile.
func CompilersIn(threads map[string][]int) (tids []int) {
	for _, name := range compilerThreads {
		tids = append(tids, threads[name]...)
	}
	return tids
}

// Redefined notes that classes were redefined, so there is work for the compilers.
func (c *Compilers) Redefined() {
	if c != nil {
		c.until = time.Now().Add(longest)
	}
}

// Look gives the compilers priority while they have much to do and have to wait for
// a core, except while threads of the JVM wait for a redefinition (waited). It is
// to be called often: it looks at the threads every 250 ms at the most, and only for
// two minutes after a redefinition.
func (c *Compilers) Look(waited bool) {
	if c == nil {
		return
	}
	c.front.Set(c.on && !waited)
	now := time.Now()
	if now.Sub(c.looked) < lookEvery || !c.on && now.After(c.until) {
		return
	}
	if now.Sub(c.scanned) > scanEvery {
		c.scan()
		c.scanned = now
	}
	took := now.Sub(c.looked)
	c.looked = now
	busy, starved := false, false
	for tid, before := range c.work {
		w, err := WorkOf(fmt.Sprintf("/proc/%d/task/%d", c.pid, tid))
		if err != nil {
			delete(c.work, tid)
			continue
		}
		c.work[tid] = w
		if before == (Work{}) || took > 2*scanEvery {
			continue // nothing to compare with
		}
		waits := w.Waited - before.Waited
		busy = busy || w.Ran-before.Ran+waits > took/littlePart
		starved = starved || waits > took/littlePart
	}
	if c.calm++; busy {
		c.calm = 0
	}
	c.on = c.on && c.calm < calmLooks || starved
	c.on = c.on && now.Before(c.until)
	c.ever = c.ever || c.on
	c.front.Set(c.on && !waited)
}

// scan finds the threads. One that was begun by a thread with priority has inherited it.
func (c *Compilers) scan() {
	c.front.forget() // a number may have become another thread's
	work := map[int]Work{}
	for _, tid := range CompilersIn(Threads(c.pid)) {
		a, err := unix.SchedGetAttr(tid, 0)
		if err != nil || a.Policy != unix.SCHED_NORMAL {
			continue
		}
		before, known := c.work[tid]
		if !known && c.on && a.Nice == Nice {
			a.Nice = c.usual
			_ = unix.SchedSetAttr(tid, a, 0) // it may have ended
		}
		work[tid] = before
		c.front.Add(tid)
	}
	c.work = work
}

// End ends the use of the compilers and of the guard. Classes were restored, so if
// there ever was too much for the compilers to do, there is again: they get
// priority once more, and the guard gives them their own back when they have caught
// up, by itself.
func (c *Compilers) End(g *Guard) {
	if c == nil || !c.ever {
		g.End()
		return
	}
	c.scan()
	c.front.Set(true)
	g.linger()
}
