package spec

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/filter"
)

// A Recording says what to record. The zero value of each field except Roots, Scheme
// and Observe is its default. In JSON it has the names of [Options].
type Recording struct {
	Roots      []string      // pkg.Class.method, or with a descriptor, or a pattern of such (package filter)
	Scheme     string        // one of Schemes, or SchemeAuto; "" is "C"
	Observe    time.Duration // how long the target is observed, with SchemeAuto and "D"
	Patience   time.Duration // how long a root call waits for probes in all; 0 is what suits the target
	Clock      string        // "tick" or "precise"; "" is tick
	UntilCalls int64         // end when root calls have returned so often; 0 is never
	Every      int64         // record one of so many root calls; 0 and 1 record each
	Overhead   float64       // the slow-down that is allowed, 0.05 for 5 %; 0 is any
	Wait       bool          // wait for a root whose class nobody knows
	Fold       bool          // fold recursion: a method that is on the path already goes on in its node
	Modes      []ModeRule
	CPU        bool     // sample the time that threads are on a core
	Count      []string // metrics that are recorded beside calls and time (package metric)

	// Events records the begin and end of each invocation, too (package event).
	// Slowest keeps so many of the slowest root invocations, of those that took
	// longer than Over; Timeline so many slices of threads' time; Stream so many of
	// the first events. Each of the three implies Events, see [Recording.HasEvents].
	Events   bool
	Slowest  int
	Over     time.Duration
	Timeline int
	Stream   int

	// Warmup is a time, WarmupCalls a number of root invocations, after which all that
	// was recorded is forgotten once. At most one of them is set.
	Warmup      time.Duration
	WarmupCalls int64

	// Follow records the execution of tasks that are handed over inside the
	// subgraph, on whatever thread, below the node that handed them over.
	Follow bool

	Agents bool       // the code of agents that the JVM was started with gets probes, too
	Filter filter.Set // which methods are instrumented; roots always are

	// Natives says which native methods are recorded, by probes where they are called:
	// one of the Natives constants, "" is NativesOn.
	Natives string

	// RootTimes says whether root calls are counted by how long they took, and the slowest
	// ones kept: "on", the default, or "off".
	RootTimes string

	// Leaves says whether short leaf methods are only counted, so that their time goes
	// to the caller: one of the Leaves constants, "" is LeavesCounted. With events, and
	// where a mode rule gives them a clock, they are timed.
	Leaves string

	// Probes says whether the target's compiler is to inline the probes: one of the
	// Probes constants, "" is ProbesAuto.
	Probes string

	// Memory is the size in bytes of the room for trees, chosen when the agent is
	// attached; 0 is the default.
	Memory int64
}

// SchemeAuto leaves the scheme to the session: D where the target's memory tells which
// methods are active and the roots are called often, else A or C (docs/decisions/0032).
const SchemeAuto = "auto"

// DefaultObserve is how long a target is observed unless a recording says otherwise.
const DefaultObserve = 2 * time.Second

// PatienceAuto is the text of the Patience that suits the target.
const PatienceAuto = "auto"

// leastPatience and mostPatience bound [Recording].Patience.
const (
	leastPatience = time.Millisecond
	mostPatience  = 10 * time.Second
)

// patience is the option's text.
func (r *Recording) patience() string {
	if r.Patience == 0 {
		return PatienceAuto
	}
	return duration(r.Patience)
}

// setPatience sets it.
func (r *Recording) setPatience(v string) error {
	if v == PatienceAuto {
		r.Patience = 0
		return nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < leastPatience || d > mostPatience {
		return wrong("patience", v, "give a time from %v to %v, such as 50ms, or %s", leastPatience, mostPatience, PatienceAuto)
	}
	r.Patience = d
	return nil
}

// mostEvery bounds [Recording].Every.
const mostEvery = 1_000_000

// leastOverhead and mostOverhead bound [Recording].Overhead, in percent.
const leastOverhead, mostOverhead = 0.1, 1000.0

// mostObserve bounds it.
const mostObserve = 10 * time.Minute

// Schemes are the names of the schemes.
var Schemes = []string{"A", "B", "C", "D"}

// SchemeNames are the schemes as a sentence has them.
func SchemeNames() string {
	last := len(Schemes) - 1
	return strings.Join(Schemes[:last], ", ") + " and " + Schemes[last]
}

// Values of [Recording].Natives.
const (
	NativesOff = "off"
	NativesOn  = "on"  // native methods that no compiler replaces by code of its own
	NativesAll = "all" // those too, and methods of the JDK that a compiler may replace, such as Math.max
)

// Values of [Recording].Leaves.
const (
	LeavesCounted = "counted"
	LeavesTimed   = "timed"
)

// Values of [Recording].Probes.
const (
	ProbesAuto    = "auto"
	ProbesInlined = "inlined"
	ProbesCalled  = "called"
)

// Default is a recording with the default of each option spelled out, and no roots.
func Default() Recording {
	return Recording{Every: 1, Scheme: SchemeAuto, Observe: DefaultObserve, Clock: "tick", Natives: NativesOn, RootTimes: "on", Leaves: LeavesCounted, Probes: ProbesAuto}
}

// WithDefaults is a copy of r with the default of each option spelled out that is empty.
func (r *Recording) WithDefaults() Recording {
	c, defaults := r.Clone(), Default()
	c.Scheme, c.Clock = cmp.Or(c.Scheme, defaults.Scheme), cmp.Or(c.Clock, defaults.Clock)
	c.Observe, c.Every = cmp.Or(c.Observe, defaults.Observe), cmp.Or(c.Every, defaults.Every)
	c.RootTimes = cmp.Or(c.RootTimes, defaults.RootTimes)
	c.Natives, c.Leaves, c.Probes = cmp.Or(c.Natives, defaults.Natives), cmp.Or(c.Leaves, defaults.Leaves), cmp.Or(c.Probes, defaults.Probes)
	return c
}

// Clone is a copy that shares no memory with r.
func (r *Recording) Clone() Recording {
	c := *r
	c.Count = slices.Clone(r.Count)
	c.Roots, c.Modes, c.Filter.Rules = slices.Clone(r.Roots), slices.Clone(r.Modes), slices.Clone(r.Filter.Rules)
	return c
}

// HasEvents tells whether events are recorded: they are asked for, or implied.
func (r *Recording) HasEvents() bool {
	return r.Events || r.Slowest > 0 || r.Timeline > 0 || r.Stream > 0
}

// HasWarmup tells whether the recording begins with a warm-up.
func (r *Recording) HasWarmup() bool { return r.Warmup > 0 || r.WarmupCalls > 0 }

// ForComparison is what a comparison of schemes can record of r: neither single
// invocations, nor tasks, nor time on a core, nor a warm-up.
func (r *Recording) ForComparison() Recording {
	c := r.Clone()
	c.Count = nil
	c.Events, c.Slowest, c.Over, c.Timeline, c.Stream, c.Follow, c.CPU = false, 0, 0, 0, 0, false, false
	c.Warmup, c.WarmupCalls, c.Overhead = 0, 0, 0
	return c
}

// ValidateForComparison is [Recording.Validate], and refuses what [Recording.ForComparison]
// leaves out. The error is an [*Error].
func (r *Recording) ValidateForComparison() error {
	c := r.ForComparison()
	for _, o := range Options {
		if o.kind != list && o.get(r) != o.get(&c) {
			return wrong(o.Name, "", "a comparison of schemes does not record that; leave it out")
		}
	}
	return r.Validate()
}

// AddRoot adds a root unless it is one already. The error is an [*Error] that says why
// the text can't be a root.
func (r *Recording) AddRoot(text string) error {
	root, err := ParseRoot(text)
	if err == nil && !slices.Contains(r.Roots, root) {
		r.Roots = append(slices.Clip(r.Roots), root)
	}
	return err
}
