package clock

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

const (
	// Period is the tick clock's mean period to begin with. It grows while
	// keeping the clock takes more of a core than maxShare.
	Period    = 150 * time.Microsecond
	maxPeriod = 2 * time.Millisecond
	maxShare  = 0.05
	// idlePeriod is how often the clock moves, and somebody looks, while no
	// thread is inside the subgraph.
	idlePeriod = time.Millisecond
	// lookEvery is how many ticks without a thread inside are waited for one.
	lookEvery = 32
	longGap   = time.Millisecond
)

// A Ticker keeps the tick clock: a word of the data file that the target's
// probes read instead of System.nanoTime. It sleeps with a period that varies
// by a quarter, so that no program is in step with it.
//
// [Ticker.Run] is one goroutine; the other methods are safe for concurrent use with it.
type Ticker struct {
	data Ticked
	now  func() int64

	mu      sync.Mutex // held for each tick's bookkeeping, and by who asks for the figures
	ticks   int64
	between time.Duration // sum of the times before ticks at which threads were inside
	squares float64       // sum of their squares, ns²
	spread  *hdrhistogram.Histogram
	longest time.Duration
	gaps    int64
	cpu     time.Duration
	wall    time.Duration
}

// Ticked is where the clock's word lies, [shm.File].
type Ticked interface {
	Tick(now int64)  // writes the word, ns of the target's nanoTime
	AnyInside() bool // whether a thread is inside the subgraph
}

// NewTicker makes a tick clock that shows now, the target's System.nanoTime, ns.
func NewTicker(data Ticked, now func() int64) *Ticker {
	data.Tick(now())
	return &Ticker{data: data, now: now, spread: hdrhistogram.New(1, int64(10*time.Second), 2)}
}

// Run ticks until ctx is done. It takes an OS thread for itself: Go's own
// timers are a millisecond coarse.
func (k *Ticker) Run(ctx context.Context) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// 1 ns of slack instead of 50 µs; it belongs to this thread.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	defer func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 50_000, 0, 0, 0) }()

	period, inside, seen := float64(Period), false, false // the one in the window before, the other in this one
	last := k.now()
	begin, beginCPU, windowTicks := last, threadCPU(), 0
	for ctx.Err() == nil {
		pause := float64(idlePeriod)
		if inside {
			pause = period
		}
		Sleep(time.Duration(pause * (0.75 + rand.Float64()/2)))
		now := k.now()
		k.data.Tick(now)
		if k.data.AnyInside() { // what lies between those that threads see is what a time's error is of
			seen = true
			k.note(time.Duration(now - last))
		}
		last = now
		if windowTicks++; inside && windowTicks < lookEvery {
			continue
		}
		cpu, wall := threadCPU()-beginCPU, time.Duration(now-begin)
		if inside {
			k.mu.Lock()
			k.cpu += cpu
			k.wall += wall
			k.mu.Unlock()
			period = adapt(period, cpu, wall)
		}
		inside, seen = seen, false
		begin, beginCPU, windowTicks = now, threadCPU(), 0
	}
}

// note enters the time since the last tick.
func (k *Ticker) note(gap time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ticks++
	k.between += gap
	k.squares += float64(gap) * float64(gap)
	k.longest = max(k.longest, gap)
	_ = k.spread.RecordValue(int64(gap)) // one beyond its range is in longest
	if gap > longGap {
		k.gaps++
	}
}

// Forget has the figures begin anew: a recording begins.
func (k *Ticker) Forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ticks, k.between, k.squares, k.longest, k.gaps, k.cpu, k.wall = 0, 0, 0, 0, 0, 0, 0
	k.spread.Reset()
}

// adapt moves the period towards the share of a core that is allowed.
func adapt(period float64, cpu, wall time.Duration) float64 {
	if wall <= 0 {
		return period
	}
	share := float64(cpu) / float64(wall)
	period *= math.Min(1.5, math.Max(0.9, share/maxShare))
	return math.Min(float64(maxPeriod), math.Max(float64(Period), period))
}

// Figures says how the clock went; nil if no thread was ever inside. It may be
// called while it runs.
func (k *Ticker) Figures() *export.Tick {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ticks == 0 {
		return nil
	}
	t := &export.Tick{
		Period:  float64(k.between) / float64(k.ticks),
		P50:     float64(k.spread.ValueAtQuantile(50)),
		P99:     float64(k.spread.ValueAtQuantile(99)),
		Longest: float64(k.longest),
		Gaps:    k.gaps,
		Ticks:   k.ticks,
	}
	if k.between > 0 {
		t.Weighted = k.squares / float64(k.between)
	}
	if k.wall > 0 {
		t.Share = float64(k.cpu) / float64(k.wall)
	}
	return t
}

// Sleep sleeps for a time of which Go's own timers are too coarse. Woken early it returns early.
func Sleep(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil) // woken early
}

func threadCPU() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
