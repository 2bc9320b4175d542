package session

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

const (
	// cpuPeriod is how often threads inside the subgraph are looked at, to begin
	// with. It grows while looking takes more of a core than maxCPUShare.
	cpuPeriod    = 2 * time.Millisecond
	mostPeriod   = 50 * time.Millisecond
	maxCPUShare  = 0.02
	lately       = 200 * time.Millisecond
	learnThreads = time.Second // how often a thread dump may be taken for new ones
)

// A cpuSampler finds out how long the target's threads compute where. The target
// does nothing for it: now and then the controller reads how long each thread
// that is inside has been on a core so far (/proc/PID/task/TID/schedstat) and
// gives what came since the last look to the node at which its cursor is, as
// papers/001 section 3.2 spreads the time of samples. That is right on average:
// a node is found in proportion to the time spent there.
//
// What is not told: virtual threads, whose carriers change. One sample is as
// coarse as the kernel's own accounting, a scheduler tick (1 to 4 ms).
type cpuSampler struct {
	s       *Session
	threads map[int64]*cpuThread // by Java's id
	learned time.Time
	unknown bool // a thread is inside whose id nobody knows

	mu      sync.Mutex
	nodes   map[uint32]cct.Sample // of the recording that is on
	samples int64
	virtual int64 // looks at virtual threads, which say nothing

	period    time.Duration
	cpu, wall time.Duration
	epoch     uint32
}

// A cpuThread is one thread of the target. ran is its time on a core at the last
// look.
type cpuThread struct {
	stat   *os.File
	ran    time.Duration
	at     time.Time
	inside time.Time // when it was seen inside last
}

// startCPU begins sampling; it ends with the session.
func (s *Session) startCPU() {
	s.cpu = &cpuSampler{s: s, threads: map[int64]*cpuThread{}, nodes: map[uint32]cct.Sample{}, period: cpuPeriod}
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		s.cpu.run()
	}()
}

func (c *cpuSampler) run() {
	defer func() {
		for _, t := range c.threads {
			t.close()
		}
	}()
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case <-c.s.ctx.Done():
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
		if c.unknown && time.Since(c.learned) > learnThreads {
			c.learn()
		}
		wait.Reset(time.Duration(float64(period) * (0.75 + rand.Float64()/2)))
	}
}

// look reads the threads that are inside once.
func (c *cpuSampler) look(now time.Time) (inside bool) {
	d := c.s.data
	tag, epoch := d.load(wire.HTag), d.load32(wire.HEpoch)
	c.mu.Lock()
	defer c.mu.Unlock()
	if epoch != c.epoch {
		c.epoch, c.nodes, c.samples, c.virtual = epoch, map[uint32]cct.Sample{}, 0, 0
	}
	n := min(d.load(wire.HNextRecord), wire.Records)
	for i := int64(1); tag != 0 && i < n; i++ {
		r := wire.OffRecords + i<<wire.RecordShift
		cursor, key := d.load(r+wire.RCursor), d.load(r+wire.RKey)
		if cursor == 0 || (key^tag)>>wire.IndexBits != 0 {
			continue
		}
		inside = true
		if d.load32(r+wire.RFlags)&wire.RVirtual != 0 {
			c.virtual++
			continue
		}
		t := c.threads[key&(1<<wire.IndexBits-1)]
		if t == nil {
			c.unknown = true
			continue
		}
		ran, ok := t.read()
		if !ok {
			delete(c.threads, key&(1<<wire.IndexBits-1))
			t.close()
			continue
		}
		// After a long time outside, what it has run since says nothing about here.
		if gap := now.Sub(t.at); gap < 4*c.period && d.load(r+wire.RCursor) != 0 {
			k := c.nodes[uint32(cursor)]
			k.Ran += int64(ran - t.ran)
			k.Wall += int64(gap)
			k.Count++
			c.nodes[uint32(cursor)] = k
			c.samples++
		}
		t.ran, t.at, t.inside = ran, now, now
	}
	if tag != 0 {
		// Threads that were inside a moment ago are looked at too, so that what they
		// run outside isn't taken for what they run when they are back.
		for id, t := range c.threads {
			if t.at.Equal(now) || now.Sub(t.inside) > lately {
				continue
			}
			ran, ok := t.read()
			if !ok {
				delete(c.threads, id)
				t.close()
				continue
			}
			t.ran, t.at = ran, now
		}
	}
	return inside
}

// learn takes a thread dump to know new threads: a pause of a millisecond or so.
func (c *cpuSampler) learn() {
	c.learned, c.unknown = time.Now(), false
	ctx, cancel := context.WithTimeout(c.s.ctx, 5*time.Second)
	defer cancel()
	vm := c.s.vm
	if vm == nil { // a program that was launched
		var err error
		if vm, err = attach.Open(ctx, c.s.proc.PID); err != nil {
			c.s.log.Debug("cpu", "error", err)
			return
		}
	}
	dump, err := vm.ThreadDump(ctx)
	if err != nil {
		c.s.log.Debug("cpu", "error", err)
		return
	}
	host, err := attach.HostThreads(c.s.proc.PID)
	if err != nil {
		return
	}
	for id, own := range attach.ThreadIDs(dump) {
		tid, ok := host[own]
		if !ok || c.threads[id] != nil {
			continue
		}
		f, err := os.Open(fmt.Sprintf("/proc/%d/task/%d/schedstat", c.s.proc.PID, tid))
		if err != nil {
			continue
		}
		t := &cpuThread{stat: f}
		if ran, ok := t.read(); ok {
			t.ran, t.at = ran, time.Now()
			c.threads[id] = t
		} else {
			t.close()
		}
	}
}

// read is how long the thread has been on a core so far; false when it has ended.
func (t *cpuThread) read() (time.Duration, bool) {
	var b [64]byte
	n, err := unix.Pread(int(t.stat.Fd()), b[:], 0)
	if err != nil {
		return 0, false
	}
	ns, _, ok := bytes.Cut(b[:n], []byte(" "))
	ran, err := strconv.ParseInt(string(ns), 10, 64)
	return time.Duration(ran), ok && err == nil
}

func (t *cpuThread) close() { t.stat.Close() }

// figures are what was found in the recording of that number: for each node, and
// about the sampling itself.
func (c *cpuSampler) figures(epoch uint32) (map[uint32]cct.Sample, *export.CPU) {
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
