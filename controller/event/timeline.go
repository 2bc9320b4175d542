package event

import (
	"math"
	"slices"
)

// Suspended is the method of a slice in which the profiler worked on the
// thread, or made it wait.
const Suspended int32 = -3

// DefaultSlices is how many slices a timeline holds, 48 bytes each.
const DefaultSlices = 1 << 18

// A Slice is a piece of a thread's time: an invocation, or a wait for the
// profiler.
type Slice struct {
	Record int
	Thread int64
	Method int32  // or Suspended
	Depth  uint16 // callers above it, at most 65,535
	Root   bool   // a root call, which has depth 0
	Task   bool   // the execution of a task, see [Hop]
	Open   bool   // it was under way
	Start  int64  // ns on the target's nanoTime
	Took   int64  // ns, waits for the profiler included
	Span   *Span  // that a root call was part of; nil of other slices, and where none is known. Not to be changed
}

// Flags of a slice, as files and the page have them.
const (
	SliceRoot = 1 << iota // a root call
	SliceOpen             // it was under way
	SliceTask             // the execution of a task
)

// Flags are the slice's.
func (s *Slice) Flags() (f int64) {
	if s.Root {
		f |= SliceRoot
	}
	if s.Open {
		f |= SliceOpen
	}
	if s.Task {
		f |= SliceTask
	}
	return f
}

// A Timeline keeps the longest slices, in memory that does not grow with the
// recording: when it is full, the shorter half goes, and what is not longer
// than it is left out from then on. Its owner, a [Builder], guards it.
//
// Its clock is the recording's, but shows no time twice in a record: what begins and
// ends at the same tick is there in its order, each moment 1 ns after the one before.
type Timeline struct {
	most   int
	least  int64
	slices []Slice
	took   []int64 // for sorting
	left   int64
	hops   hops
}

// NewTimeline holds at most so many slices.
func NewTimeline(most int) *Timeline {
	return &Timeline{most: max(most, 2), hops: hops{most: max(most/8, 2), early: map[int64]Hop{}}}
}

func (t *Timeline) add(s Slice) {
	if s.Took < t.least {
		t.left++
		return
	}
	t.slices = append(t.slices, s)
	if len(t.slices) < t.most {
		return
	}
	t.took = t.took[:0]
	for i := range t.slices {
		t.took = append(t.took, t.slices[i].Took)
	}
	slices.Sort(t.took)
	t.least = t.took[len(t.took)/2] + 1
	t.slices = slices.DeleteFunc(t.slices, func(s Slice) bool { return s.Took < t.least })
	t.left += int64(t.most - len(t.slices))
}

// Slices returns the slices so far in the order in which they ended, within
// each record; how many were left out; and the time in ns below which they
// were, 0 if none was.
func (b *Builder) Slices() (out []Slice, left, least int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Timeline == nil {
		return nil, 0, 0
	}
	return slices.Clone(b.Timeline.slices), b.Timeline.left, b.Timeline.least
}

func depthOf(n int) uint16 { return uint16(min(max(n, 0), math.MaxUint16)) }
