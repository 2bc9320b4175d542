// Package cputime finds out, from outside, how long a process and its threads are on a core.
package cputime

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/shm"
)

const (
	// cpuPeriod is how often threads inside the subgraph are looked at, to begin
	// with. It grows while looking takes more of a core than maxCPUShare.
	cpuPeriod   = 2 * time.Millisecond
	mostPeriod  = 50 * time.Millisecond
	maxCPUShare = 0.02
	dumpAgain   = time.Second // at least so long between two thread dumps, which name new threads
)

// An Inside finds out how long the target's threads compute where. The target
// does nothing for it: now and then the controller looks at each thread that is
// inside, and gives the time since the last look to the node at which its cursor
// is, as Liang and Viswanathan, "Comprehensive Profiling Support in the Java
// Virtual Machine", section 3.2, do with samples: as time on a core if the
// thread runs (/proc/PID/task/TID/stat), except for the share in which it waited for
// a core meanwhile (schedstat), and as time off one if it sleeps. A node is
// found in proportion to the time spent there, so that is right on average.
//
// What is not told: virtual threads, whose carriers change.
//
// [Inside.Run] is one goroutine; Figures and Computed are safe for concurrent use with it.
type Inside struct {
	pid     int
	vm      *attach.VM // nil for a program that was launched
	data    *shm.File
	log     hclog.Logger
	threads map[int64]*cpuThread // by Java's id
	dumped  time.Time
	unknown bool // a thread is inside whose id nobody knows
	last    time.Time

	mu      sync.Mutex
	nodes   map[uint32]cct.Sample // of the recording that is on
	samples int64
	virtual int64 // looks at virtual threads, which say nothing

	period    time.Duration
	cpu, wall time.Duration
	epoch     uint32
}

// A cpuThread is one thread of the target, and for how long it had run and
// waited for a core when it was last seen running.
type cpuThread struct {
	stat, sched  *os.File
	ran, delayed int64
	calls        []callCPU // the root calls that it was seen in last
}

// A callCPU is what looks at a thread say of one of its root calls.
type callCPU struct {
	began     int64 // on the target's nanoTime
	ran, wall int64 // ns
}

// mostCPUCalls is how many of a thread's are kept: more than looks see until the slowest ones
// are taken out.
const mostCPUCalls = 64

// within adds a look at the root call that began then.
func (t *cpuThread) within(began, gap int64, on float64) {
	last := len(t.calls) - 1
	if last < 0 || t.calls[last].began != began {
		if last+1 == mostCPUCalls {
			t.calls = append(t.calls[:0], t.calls[1:]...)
			last--
		}
		t.calls = append(t.calls, callCPU{began: began})
		last++
	}
	t.calls[last].ran += int64(float64(gap) * on)
	t.calls[last].wall += gap
}

// NewInside looks at the threads of a process that are inside by its data file. vm may be nil: the JVM is then
// opened when a thread has to be known.
func NewInside(pid int, vm *attach.VM, data *shm.File, log hclog.Logger) *Inside {
	return &Inside{pid: pid, vm: vm, data: data, log: log, threads: map[int64]*cpuThread{}, nodes: map[uint32]cct.Sample{}, period: cpuPeriod}
}

// Computed is how much of a root call that took so long, ns, a thread was on a core, where looks
// saw half of it and more. It is safe for concurrent use, and knows nothing on a nil Inside.
func (c *Inside) Computed(thread, began, took int64) (ns int64, ok bool) {
	if c == nil {
		return 0, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.threads[thread]
	if t == nil {
		return 0, false
	}
	for _, k := range t.calls {
		if k.began == began && k.wall >= took/2 {
			return int64(float64(took) * float64(k.ran) / float64(k.wall)), true
		}
	}
	return 0, false
}

// Run looks until ctx is done. It is called once.
func (c *Inside) Run(ctx context.Context) {
	defer func() {
		for _, t := range c.threads {
			t.close()
		}
	}()
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
		}
		begin := time.Now()
		inside := c.look(begin)
		took := time.Since(begin)
		period := c.period
		if !inside {
			period = max(period, 10*time.Millisecond)
		} else {
			c.period = min(mostPeriod, max(cpuPeriod, time.Duration(float64(took)/maxCPUShare)))
		}
		c.cpu += took
		c.wall += took + period
		if c.unknown && time.Since(c.dumped) > dumpAgain {
			c.dump(ctx)
		}
		wait.Reset(time.Duration(float64(period) * (0.75 + rand.Float64()/2)))
	}
}

// look reads the threads that are inside once.
func (c *Inside) look(now time.Time) (inside bool) {
	epoch := c.data.Epoch()
	c.mu.Lock()
	defer c.mu.Unlock()
	if epoch != c.epoch {
		c.epoch, c.nodes, c.samples, c.virtual = epoch, map[uint32]cct.Sample{}, 0, 0
	}
	gap := now.Sub(c.last)
	c.last = now
	c.data.EachInside(func(i shm.Inside) {
		inside = true
		if i.Virtual {
			c.virtual++
			return
		}
		t := c.threads[i.Thread]
		if t == nil {
			c.unknown = true
			return
		}
		began := i.Began()
		on, ok := t.onCore()
		if !ok {
			delete(c.threads, i.Thread)
			t.close()
			return
		}
		if gap > 0 && gap < 4*mostPeriod && i.Still() {
			k := c.nodes[i.Cursor]
			k.Ran += int64(float64(gap) * on)
			k.Wall += int64(gap)
			k.Count++
			c.nodes[i.Cursor] = k
			c.samples++
			if began == i.Began() {
				t.within(began, int64(gap), on)
			}
		}
	})
	return inside
}

// dump takes a thread dump, which names new threads: a pause of a millisecond or so.
func (c *Inside) dump(ctx context.Context) {
	c.dumped, c.unknown = time.Now(), false
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	vm := c.vm
	if vm == nil { // a program that was launched
		var err error
		if vm, err = attach.Open(ctx, c.pid); err != nil {
			c.log.Debug("cpu", "error", err)
			return
		}
	}
	dump, err := vm.ThreadDump(ctx)
	if err != nil {
		c.log.Debug("cpu", "error", err)
		return
	}
	host, err := attach.HostThreads(c.pid)
	if err != nil {
		return
	}
	ids := attach.ThreadIDs(dump)
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, t := range c.threads {
		if _, lives := ids[id]; !lives {
			delete(c.threads, id)
			t.close()
		}
	}
	for id, own := range ids {
		tid, ok := host[own]
		if !ok || c.threads[id] != nil {
			continue
		}
		if t, err := openThread(c.pid, tid); err == nil {
			c.threads[id] = t
		}
	}
}

func openThread(pid, tid int) (*cpuThread, error) {
	dir := fmt.Sprintf("/proc/%d/task/%d/", pid, tid)
	stat, err := os.Open(dir + "stat")
	if err != nil {
		return nil, err
	}
	sched, err := os.Open(dir + "schedstat")
	if err != nil {
		stat.Close()
		return nil, err
	}
	t := &cpuThread{stat: stat, sched: sched}
	t.onCore()
	return t, nil
}

// onCore is the share of the time up to now that the thread was on a core: 0 if
// it sleeps, and otherwise what it ran of the time in which it wanted to since it
// was last seen running. ok is false when it has ended.
func (t *cpuThread) onCore() (share float64, ok bool) {
	var b [512]byte
	n, err := unix.Pread(int(t.stat.Fd()), b[:], 0)
	end := bytes.LastIndexByte(b[:max(n, 0)], ')')
	if err != nil || end < 0 || n < end+3 {
		return 0, false
	}
	if b[end+2] != 'R' {
		return 0, true
	}
	n, err = unix.Pread(int(t.sched.Fd()), b[:], 0)
	if err != nil {
		return 0, false
	}
	f := strings.Fields(string(b[:n]))
	if len(f) < 2 {
		return 1, true // a kernel without these figures
	}
	ran, err1 := strconv.ParseInt(f[0], 10, 64)
	delayed, err2 := strconv.ParseInt(f[1], 10, 64)
	if err1 != nil || err2 != nil {
		return 1, true
	}
	dr, dd := ran-t.ran, delayed-t.delayed
	t.ran, t.delayed = ran, delayed
	if dr+dd <= 0 { // the kernel counts in ticks of its own
		return 1, true
	}
	return float64(dr) / float64(dr+dd), true
}

func (t *cpuThread) close() {
	t.stat.Close()
	t.sched.Close()
}

// Figures are what was found in the recording of that number: for each node, and
// about the sampling itself; nil for another recording. It may be called while it runs.
func (c *Inside) Figures(epoch uint32) (map[uint32]cct.Sample, *export.CPU) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if epoch != c.epoch {
		return nil, nil
	}
	k := &export.CPU{Samples: c.samples, Virtual: c.virtual}
	if c.wall > 0 {
		k.Share = float64(c.cpu) / float64(c.wall)
	}
	return c.nodes, k
}
