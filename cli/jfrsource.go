package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/attach"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/jfr"
	"github.com/rivulet-profiler/rivulet/controller/sampler"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// jfrName is what reports call the source.
const jfrName = "jfr"

const (
	cpuTimeJDK = 25 // the first one with [jfr.CPUTimeSample]

	// Samples come when a recording ends, so one follows another.
	firstPart = time.Second
	usualPart = 2 * time.Second

	lookAlive  = 100 * time.Millisecond // between looks whether the JVM still runs
	mostEnding = 3 * time.Second        // of a JVM that refuses recordings since it ends
)

// A jfrSource samples by Flight Recorder, where a JVM's memory may not be read: by recordings of two
// seconds each, of which the next one begins before the last one ends, so that nothing is missed. If this
// process is killed, the JVM ends the present one by itself a minute later.
//
// A recording's file has whole chunks, in which the events of recordings of other people lie as well,
// and each chunk is in each recording that was on meanwhile. So chunks are told by their
// begin, and samples by the event's type.
type jfrSource struct {
	vm     *attach.VM
	o      sampler.Options
	event  string
	wanted []attach.EventSetting
	period time.Duration
	begun  time.Time
	offset int64 // of CLOCK_MONOTONIC to the time since 1970, ns

	open   []*attach.Recording // the oldest first
	last   int64               // the ticks at which the last chunk that was read began
	read   bool                // one was
	stacks jfr.Stacks

	mu    sync.Mutex
	stats sampler.Stats
}

// errOnlyRunning says what Flight Recorder can't do.
var errOnlyRunning = errors.New("by Flight Recorder only threads that run are sampled, none that wait")

// openJFR has a JVM begin to record. why says what else is not possible; it may be nil.
func openJFR(ctx context.Context, pid int, o sampler.Options, why error) (*jfrSource, error) {
	if o.Wall || o.Inside != nil {
		return nil, errOnlyRunning
	}
	vm, err := attach.Open(ctx, pid)
	if err != nil {
		return nil, err
	}
	j := &jfrSource{vm: vm, o: o, begun: time.Now(), event: jfr.ExecutionSample}
	j.offset = monotonic() - time.Now().UnixNano()
	// The JVM reads whole milliseconds.
	j.period = max((time.Second / time.Duration(max(o.Hz, 1))).Round(time.Millisecond), time.Millisecond)
	settings := map[string]string{"stackTrace": "true", "period": fmt.Sprintf("%d ms", j.period.Milliseconds())}
	j.wanted = []attach.EventSetting{{Event: "jdk.ActiveSetting"}}
	if vm.Process().Major() >= cpuTimeJDK {
		j.event = jfr.CPUTimeSample
		settings = map[string]string{"stackTrace": "true", "throttle": fmt.Sprintf("%dms", j.period.Milliseconds())}
		j.wanted = append(j.wanted, attach.EventSetting{Event: jfr.CPUTimeSamplesLost})
	}
	j.wanted = append(j.wanted, attach.EventSetting{Event: j.event, Settings: settings})
	j.stats = sampler.Stats{
		Source: jfrName, Event: j.event, Mode: export.CPUMode, Hz: int(time.Second / j.period), NonSafepoints: j.nonSafepoints(ctx),
	}
	if why != nil {
		j.stats.NoPerf = why.Error()
	}
	return j, j.start(ctx)
}

// nonSafepoints tells whether compiled code says of each of its places which method it is of.
func (j *jfrSource) nonSafepoints(ctx context.Context) bool {
	flags, err := j.vm.Flags(ctx)
	f, known := flags["DebugNonSafepoints"] // a flag for diagnosis: listed if those are unlocked
	return err == nil && known && f.Value == "true"
}

// start has the JVM begin another recording. An interrupt doesn't end the waiting for the JVM's answer, since
// then nobody would remove what the JVM has begun.
func (j *jfrSource) start(ctx context.Context) error {
	r, err := j.vm.StartRecordingToExit(context.WithoutCancel(ctx), j.wanted, usualPart)
	if err == nil {
		j.open = append(j.open, r)
	}
	return err
}

// Run implements sampling.
func (j *jfrSource) Run(ctx context.Context, f func([]stack.Stack)) error {
	runtime.LockOSThread() // what it takes is read from this thread's clock
	defer runtime.UnlockOSThread()
	begun, cpu, handing := time.Now(), threadCPU(), int64(0)
	take := func(r *attach.Recording) error {
		batch, lost, err := j.samples(context.WithoutCancel(ctx), r)
		before := threadCPU()
		if len(batch) > 0 {
			f(batch)
		}
		handing += threadCPU() - before
		j.count(batch, lost, time.Since(begun), time.Duration(threadCPU()-cpu-handing))
		return err
	}
	for part := firstPart; ; part = usualPart {
		alive, ended := j.wait(ctx, part), ctx.Err() != nil
		var err error
		if alive && !ended {
			err = j.start(ctx)
		}
		if alive && err == nil {
			r := j.open[0]
			if err = r.Stop(context.WithoutCancel(ctx)); err == nil {
				err = errors.Join(take(r), j.remove(ctx, 1))
			}
		}
		switch {
		case !alive || err != nil && j.ends():
			for _, r := range j.open {
				if r.Left() == nil {
					take(r) //nolint:errcheck // the JVM may have ended while it wrote
				}
			}
			return fmt.Errorf("process %d has ended: %w", j.vm.Process().PID, os.ErrProcessDone)
		case err != nil || ended:
			return err
		}
	}
}

// wait waits for a time, or until the context or the JVM ends. It reports whether the JVM still runs.
func (j *jfrSource) wait(ctx context.Context, d time.Duration) (alive bool) {
	until := time.NewTimer(d)
	defer until.Stop()
	look := time.NewTicker(lookAlive)
	defer look.Stop()
	for {
		if j.gone() {
			return false
		}
		select {
		case <-ctx.Done():
			return !j.gone()
		case <-until.C:
			return !j.gone()
		case <-look.C:
		}
	}
}

func (j *jfrSource) gone() bool { return errors.Is(j.vm.Alive(), attach.ErrExited) }

// ends tells whether the JVM ends, after it has failed to answer.
func (j *jfrSource) ends() bool {
	for until := time.Now().Add(mostEnding); time.Now().Before(until); time.Sleep(lookAlive) {
		if j.gone() {
			return true
		}
	}
	return false
}

// samples are those of a recording that no other one had, in the order of time, and how many the JVM lost.
func (j *jfrSource) samples(ctx context.Context, r *attach.Recording) (out []stack.Stack, lost int64, err error) {
	in := jfr.NewReader(r.File, r.Size, jfr.Options{})
	for {
		c, e := in.Next()
		if e != nil {
			if !errors.Is(e, io.EOF) {
				err = e
			}
			break
		}
		if j.read && c.StartTicks <= j.last {
			continue
		}
		j.read, j.last = true, c.StartTicks
		n, e := j.chunk(ctx, c, &out)
		if lost += n; e != nil {
			err = e
			break
		}
	}
	slices.SortStableFunc(out, func(a, b stack.Stack) int { return cmp.Compare(a.Time, b.Time) })
	return out, lost, err
}

// chunk appends the samples of a chunk.
func (j *jfrSource) chunk(ctx context.Context, c *jfr.Chunk, out *[]stack.Stack) (lost int64, err error) {
	// Somebody else's recording may want more samples: then all get them. The settings are those of all.
	period, err := c.Setting(ctx, j.event, "period")
	if err != nil {
		return 0, err
	}
	each := j.period
	if d, ok := jfr.ParseSpan(period); ok && d > 0 {
		each = min(each, d)
	}
	err = c.Events(ctx, func(t *jfr.Type) bool { return t.Name == j.event || t.Name == jfr.CPUTimeSamplesLost }, func(e *jfr.Event) error {
		if e.Type.Name == jfr.CPUTimeSamplesLost {
			lost += e.Field("lostSamples").Int()
			return nil
		}
		s, ok := j.stacks.Sample(e, each)
		switch {
		case s.Thread == "" && !ok, j.o.Threads != nil && !j.o.Threads(s.Thread):
			return nil
		case !ok:
			s.Broken = "Flight Recorder found no stack"
		}
		s.Time += j.offset
		s.Frames = slices.Clone(s.Frames)
		*out = append(*out, s)
		return nil
	})
	return lost, err
}

// count adds a batch to the figures.
func (j *jfrSource) count(batch []stack.Stack, lost int64, elapsed, cpu time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	st := &j.stats
	st.Lost, st.Elapsed, st.CPU = st.Lost+lost, elapsed, cpu
	if st.First == 0 && len(batch) > 0 {
		st.First = time.Since(j.begun)
	}
	for i := range batch {
		st.Samples, st.Java = st.Samples+1, st.Java+1
		if batch[i].Complete {
			st.Complete++
			continue
		}
		if st.Broken == nil {
			st.Broken = map[string]int64{}
		}
		st.Broken[batch[i].Broken]++
	}
}

// Stats implements sampling.
func (j *jfrSource) Stats() sampler.Stats {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := j.stats
	out.Broken = nil // it is written to; the tree counts them for reports
	return out
}

// remove removes the n oldest recordings from the JVM, with their files.
func (j *jfrSource) remove(ctx context.Context, n int) (err error) {
	for _, r := range j.open[:n] {
		err = errors.Join(err, r.Remove(context.WithoutCancel(ctx)))
	}
	j.open = j.open[n:]
	return err
}

// Close implements sampling: it removes what is left of the recordings.
func (j *jfrSource) Close() error {
	err := j.remove(context.Background(), len(j.open))
	if err != nil && j.gone() {
		return nil
	}
	return err
}
