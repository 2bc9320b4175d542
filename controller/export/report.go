// Package export turns a finished recording into what people and programs
// read: a text report, and JSON of schema 1 (docs/formats-report.md).
//
// A [Report] holds what was measured; both forms are functions of it alone, so
// equal reports give equal bytes. Figures that were not measured are absent,
// never zero. Writing changes nothing in the report; several goroutines may
// write one report at a time.
//
// Trees may be deep: nothing here recurses over them, and the text form
// bounds its depth and its indentation.
//
// The error of a function that writes is the writer's own, wrapped; a report can't be
// refused. Functions that read say what errors they return.
package export

import (
	"fmt"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/event"
	"github.com/rivulet-profiler/rivulet/controller/history"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// ReachCounted is up to where methods within reach are counted under Schemes B and C.
const ReachCounted = 1000

// A Report is a finished recording.
type Report struct {
	Target Target
	Scheme string        // "A", "B"
	Clock  string        // "precise"
	Fold   bool          // recursion was folded while recording
	Roots  []string      // as resolved: "pkg.C.m(I)V"
	Seen   int64         // root calls that there were, where not each was to be recorded; 0: each was
	Time   time.Duration // from arming to the end
	Warmed time.Duration // from arming to where the part that is shown begins: a warm-up, or what a reset forgot
	Ended  string        // why it ended, such as "stopped" or "target exited"
	Notes  []string      // whole sentences that the reader should know

	// Processes are the JVMs whose reports were put together here, see
	// [MergeProcesses]; nil of one JVM.
	Processes []Process

	Tree   *cct.Snapshot // nil reads as empty
	Lookup cct.Lookup    // names of the methods in Tree

	// Sampling says how samples were taken, of a report that is made of samples
	// alone; nil in that of a recording. With it, Scheme, Clock, Roots and all that is
	// about probes are empty.
	Sampling *Sampling

	// CPU says how threads' time on a core was sampled, nil where it was not.
	CPU *CPU

	// Estimates says how samples were taken beside a recording; nil where none were. What they
	// say of contexts is in [cct.Node] Sample and Below.
	Estimates *Sampling

	// Heap says how allocations were sampled beside a recording; nil where they were not. What
	// was met in contexts is in [cct.Node] Heap.
	Heap *HeapSampling

	// Calibration is what the probes cost in this target, nil where it was not
	// measured. With it the tree's times are corrected, and Correction says by
	// how much in all.
	Calibration *Calibration
	Correction  cct.Correction

	Filter *Filter // nil: there was none

	Events   *Events   // nil where a tree alone was recorded
	Slowest  *Slowest  // nil where nobody asked
	Timeline *Timeline // nil where nobody asked
	Marks    *Marks    // nil where there is no timeline

	Pauses *Pauses // nil where nobody watched

	Contention *Contention // nil where nobody asked who waits for locks

	Loads *ClassLoads // nil where no class was loaded meanwhile, or nobody knows

	History *history.History // nil where none was kept

	Stream *event.Dump // nil where nobody asked; no format has it

	// Counted are the methods, by their numbers in Tree, that are only counted:
	// their time is their callers'.
	Counted map[int32]bool

	Instrumented int  // methods that had probes
	Prepared     bool // the JVM was started with an agent, see attach.Process
	Reach        int  // methods that Scheme A would have instrumented when the recording began, with others counted up to [ReachCounted]; 0 where that wasn't known
	Called       bool // the target's compiler was kept from inlining the probes
	Natives      int  // native methods that had probes around their calls instead
	Skipped      []Skipped
	// UncountedMethods are those whose contexts have calls and time, but lack
	// another metric's count, and why.
	UncountedMethods []Skipped
	Late             []Late    // methods recorded late; nil where nobody watched
	Governor         *Governor // nil without a budget
	Gaps             []Gap     // why counts may lack calls, beside what Tree says; see [Report.Exact]
	Redefinition     Redefinition
	Room             *Room         // nil where it is not known, as of several recordings
	Agents           []Agent       // users' scripts that ran beside it
	Processing       time.Duration // of the recorded data, from the end until the report; 0 where it was not measured
}

// A Target is the JVM that was profiled.
type Target struct {
	PID  int
	Java string // "17.0.15"
	VM   string // "OpenJDK 64-Bit Server VM"
	Main string // main class or jar
}

// A Room is the shared memory that trees and events take in the target: how much of
// how much, in bytes.
type Room struct {
	Used int64 `json:"used"`
	Most int64 `json:"most"`
}

// A Skipped is a method within reach that has no probes.
type Skipped struct {
	Method string `json:"method"`
	Reason string `json:"reason"`
}

// A Filter says what was left without probes because the user wished it. The
// time of hidden methods belongs to their callers: see cct.Method.Hidden.
type Filter struct {
	Rules  []string `json:"rules"`  // in order, "--exclude shop.log.**"
	Hidden int      `json:"hidden"` // methods within reach that they hide, as of the analysis
}

// A Calibration is the cost of a probe pair, in ns a call.
type Calibration struct {
	Inner   float64 `json:"inner_ns"`          // charged to the callee before correction
	Outer   float64 `json:"outer_ns"`          // charged to the caller
	Spread  float64 `json:"spread_ns"`         // how far their sum may be off
	Leaf    float64 `json:"leaf_ns,omitempty"` // of a leaf that is only counted, charged to the caller; 0 where it was not measured
	Batches int     `json:"batches"`           // measured; the cheapest counts
	Tick    *Tick   `json:"tick"`              // nil with the precise clock
}

// A CPU says how threads' time on a core was sampled. Virtual counts looks at
// virtual threads, which say nothing.
type CPU struct {
	Samples int64   `json:"samples"`
	Share   float64 `json:"core_share"` // of one core, that looking took
	Virtual int64   `json:"virtual"`
}

// A Tick says how the tick clock went.
type Tick struct {
	Period  float64 `json:"period_ns"`  // mean time between ticks
	Share   float64 `json:"core_share"` // of one core, that keeping the clock took
	P50     float64 `json:"p50_gap_ns"`
	P99     float64 `json:"p99_gap_ns"`
	Longest float64 `json:"longest_gap_ns"`
	Gaps    int64   `json:"gaps_over_1ms"`
	Ticks   int64   `json:"ticks"`
	// Weighted is the mean gap when each counts by its length: that in which a
	// moment lies. Ticks so far apart, without longer or shorter gaps, would leave
	// times as uncertain; 0 in reports of before it was kept.
	Weighted float64 `json:"weighted_gap_ns,omitempty"`
}

// Redefinition says what changing the classes cost. Pointers are nil where
// nothing was measured.
type Redefinition struct {
	Batches      int
	Classes      int
	Time         time.Duration
	LongestPause *time.Duration
	Pauses       *time.Duration // in all
	LongestWait  *time.Duration // of a thread of the program at once: at a method whose callees had no probes, for the targets of a handle, for the bytes of a class
	Analysis     *time.Duration // Rivulet's own: of classes and call sites, and rewriting
}

// figures are what both forms compute from a report's tree.
type figures struct {
	snapshot    *cct.Snapshot
	threads     []*cct.Thread // by thread, records of one put together
	flat        []cct.Flat
	sums        cct.Sums
	invocations int64 // of roots, from outside
	open        int64 // of those, not ended
	suspended   int64
}

// metrics are those that the tree has beside calls, thrown and time; nil for none.
func (r *Report) metrics() *metric.Table {
	if r.Tree == nil {
		return nil
	}
	return r.Tree.Metrics
}

func (r *Report) figures() figures {
	f := figures{snapshot: r.Tree}
	if f.snapshot == nil {
		f.snapshot = &cct.Snapshot{}
	}
	f.threads = f.snapshot.ByThread()
	roots := f.snapshot.Roots()
	f.flat = cct.FlatOf(roots)
	f.sums = cct.Sum(roots)
	for _, t := range f.threads {
		f.invocations += t.RootEntries
		f.open += t.RootEntries - t.RootReturns
		f.suspended += t.Suspended
	}
	return f
}

// noRoom stands for the contexts of calls that found no room in the tree.
const noRoom = "(no room for call paths)"

// noRoomBefore is the same in files of earlier versions.
const noRoomBefore = "(no room for contexts)"

// Method names a method even if nobody knows it.
func (r *Report) Method(id int32) cct.Method {
	if id == cct.Unplaced {
		return cct.Method{Name: noRoom}
	}
	if r.Lookup != nil {
		if m, ok := r.Lookup(id); ok {
			return m
		}
	}
	return cct.Method{Name: fmt.Sprintf("unknown method %d", id), Loader: "unknown"}
}
