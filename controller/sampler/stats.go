package sampler

import (
	"maps"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// Stats say what a sampler did so far.
type Stats struct {
	Source string // "perf", "ptrace", or "anchors": only threads that wait have frames
	Event  string // of Flight Recorder, that samples are; "" if it doesn't sample
	Mode   string // "cpu" or "wall"
	Hz     int

	Samples   int64            // handed over
	Java      int64            // of them of Java's threads, without those of the JVM's own work
	Complete  int64            // of Java: the walk reached the thread's first frame
	Heuristic int64            // of Java: a frame was found by a guess that was checked
	NativeTop int64            // began in native code
	Live      int64            // needed words of the running thread, which may be newer
	Lost      int64            // not written by the kernel
	Broken    map[string]int64 // of Java, not complete, by reason

	NonSafepoints bool   // debug info for all places in compiled code (-XX:+DebugNonSafepoints), or not known
	NoPerf        string // why there are no perf events
	NoKernel      bool   // no samples while a thread is in the kernel, for lack of privilege
	Events        int    // perf events, each a descriptor

	StackBytes int // how much of each stack the kernel copies

	Stops     int64         // of threads, to sample them; 0 with perf
	LongStops int64         // of them, of more than a millisecond
	Stop      time.Duration // the longest of them

	Setup    time.Duration // that Open took
	SetupCPU time.Duration
	First    time.Duration // from the begin of Open to when the first sample was handed over; 0: none yet
	Elapsed  time.Duration // since Run began
	CPU      time.Duration // that Run has used, without what samples are handed to
}

// Stats says what was done so far.
func (s *Sampler) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.stats
	out.Broken = maps.Clone(s.stats.Broken)
	return out
}

// count adds a batch to the figures.
func (s *Sampler) count(batch []stack.Stack, elapsed time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := &s.stats
	st.Elapsed = elapsed
	st.Stops, st.LongStops, st.Stop = s.stops.n, s.stops.longs, s.stops.longest
	st.CPU = threadCPU() - s.cpu - s.handing
	if s.perf != nil {
		st.Lost, st.Events = s.lost+s.perf.Lost(), s.perf.Events()
		st.StackBytes = s.stackBytes
	}
	if len(batch) > 0 && st.First == 0 {
		st.First = time.Since(s.begun)
	}
	for i := range batch {
		b := &batch[i]
		st.Samples++
		if !b.Java {
			continue
		}
		st.Java++
		if b.Heuristic {
			st.Heuristic++
		}
		if b.Complete {
			st.Complete++
			continue
		}
		if st.Broken == nil {
			st.Broken = map[string]int64{}
		}
		st.Broken[b.Broken]++
	}
}

func monotonic() int64 { return clock(unix.CLOCK_MONOTONIC) }

func threadCPU() time.Duration { return time.Duration(clock(unix.CLOCK_THREAD_CPUTIME_ID)) }

func processCPU() time.Duration { return time.Duration(clock(unix.CLOCK_PROCESS_CPUTIME_ID)) }

func clock(id int32) int64 {
	var t unix.Timespec
	if unix.ClockGettime(id, &t) != nil {
		return 0
	}
	return t.Nano()
}
