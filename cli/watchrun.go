package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler/ring"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/watch"
)

// How often a watcher does what.
const (
	judgeEvery = time.Second
	flushEvery = 5 // times judgeEvery
	sayEvery   = time.Minute
	mostQueued = 8 // events that wait for their captures
)

// A watcher watches one JVM.
type watcher struct {
	*app
	pid     int
	process attach.Process
	o       sampleOptions
	f       *watchFlags
	folder  *watch.Folder
	source  sampling
	moves   *moveWatch
	timing  *watchTiming // nil without a rule on times
	events  chan watch.Event

	mu     sync.Mutex // of what follows
	writer *ring.Writer
	engine *watch.Engine
	last   ring.Header
	lost   int64 // of the sampler's, as noted
	cpu    int64
	said   time.Time // when an error was told
	count  int       // events

	collected atomic.Int64 // ns of a core that keeping samples took, on the sampler's thread
}

// watch watches until Ctrl-C, the JVM's end, or some time has gone by.
func (a *app) watch(pid int, o sampleOptions, f *watchFlags) (err error) {
	in := watchInterrupts()
	defer in.stop()
	w := &watcher{app: a, pid: pid, o: o, f: f, events: make(chan watch.Event, mostQueued)}
	if w.process, err = a.backend.inspect(in.first, pid); err != nil {
		return err
	}
	path, root, err := f.folderOf(pid)
	if err != nil {
		return err
	}
	if w.folder, err = watch.Take(path); err != nil {
		if errors.Is(err, watch.ErrWatched) {
			return fmt.Errorf("process %d: %w; rivulet watch ls shows it, and --dir keeps samples in another place", pid, err)
		}
		return err
	}
	defer w.folder.Close()
	if root != "" {
		if err := watch.Forget(root, time.Now()); err != nil {
			a.say("what was kept of JVMs that have ended: %s", oneLine(err.Error()))
		}
	}
	if w.source, err = a.backend.sample(in.first, pid, o.sampler); err != nil {
		return err
	}
	defer w.source.Close()
	if err := w.open(); err != nil {
		return err
	}
	if w.timing, err = w.startTiming(in.first); err != nil {
		return errors.Join(interrupted(in, err), w.writer.Close())
	}
	ctx := in.first
	if f.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.limit)
		defer cancel()
	}
	st := w.source.Stats()
	a.say("sampling %s", howSampled(&st))
	a.say("watching %s (pid %d); the last %v are kept in %s, at most %s", oneLine(export.Clean(w.process.Main)), pid, f.keep, path, export.Bytes(f.bytes))
	ended, err := w.run(ctx)
	if err == nil {
		a.say("%s; %s; rivulet watch show %s makes a report", ended, export.Plural(int64(w.count), "event", "events"), shellWord(w.shown(root)))
	}
	return err
}

// shown is what the user may call the folder.
func (w *watcher) shown(root string) string {
	if root == "" {
		return w.folder.Path
	}
	return fmt.Sprint(w.pid)
}

// open begins to keep samples, and to judge.
func (w *watcher) open() (err error) {
	w.engine = watch.NewEngine(w.f.rules, w.f.again)
	w.writer, err = ring.Create(w.folder.Ring(), ring.ForKeep(w.f.keep, w.f.bytes*3/4), w.header)
	if w.moves = watchMoves(w.pid); w.moves != nil {
		// Twice in a period is enough, and wakes the watcher less.
		w.moves.every = max(w.moves.every, time.Second/time.Duration(2*max(w.source.Stats().Hz, 1)))
		w.moves.soon = w.moves.every
	}
	return err
}

// header says how samples are taken, as of now.
func (w *watcher) header() ring.Header {
	st := w.source.Stats()
	w.last = ring.Header{
		PID: w.pid, Java: w.process.JavaVersion, VM: w.process.VM, Main: w.process.Main, Source: st.Source, Mode: st.Mode, Hz: st.Hz,
		Skewed: !st.NonSafepoints, Physical: !st.NonSafepoints && !w.o.inlined, NoKernel: st.NoKernel,
		Wall: time.Now().UnixNano(), Mono: monotonic(),
	}
	return w.last
}

// Moved implements mover.
func (w *watcher) Moved(from, until int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writer.Moved(from, until)
}

// run samples, judges and keeps, until the context ends or the JVM does.
func (w *watcher) run(ctx context.Context) (ended string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var others sync.WaitGroup
	others.Go(func() { w.judge(ctx) })
	others.Go(func() { w.capture(ctx) })
	if every := w.engine.Every(); every > 0 {
		others.Go(func() { w.lookForDeadlocks(ctx, every) })
	}
	stop := func() {}
	if w.moves != nil {
		stop = w.moves.run(w)
	}
	err = w.source.Run(ctx, w.take)
	cancel()
	stop()
	others.Wait()
	ended = "stopped"
	if isProcessDone(err) {
		ended, err = "the target has ended", nil
	}
	if w.timing != nil {
		err = errors.Join(err, w.timing.close(ended == "stopped"))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note()
	return ended, errors.Join(err, w.writer.Close())
}

// take keeps a batch of samples.
func (w *watcher) take(batch []stack.Stack) {
	begun := threadCPU()
	if w.moves != nil {
		w.moves.look(w)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.engine.Samples(batch)
	w.wrong(w.writer.Add(batch))
	w.collected.Add(threadCPU() - begun)
}

// wrong tells of an error, at most once a minute: watching goes on.
func (w *watcher) wrong(err error) {
	if err == nil || time.Since(w.said) < sayEvery {
		return
	}
	w.said = time.Now()
	w.say("samples could not be kept: %s; watching goes on", oneLine(err.Error()))
}

// note adds what sampling lost and took since the last time. w.mu is held.
func (w *watcher) note() {
	st := w.source.Stats()
	cpu := int64(st.CPU) + w.collected.Load()
	w.writer.Note(st.Lost-w.lost, cpu-w.cpu)
	w.lost, w.cpu = st.Lost, cpu
}

// judge looks at the rules each second, and writes what was sampled each few.
func (w *watcher) judge(ctx context.Context) {
	t := time.NewTicker(judgeEvery)
	defer t.Stop()
	for n := 1; ; n++ {
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
		used, cores, err := processUse(w.pid)
		times := w.timing.look(ctx, w.f.rules, monotonic())
		w.mu.Lock()
		now := monotonic()
		if err == nil {
			w.engine.CPU(now, used, cores)
		}
		for _, q := range times {
			w.engine.Quantile(now, q.rule, q.time, q.count)
		}
		found := w.engine.Tick(now)
		w.count += len(found)
		if n%flushEvery == 0 {
			w.note()
			w.wrong(w.writer.Flush(now))
		}
		w.mu.Unlock()
		for _, e := range found {
			w.tell(&e)
			select {
			case w.events <- e:
			default:
				w.say("too many events at once: of %q nothing is kept", e.Rule)
			}
		}
	}
}

// lookForDeadlocks asks for thread dumps.
func (w *watcher) lookForDeadlocks(ctx context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	var said time.Time
	for {
		found, err := w.backend.deadlocks(ctx, w.pid)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !isProcessDone(err) && time.Since(said) > sayEvery {
			said = time.Now()
			w.say("threads can't be asked for deadlocks: %s", oneLine(err.Error()))
		}
		if err == nil {
			w.mu.Lock()
			w.engine.Deadlock(monotonic(), deadlockText(found))
			w.mu.Unlock()
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

// tell writes an event.
func (w *watcher) tell(e *watch.Event) {
	w.mu.Lock()
	at := time.Unix(0, w.last.Clock(e.At))
	w.mu.Unlock()
	var err error
	if w.f.asJSON {
		err = writeLine(w.stdout, jsonEvent{Time: at.UTC().Format(time.RFC3339), Event: *e})
	} else {
		_, err = fmt.Fprintf(w.stdout, "%s  %s: %s\n", at.Format(time.TimeOnly), e.Rule, oneLine(e.What))
	}
	if err != nil && !errors.Is(err, unix.EPIPE) {
		w.say("an event could not be told: %s", oneLine(err.Error()))
	}
}

type jsonEvent struct {
	Time string `json:"time"`
	watch.Event
}
