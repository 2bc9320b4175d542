package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/threads"
)

// dumpsName is what reports call the source.
const dumpsName = "threaddump"

// mostDumps is how many thread dumps a second are taken at the most: for each, all threads stand still.
const mostDumps = 5

// A dumpSource samples by thread dumps, where the JVM's memory may not be read. Methods have no descriptors,
// and a thread is only seen where it can be stopped. Of time on a core, the operating system's
// figures say how much a thread used between two dumps; it is given to where the second finds it.
type dumpSource struct {
	vm      *attach.VM
	o       sampler.Options
	begun   time.Time
	times   map[int]time.Duration // of threads, at the last dump
	methods map[stack.Method]*stack.Method

	mu    sync.Mutex
	stats sampler.Stats
}

// openDumps begins. why says what is not possible; it may be nil.
func openDumps(ctx context.Context, pid int, o sampler.Options, why error) (*dumpSource, error) {
	vm, err := attach.Open(ctx, pid)
	if err != nil {
		return nil, err
	}
	d := &dumpSource{vm: vm, o: o, begun: time.Now(), methods: map[stack.Method]*stack.Method{}}
	d.stats = sampler.Stats{Source: dumpsName, Mode: export.CPUMode, Hz: min(max(o.Hz, 1), mostDumps), NonSafepoints: true}
	if why != nil {
		d.stats.NoPerf = why.Error()
	}
	if o.Wall {
		d.stats.Mode = export.WallMode
	}
	return d, nil
}

// Run implements sampling.
func (d *dumpSource) Run(ctx context.Context, f func([]stack.Stack)) error {
	period := time.Second / time.Duration(d.stats.Hz)
	t := time.NewTicker(period)
	defer t.Stop()
	pid, begun, last := d.vm.Process().PID, time.Now(), time.Now()
	d.times, _ = attach.ThreadTimes(pid)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		dump, err := d.vm.ThreadDump(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			if errors.Is(err, attach.ErrExited) || d.vm.Alive() != nil {
				return fmt.Errorf("process %d has ended: %w", pid, os.ErrProcessDone)
			}
			return err
		}
		times, err := attach.ThreadTimes(pid)
		if err != nil {
			return fmt.Errorf("process %d has ended: %w", pid, os.ErrProcessDone)
		}
		now := time.Now()
		batch := d.stacks(threads.Parse(dump), times, now.Sub(last), monotonic())
		last, d.times = now, times
		if len(batch) > 0 {
			f(batch)
		}
		d.mu.Lock()
		st := &d.stats
		st.Samples, st.Java, st.Complete = st.Samples+int64(len(batch)), st.Java+int64(len(batch)), st.Complete+int64(len(batch))
		st.Elapsed = time.Since(begun)
		if st.First == 0 && len(batch) > 0 {
			st.First = time.Since(d.begun)
		}
		d.mu.Unlock()
	}
}

// Stats implements sampling.
func (d *dumpSource) Stats() sampler.Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stats
}

// Close implements sampling. Nothing is to be closed.
func (d *dumpSource) Close() error { return nil }

// stacks are the samples of one dump, for the time since the one before. A thread that was on a core for a part of it
// has two.
func (d *dumpSource) stacks(all []threads.Thread, times map[int]time.Duration, passed time.Duration, now int64) []stack.Stack {
	var out []stack.Stack
	for i := range all {
		t := &all[i]
		if t.Virtual || len(t.Stack) == 0 || d.o.Threads != nil && !d.o.Threads(t.Name) {
			continue
		}
		ran := time.Duration(0)
		if before, known := d.times[t.NID]; known {
			ran = min(max(times[t.NID]-before, 0), passed)
		}
		s := stack.Stack{Time: now, TID: t.NID, Thread: t.Name, Java: true, Complete: true, Frames: d.frames(t.Stack)}
		if ran > 0 {
			on := s
			on.State, on.Weight = stack.Running, int64(ran)
			out = append(out, on)
		}
		if d.o.Wall && ran < passed {
			s.State, s.Weight = stateOf(t), int64(passed-ran)
			if t.WaitFor != nil && (s.State == stack.Blocked || s.State == stack.Waiting) {
				s.Monitor = strings.ReplaceAll(t.WaitFor.Class, ".", "/")
			}
			out = append(out, s)
		}
	}
	return out
}

// stateOf is what a dump says that a thread does which is not on a core.
func stateOf(t *threads.Thread) stack.State {
	switch {
	case t.State == "BLOCKED":
		return stack.Blocked
	case strings.Contains(t.Detail, "parking"):
		return stack.Parked
	case strings.Contains(t.Detail, "sleeping"):
		return stack.Sleeping
	case strings.HasSuffix(t.State, "WAITING"):
		return stack.Waiting
	}
	return stack.Unknown
}

// frames reads lines such as "pkg.Class.method(java.base@17.0.15/File.java:12)".
func (d *dumpSource) frames(lines []string) []stack.Frame {
	out := make([]stack.Frame, 0, len(lines))
	for _, l := range lines {
		name, place, _ := strings.Cut(l, "(")
		dot := strings.LastIndexByte(name, '.')
		if dot <= 0 {
			continue
		}
		m := stack.Method{Class: strings.ReplaceAll(name[:dot], ".", "/"), Name: name[dot+1:]}
		p := d.methods[m]
		if p == nil {
			p = &m
			d.methods[m] = p
		}
		f := stack.Frame{Method: p, BCI: -1}
		place = strings.TrimSuffix(place, ")")
		if colon := strings.LastIndexByte(place, ':'); colon >= 0 {
			f.Line, _ = strconv.Atoi(place[colon+1:])
		}
		if strings.HasSuffix(place, "Native Method") {
			f.Kind = stack.JavaNative
		}
		out = append(out, f)
	}
	return out
}
