// Package collect makes reports of samples: it feeds them to a partial calling context
// tree and says how they were taken, how far they can be trusted, and what is wrong
// with them.
package collect

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// A Collector takes samples and makes reports of them. It is safe for concurrent use.
type Collector struct {
	target export.Target
	o      pcct.Options

	mu    sync.Mutex
	begun time.Time // since when samples are collected
	tree  *pcct.Tree
}

// New begins. The time of reports counts from now.
func New(target export.Target, o pcct.Options) *Collector {
	return &Collector{target: target, o: o, begun: time.Now(), tree: pcct.New(o)}
}

// Add takes samples, those of one thread in the order of time.
func (c *Collector) Add(batch []stack.Stack) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range batch {
		c.tree.Add(&batch[i])
	}
}

// Moved is [pcct.Tree.Moved].
func (c *Collector) Moved(from, until int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tree.Moved(from, until)
}

// Target is the JVM that is sampled.
func (c *Collector) Target() export.Target { return c.target }

// Reset forgets all samples so far: the time of reports counts from now.
func (c *Collector) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.o.Present != nil {
		c.o.Present = maps.Clone(c.o.Present)
		for id := range c.tree.Threads() {
			c.o.Present[id] = true
		}
	}
	c.tree, c.begun = pcct.New(c.o), time.Now()
}

// Samples is how many there are.
func (c *Collector) Samples() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tree.Stats().Samples
}

// A Source says how samples are taken, as far as a collector can't know it.
type Source struct {
	Name     string // "perf"
	Event    string // of Flight Recorder, that samples are; may be empty
	Why      string // why this one; may be empty
	Mode     string // [export.CPUMode] or [export.WallMode]
	Hz       float64
	Lost     int64         // samples for which there was no room
	First    time.Duration // from the command to the first sample; 0 if there was none
	Share    float64       // of one core, that sampling takes
	Stop     time.Duration // the longest that a thread was stopped for a sample; 0 if none was
	Stops    int64         // of threads, to sample them
	Long     int64         // of them, of more than a millisecond
	Skewed   bool          // the JVM has debug information at calls only: no -XX:+DebugNonSafepoints
	Physical bool          // see [pcct.Options]
	NoKernel bool          // no samples while a thread is in the kernel
}

// Report is what is known so far. ended says why it ended; "" while it goes on. The
// report doesn't change with later samples.
func (c *Collector) Report(s Source, ended string) *export.Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.report(s, time.Since(c.begun), ended)
}

// ReportOver is Report of samples that were taken over a time, whenever that was.
func (c *Collector) ReportOver(s Source, elapsed time.Duration, ended string) *export.Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.report(s, elapsed, ended)
}

func (c *Collector) report(s Source, elapsed time.Duration, ended string) *export.Report {
	st := c.tree.Stats()
	r := &export.Report{
		Target: c.target, Time: elapsed, Ended: ended, Tree: c.tree.Snapshot(), Lookup: c.tree.Lookup(),
		Sampling: &export.Sampling{
			Source: s.Name, Event: s.Event, Why: s.Why, Mode: s.Mode, Hz: s.Hz, Samples: st.Samples, Complete: st.Complete, Heuristic: st.Heuristic,
			Lost: s.Lost, Seconds: elapsed.Seconds(), First: float64(s.First.Microseconds()) / 1e3, Skewed: s.Skewed, Physical: s.Physical,
			Detached: st.Detached, Purged: st.Purged, Share: s.Share,
		},
		Notes: notes(s, st),
	}
	if counts, piece := r.Tree.Taken.Counts(export.MostPieces); len(counts) > 0 {
		r.Sampling.OverTime = &export.OverTime{Piece: float64(piece) / 1e6, Samples: counts}
	}
	if len(st.Broken) > 0 {
		r.Sampling.Broken = st.Broken
	}
	if s.Mode == export.WallMode {
		r.Sampling.States = map[string]int64{}
		for state, n := range st.States {
			r.Sampling.States[StateName(state)] += n
		}
		r.CPU = &export.CPU{Samples: st.Samples, Share: r.Sampling.Share}
	}
	return r
}

// anchors is the source that sees no thread while it runs Java code.
const anchors = "anchors"

// executionSample is the event that Flight Recorder samples running threads by before JDK 25.
const executionSample = "jdk.ExecutionSample"

// notes say what a reader of the figures should know.
func notes(s Source, st pcct.Stats) []string {
	var out []string
	switch {
	case s.Skewed && s.Physical:
		out = append(out, "The JVM runs without -XX:+DebugNonSafepoints, so it doesn't say which inlined method an instruction is of: "+
			"self time of inlined methods is given to the compiled method that they are inlined into. --inlined shows what the JVM guesses.")
	case s.Skewed:
		out = append(out, "The JVM runs without -XX:+DebugNonSafepoints: self times of inlined methods are not to be trusted, "+
			"since they are given to the next place in the code with debug information. Start it with -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints.")
	}
	if s.Stop > 0 {
		long := "none"
		if s.Long > 0 {
			long = export.Count(s.Long)
		}
		out = append(out, fmt.Sprintf("Threads were stopped for a moment, %s in all, %s of them for more than a millisecond; the longest took %s.",
			export.Plural(s.Stops, "time", "times"), long, export.Duration(int64(s.Stop))))
	}
	if s.Name == anchors {
		out = append(out, "Threads that run Java code could not be sampled: only those that wait, or are in native code, have frames.")
	}
	if s.Event == executionSample {
		out = append(out, "Flight Recorder samples a few threads at a time, and not each time: samples stand for more time than is shown, and shares are right.")
	}
	if s.NoKernel {
		out = append(out, "Time in the kernel is not sampled: that needs kernel.perf_event_paranoid of 1 or less, or root.")
	}
	if total := st.Samples + s.Lost; s.Lost > 0 && float64(s.Lost) > 0.01*float64(total) {
		out = append(out, fmt.Sprintf("%.1f %% of the samples were lost: sample with a lower --hz.", 100*float64(s.Lost)/float64(total)))
	}
	return out
}

// StateName is what a state is called in reports.
func StateName(s stack.State) string {
	if int(s) >= len(export.StateNames) {
		return export.StateNames[stack.Unknown]
	}
	return export.StateNames[s]
}
