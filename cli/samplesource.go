package cli

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler"
	"github.com/rivulet-profiler/rivulet/controller/sampler/below"
	"github.com/rivulet-profiler/rivulet/controller/sampler/collect"
	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// A sampling takes samples of one JVM: *sampler.Sampler. Close must be called at the end.
type sampling interface {
	Run(ctx context.Context, f func([]stack.Stack)) error
	Stats() sampler.Stats
	Close() error
}

// sampleOptions say what is sampled, and how it is collected.
type sampleOptions struct {
	sampler sampler.Options
	tree    pcct.Options
	inlined bool     // self time of inlined methods as the JVM guesses it
	roots   []string // methods below which samples are kept; none for all
}

// A sampled is a JVM while it is sampled, or afterwards.
type sampled struct {
	source    sampling
	collector *collect.Collector
	inlined   bool
	late      time.Duration                     // from the command to the opening of the source
	moves     *moveWatch                        // nil if the JVM has no counters
	filter    func([]stack.Stack) []stack.Stack // what is collected; nil for all
	below     *below.Roots                      // whose callers are cut off reports; nil for nobody's
	collected atomic.Int64                      // ns of a core that collecting took
}

// sample looks what a process is, and opens a source of samples of it. begun is when the
// command began.
func (a *app) sample(ctx context.Context, pid int, o sampleOptions, begun time.Time) (*sampled, error) {
	p, err := a.backend.inspect(ctx, pid)
	if err != nil {
		return nil, err
	}
	late := time.Since(begun)
	roots, err := below.New(o.roots)
	if err != nil {
		return nil, err
	}
	source, err := a.backend.sample(ctx, pid, o.sampler)
	if err != nil {
		return nil, err
	}
	o.tree.Present = threadsOf(pid)
	o.tree.Physical = !source.Stats().NonSafepoints && !o.inlined
	target := export.Target{PID: pid, Java: p.JavaVersion, VM: p.VM, Main: p.Main}
	s := &sampled{
		source: source, collector: collect.New(target, o.tree), inlined: o.inlined, late: late, moves: watchMoves(pid),
	}
	if len(o.roots) > 0 {
		s.below, s.filter = roots, roots.Filter
	}
	return s, nil
}

// threadsOf are the numbers of a process's threads; nil if they can't be had.
func threadsOf(pid int) map[int]bool {
	found, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil
	}
	out := map[int]bool{}
	for _, f := range found {
		if id, err := strconv.Atoi(f.Name()); err == nil {
			out[id] = true
		}
	}
	return out
}

// run samples until the context ends, or the target does. It says which, and closes the source.
func (s *sampled) run(ctx context.Context) (ended string, err error) {
	defer s.source.Close()
	if s.moves != nil {
		stop := s.moves.run(s.collector)
		defer stop()
	}
	err = s.source.Run(ctx, func(batch []stack.Stack) {
		begun := threadCPU() // Run keeps to one thread
		if s.moves != nil {
			s.moves.look(s.collector)
		}
		if s.filter != nil {
			batch = s.filter(batch)
		}
		s.collector.Add(batch)
		s.collected.Add(threadCPU() - begun)
	})
	if isProcessDone(err) {
		return "target exited", nil
	}
	return "stopped", err
}

// close ends what was opened and never run.
func (s *sampled) close() error {
	if s.moves != nil {
		s.moves.close()
	}
	return s.source.Close()
}

// report is what was sampled so far.
func (s *sampled) report(ended string) *export.Report {
	st := s.source.Stats()
	from := collect.Source{
		Name: st.Source, Event: st.Event, Mode: st.Mode, Hz: float64(st.Hz), Lost: st.Lost, First: st.First,
		Stop: st.Stop, Stops: st.Stops, Long: st.LongStops, Skewed: !st.NonSafepoints, Physical: !st.NonSafepoints && !s.inlined, NoKernel: st.NoKernel,
	}
	from.Why = whySource(&st)
	if st.First > 0 {
		from.First += s.late
	}
	if st.Elapsed > 0 {
		from.Share = (st.CPU.Seconds() + float64(s.collected.Load())/1e9) / st.Elapsed.Seconds()
	}
	r := s.collector.Report(from, ended)
	if s.below != nil {
		s.below.Cut(r)
	}
	return r
}

// A moveWatch notices collections by the JVM's own counters.
type moveWatch struct {
	file     *attach.CounterFile
	counters *attach.CounterWatch
	names    []string
	every    time.Duration // between looks, while nothing moves
	soon     time.Duration // and after a collection

	mu    sync.Mutex
	at    int64 // of the last look, CLOCK_MONOTONIC ns
	count int64 // of collections then
}

const (
	moveEvery      = 20 * time.Millisecond // 10 µs each time
	moveSoon       = 4 * time.Millisecond  // after a collection: more samples can be compared then
	moveCalm       = 500 * time.Millisecond
	mostCollectors = 8
)

// watchMoves finds the counters of collections; nil if there are none. Then
// entries are less certain, and nothing else.
func watchMoves(pid int) *moveWatch {
	file, err := attach.OpenCounters(pid)
	if err != nil {
		return nil
	}
	counters, err := file.Watch()
	if err != nil {
		file.Close()
		return nil
	}
	w := &moveWatch{file: file, counters: counters, every: moveEvery, soon: moveSoon}
	for i := range mostCollectors {
		if name := fmt.Sprintf("sun.gc.collector.%d.invocations", i); counters.Has(name) {
			w.names = append(w.names, name)
		}
	}
	w.count, w.at = w.read(), monotonic()
	return w
}

func (w *moveWatch) read() int64 {
	if w.counters.Read() != nil {
		return w.count
	}
	n := int64(0)
	for _, name := range w.names {
		n += w.counters.Value(name)
	}
	return n
}

// A mover is told in which pieces of time objects were moved.
type mover interface{ Moved(from, until int64) }

// look tells of collections since the last look, and whether there were any.
func (w *moveWatch) look(c mover) (moved bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, now := w.read(), monotonic()
	if moved = n != w.count; moved {
		c.Moved(w.at, now)
	}
	w.count, w.at = n, now
	return moved
}

// run looks again and again, until it is stopped.
func (w *moveWatch) run(c mover) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTimer(w.every)
		defer t.Stop()
		var moved time.Time
		for {
			select {
			case <-t.C:
				now := time.Now()
				if w.look(c) {
					moved = now
				}
				if now.Sub(moved) < moveCalm {
					t.Reset(w.soon)
				} else {
					t.Reset(w.every)
				}
			case <-quit:
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-done
		w.close()
	}
}

func (w *moveWatch) close() {
	w.counters.Close()
	w.file.Close()
}

func monotonic() int64 { return clockOf(unix.CLOCK_MONOTONIC) }

func threadCPU() int64 { return clockOf(unix.CLOCK_THREAD_CPUTIME_ID) }

func clockOf(id int32) int64 {
	var t unix.Timespec
	if unix.ClockGettime(id, &t) != nil {
		return 0
	}
	return t.Nano()
}

// sampleQuietly samples for a time, or until ctx ends, and shows nothing meanwhile.
func (a *app) sampleQuietly(ctx context.Context, pid int, o sampleOptions, length time.Duration) (*export.Report, error) {
	s, err := a.sample(ctx, pid, o, time.Now())
	if err != nil {
		return nil, err
	}
	if length > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, length)
		defer cancel()
	}
	ended, err := s.run(ctx)
	if err != nil && s.collector.Samples() == 0 {
		return nil, err
	}
	return s.report(ended), nil
}
