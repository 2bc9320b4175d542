package roots

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/attach"
)

// Suggestions are methods that may be good roots, the best first.
type Suggestions struct {
	Roots   []Suggestion
	Looks   int           // thread dumps
	Time    time.Duration // that they took in all
	Busy    int           // threads that computed or moved meanwhile, with methods of the application on their stacks
	Threads int           // threads that there were at the last look
	Stacks  int           // stacks of busy threads that were seen, with methods of the application on them
}

// A Suggestion is a method of the application that busy threads were in.
type Suggestion struct {
	Method  string   // pkg.Class.method
	Stacks  int      // of busy threads that it was on
	Threads []string // names of the threads that had it on their stacks; at least one
	Always  bool     // it never left the stack of a thread that it was on
}

const (
	// busyShare is the share of a core from which on a thread is busy.
	busyShare = 0.01
	// rareShare is the share of the stacks that threads' own loops are on, up to which
	// these are no suggestion at all: their threads woke now and then, and waited again.
	rareShare = 0.25
)

// Rootable tells whether a frame of a stack is of a method that can be a root.
func (c *Catalog) Rootable(frame string) bool {
	dot := strings.LastIndexByte(frame, '.')
	if dot < 0 || strings.HasPrefix(frame[dot+1:], "<") {
		return false
	}
	return slices.ContainsFunc(c.h.Named(strings.ReplaceAll(frame[:dot], ".", "/")), func(m *cha.ClassMirror) bool {
		return !m.Excluded && !m.Hidden && !m.Fixed && slices.ContainsFunc(m.Methods, func(f cha.Method) bool {
			return f.Name == frame[dot+1:] && !f.IsNative() && !f.IsAbstract()
		})
	})
}

// A Sight is what looks at the stacks of all threads have shown. It is not safe for
// concurrent use.
type Sight struct {
	looks   int
	last    time.Time
	threads map[int64]*seenThread
	methods map[string]*seenMethod
	count   int // threads at the last look
	stacks  int // busy ones, with methods of the application
}

type seenThread struct {
	name   string
	frames []string
	ran    int64
	looks  int
	busy   bool
}

// A place is one thread at one look.
type place struct {
	thread int64
	look   int
}

type seenMethod struct {
	name  string
	on    map[int64]int // looks that found it on a thread's stack, busy or not
	busy  []place       // those that were busy
	depth int           // the least number of the application's methods that were below it
}

// stacks are how many it was on, of busy threads and others.
func (m *seenMethod) stacks() (n int) {
	for _, looks := range m.on {
		n += looks
	}
	return n
}

// NewSight is of no look yet.
func NewSight() *Sight {
	return &Sight{threads: map[int64]*seenThread{}, methods: map[string]*seenMethod{}}
}

// Look takes in the stacks of one look. ran is for how long threads have been on a core,
// in ns, by Java's id, as far as that is known; ours tells whether a frame is of a method
// that can be a root.
func (s *Sight) Look(at time.Time, stacks []attach.Stack, ran map[int64]int64, ours func(frame string) bool) {
	passed := at.Sub(s.last)
	s.last, s.count = at, len(stacks)
	s.looks++
	for _, t := range stacks {
		known := s.threads[t.ID]
		busy := known != nil && (float64(ran[t.ID]-known.ran) > busyShare*float64(passed) || !slices.Equal(known.frames, t.Frames))
		if known == nil {
			known = &seenThread{name: t.Name}
			s.threads[t.ID] = known
			busy = s.looks > 1 // begun since the last look
		}
		known.frames, known.ran = t.Frames, ran[t.ID]
		known.looks++
		depth := 0
		seen := map[string]bool{}
		for _, f := range slices.Backward(t.Frames) { // from the bottom
			if seen[f] || !ours(f) {
				continue
			}
			seen[f] = true
			m := s.methods[f]
			if m == nil {
				m = &seenMethod{name: f, on: map[int64]int{}, depth: depth}
				s.methods[f] = m
			}
			m.on[t.ID]++
			m.depth = min(m.depth, depth)
			if busy {
				m.busy = append(m.busy, place{t.ID, s.looks})
			}
			depth++
		}
		if busy && depth > 0 {
			s.stacks++
			known.busy = true
		}
	}
}

// always tells whether a method was on its threads' stacks at each look.
func (s *Sight) always(m *seenMethod) bool {
	for id, n := range m.on {
		if n < s.threads[id].looks {
			return false
		}
	}
	return true
}

// weight is on how many stacks a method was, less for what may never begin
// again.
func (s *Sight) weight(m *seenMethod) float64 {
	w := float64(len(m.busy))
	switch {
	case !s.always(m):
		return w
	case m.depth == 0: // the thread's own loop, most likely
		return w / 10
	default:
		return w / 4
	}
}

// Best are at most so many suggestions.
func (s *Sight) Best(most int) *Suggestions {
	out := &Suggestions{Looks: s.looks, Threads: s.count, Stacks: s.stacks}
	for _, t := range s.threads {
		if t.busy {
			out.Busy++
		}
	}
	var list []*seenMethod
	for _, m := range s.methods {
		if len(m.busy) > 0 && (float64(len(m.busy)) > rareShare*float64(m.stacks()) || !s.always(m)) {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b *seenMethod) int {
		return cmp.Or(cmp.Compare(s.weight(b), s.weight(a)), cmp.Compare(a.depth, b.depth), cmp.Compare(a.name, b.name))
	})
	var taken []*seenMethod
	for _, m := range list {
		always := s.always(m)
		if len(taken) == most || !always && slices.ContainsFunc(taken, func(o *seenMethod) bool { return slices.Equal(o.busy, m.busy) }) {
			continue // what it does, the other one does with it
		}
		taken = append(taken, m)
		var threads []string
		known := map[int64]bool{}
		for _, p := range m.busy {
			if !known[p.thread] {
				known[p.thread] = true
				threads = append(threads, s.threads[p.thread].name)
			}
		}
		out.Roots = append(out.Roots, Suggestion{Method: m.name, Stacks: len(m.busy), Threads: threads, Always: always})
	}
	return out
}
