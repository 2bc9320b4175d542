package export

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// ErrMixed is wrapped by errors about reports that can't be put together or
// compared, since one is of samples and the other is not.
var ErrMixed = errors.New("one is of samples, the other of a recording")

// sampleKind is the field "kind" of a report that is made of samples.
const sampleKind = "sample"

// Modes of sampling.
const (
	CPUMode  = "cpu"  // samples are of time on a core
	WallMode = "wall" // samples are of all threads, whatever they do
)

// A Sampling says how the samples were taken that a report is made of. In such a
// report a node's Calls are entries: the activations that samples met, which is a
// lower bound of the calls. Its Self time is what its samples stand for, and
// Sample has their number.
type Sampling struct {
	Source    string  `json:"source"` // "perf", "ptrace", "anchors", "jfr" or "threaddump"; of files "pprof" or "collapsed"
	Mode      string  `json:"mode"`   // [CPUMode] or [WallMode]
	Hz        float64 `json:"hz"`     // samples a second, of a thread's time
	Samples   int64   `json:"samples"`
	Complete  int64   `json:"complete"`  // stacks that reached the thread's first frame
	Heuristic int64   `json:"heuristic"` // with a frame that was found by a checked guess
	Lost      int64   `json:"lost"`      // samples for which there was no room
	Seconds   float64 `json:"seconds"`
	First     float64 `json:"first_ms"`          // from the command to the first sample
	Share     float64 `json:"sampler_cpu_share"` // of one core, that sampling took

	Why      string           `json:"why,omitempty"`         // why this source
	Event    string           `json:"event,omitempty"`       // of Flight Recorder, that samples are
	Detached int64            `json:"detached,omitempty"`    // samples whose outer callers are not known
	Purged   int64            `json:"purged,omitempty"`      // samples in contexts that were put together for want of room
	Broken   map[string]int64 `json:"broken,omitempty"`      // samples that are not complete, by reason
	States   map[string]int64 `json:"states,omitempty"`      // samples by what the thread did
	Skewed   bool             `json:"skewed,omitempty"`      // the JVM has no debug information between calls: see the report's notes
	Physical bool             `json:"by_compiled,omitempty"` // self time of inlined methods is the compiled method's
	Below    []string         `json:"below,omitempty"`       // roots: the samples are those below them
	Outside  int64            `json:"outside,omitempty"`     // samples elsewhere, which are left out
	OverTime *OverTime        `json:"over_time,omitempty"`   // when samples were taken; nil where that was not kept
}

// OverTime is how many samples there were in each piece of the time.
type OverTime struct {
	Piece   float64 `json:"piece_ms"`
	Samples []int64 `json:"samples"` // of each piece, from the first sample on
}

// MostPieces bounds the pieces of [OverTime] in a report.
const MostPieces = 1024

// sane tells whether it can be what a report has.
func (o *OverTime) sane() bool {
	return o == nil || o.Piece > 0 && o.Piece < 1e12 && len(o.Samples) <= MostPieces && !slices.ContainsFunc(o.Samples, func(n int64) bool { return n < 0 })
}

// Level is how sure the intervals of shares are.
const Level = 0.95

const z95 = 1.959963984540054 // of the normal distribution

// Wilson is the interval in which a share lies with a probability of 95 %, if k of n
// independent samples have it: E. B. Wilson's score interval (JASA 22, 1927), which is
// right for few samples, too, and never leaves 0 to 1.
func Wilson(k, n int64) (low, high float64) {
	if n <= 0 {
		return 0, 1
	}
	return wilson(float64(k)/float64(n), n)
}

// wilson is the interval of a share among n samples.
func wilson(p float64, n int64) (low, high float64) {
	m := float64(n)
	mid := (p + z95*z95/(2*m)) / (1 + z95*z95/m)
	half := z95 / (1 + z95*z95/m) * math.Sqrt(p*(1-p)/m+z95*z95/(4*m*m))
	low, high = max(mid-half, 0), min(mid+half, 1)
	if p <= 0 {
		low = 0
	}
	if p >= 1 {
		high = 1
	}
	return low, high
}

// interval writes for people in which a share of the time lies, of which there are n
// samples: "28.1 to 33.0 %".
func interval(part, whole, n int64) string {
	low, high := shareOf(part, whole, n)
	return fmt.Sprintf("%.1f to %.1f %%", 100*low, 100*high)
}

// shareOf is the interval of a share of the time, of which there are n samples. They
// stand for about the same time each; where that differs, the interval is the one that
// equal ones would have.
func shareOf(part, whole, n int64) (low, high float64) {
	if whole <= 0 || n <= 0 {
		return 0, 1
	}
	return wilson(min(max(float64(part)/float64(whole), 0), 1), n)
}

// How says in a few words how the report was made: "as called + look ahead (C), low overhead timing (tick)".
func (r *Report) How() string {
	if s := r.Sampling; s != nil {
		if s.Hz == 0 {
			return fmt.Sprintf("samples of %s by %s", modeNames[s.Mode], s.Source)
		}
		return fmt.Sprintf("samples of %s by %s at %s", modeNames[s.Mode], s.Source, hertz(s.Hz))
	}
	return SchemeName(r.Scheme) + ", " + ClockName(r.Clock)
}

// StateNames are what threads do when they are sampled, by the numbers that
// [cct.Sample] has of them.
var StateNames = []string{"unknown", "running", "runnable", "blocked", "waiting", "parked", "sleeping", "in I/O", "in the JVM"}

// mostly is what a method's threads did in most of its samples; empty if that isn't known.
func mostly(s cct.Sample) string {
	best := -1
	for i, n := range s.States {
		if i < len(StateNames) && n > 0 && (best < 0 || n > s.States[best]) {
			best = i
		}
	}
	switch {
	case best < 0:
		return ""
	case 100*s.States[best] >= 95*s.Count:
		return StateNames[best]
	}
	return fmt.Sprintf("%s %.0f %%", StateNames[best], 100*float64(s.States[best])/float64(s.Count))
}

var modeNames = map[string]string{CPUMode: "CPU time", WallMode: "wall-clock time"}

func hertz(hz float64) string { return fmt.Sprintf("%g Hz", math.Round(10*hz)/10) }

// calls is what a report's calls are.
func (r *Report) calls() string {
	if r.Sampling != nil {
		return "entries"
	}
	return "calls"
}

// sampleCount is how many samples have found a context innermost.
func sampleCount(n *cct.Node) int64 {
	if n.Sample() == nil {
		return 0
	}
	return n.Sample().Count
}

// totalSamples are the samples that found each method anywhere, recursion counted once.
func totalSamples(roots []*cct.Node) map[int32]int64 {
	total := map[int32]int64{}
	sums, open := cct.SampleTotals(roots), map[int32]int{}
	cct.Walk(roots, func(n *cct.Node, _ int) bool {
		if open[n.Method] == 0 {
			total[n.Method] += sums[n].Count
		}
		open[n.Method]++
		return true
	}, func(n *cct.Node, _ int) { open[n.Method]-- })
	return total
}

// Comparable says whether reports can be put together or compared: the error, which
// wraps [ErrMixed], says why not.
func Comparable(reports ...*Report) error {
	for _, r := range reports[1:] {
		a, b := reports[0].Sampling, r.Sampling
		if (a == nil) != (b == nil) {
			return fmt.Errorf("%w: their figures are not of one kind", ErrMixed)
		}
		if a != nil && a.Mode != b.Mode {
			return fmt.Errorf("%w: one has samples of %s, the other of %s", ErrMixed, modeNames[a.Mode], modeNames[b.Mode])
		}
	}
	return nil
}

// plus puts the samplings of two reports together; either may be nil.
func (s *Sampling) plus(o *Sampling) *Sampling {
	if s == nil || o == nil {
		if s == nil {
			s = o
		}
		return s
	}
	out := *s
	if !strings.Contains(out.Source, o.Source) {
		out.Source += ", " + o.Source
	}
	if seconds := s.Seconds + o.Seconds; seconds > 0 {
		out.Hz = (s.Hz*s.Seconds + o.Hz*o.Seconds) / seconds
		out.Share = (s.Share*s.Seconds + o.Share*o.Seconds) / seconds
	}
	out.Samples, out.Complete, out.Heuristic, out.Lost = s.Samples+o.Samples, s.Complete+o.Complete, s.Heuristic+o.Heuristic, s.Lost+o.Lost
	out.Seconds, out.Detached, out.Purged = s.Seconds+o.Seconds, s.Detached+o.Detached, s.Purged+o.Purged
	out.First = max(s.First, o.First)
	out.Broken, out.States = sumOf(s.Broken, o.Broken), sumOf(s.States, o.States)
	out.Skewed, out.Physical = s.Skewed || o.Skewed, s.Physical || o.Physical
	out.Outside = s.Outside + o.Outside
	out.OverTime = nil // their times are not one another's
	return &out
}

func sumOf(a, b map[string]int64) map[string]int64 {
	out := map[string]int64{}
	for k, n := range a {
		out[k] += n
	}
	for k, n := range b {
		out[k] += n
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
