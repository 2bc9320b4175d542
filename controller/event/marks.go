package event

import (
	"slices"
	"strings"
	"sync"
)

// A MarkKind says what a [Mark] marks.
type MarkKind uint8

// The kinds of marks.
const (
	GC         MarkKind = iota // a collection's pause: every thread stood
	Redefining                 // a batch of classes was redefined
	Revealing                  // threads waited at a method until its callees had probes
	Loading                    // a class came
	Agent                      // a user's script put it there
	MarkKinds                  // how many kinds there are
)

var markNames = [MarkKinds]string{"gc", "redefinition", "reveal", "load", "agent"}

// String is the kind's name in JSON and in the trace: "gc", "redefinition",
// "reveal", "load", "agent".
func (k MarkKind) String() string { return markNames[min(k, MarkKinds-1)] }

// MarkKindNamed finds a kind by its name.
func MarkKindNamed(name string) (MarkKind, bool) {
	i := slices.Index(markNames[:], name)
	return MarkKind(max(i, 0)), i >= 0
}

// A Mark is something that happened to the whole target, or to its classes,
// while threads were recorded.
type Mark struct {
	Kind  MarkKind
	Name  string // of the collector, the method that was revealed, the class loaded, or what the script says
	Start int64  // ns on the target's nanoTime
	Took  int64  // ns; 0 is a point
	Count int64  // collections that are one mark, classes redefined, threads that waited; at least 1
	Pause int64  // ns that all threads stood meanwhile, an upper bound; -1 unknown
	Off   int64  // ns by which Start may be off
	Cause string // of a collection, as the JVM says it; of a class the method that needed it; "" where nobody saw it
}

// MostMarks is how many marks of a kind are kept by default.
const MostMarks = 8192

// Marks keep marks, in memory that does not grow with the recording: when a
// kind is full, the shorter half of it goes, the older ones of equal length
// first. Safe for concurrent use.
type Marks struct {
	mu    sync.Mutex
	most  int
	kinds [MarkKinds][]Mark
	left  [MarkKinds]int64
}

// NewMarks keeps at most so many of each kind.
func NewMarks(most int) *Marks { return &Marks{most: max(most, 2)} }

// mostMarkName bounds a mark's name, in bytes: it is the target's.
const mostMarkName = 400

// Add keeps a mark, of its name the beginning; one of no known kind, or that
// ends before it begins, is ignored.
func (m *Marks) Add(k Mark) {
	if k.Kind >= MarkKinds || k.Took < 0 {
		return
	}
	k.Name, k.Cause = shortened(k.Name), shortened(k.Cause)
	m.mu.Lock()
	defer m.mu.Unlock()
	of := append(m.kinds[k.Kind], k)
	if len(of) >= m.most {
		took := make([]int64, len(of))
		for i := range of {
			took[i] = of[i].Took
		}
		slices.Sort(took)
		least, drop := took[len(took)/2], len(of)/2
		for _, t := range took[:drop] {
			if t == least {
				break
			}
			drop--
		}
		// drop are now those of the middle's length that go; all shorter ones do.
		before := len(of)
		of = slices.DeleteFunc(of, func(k Mark) bool {
			if k.Took == least && drop > 0 {
				drop--
				return true
			}
			return k.Took < least
		})
		m.left[k.Kind] += int64(before - len(of))
	}
	m.kinds[k.Kind] = of
}

// shortened is a text of the target's that is kept.
func shortened(text string) string {
	if len(text) <= mostMarkName {
		return text
	}
	return strings.ToValidUTF8(text[:mostMarkName], "") + "…"
}

// Since returns the marks that ended at a time or later, by kind and in the
// order in which they came, and how many of each kind are not among those
// for want of room.
func (m *Marks) Since(ns int64) (out []Mark, left [MarkKinds]int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, of := range m.kinds {
		for _, k := range of {
			if k.Start+k.Took >= ns {
				out = append(out, k)
			}
		}
	}
	return out, m.left
}
