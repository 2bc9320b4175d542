package event

import (
	"math"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// Bounds of one track; where many threads are inside at one time, less.
const (
	mostSamples = 1 << 10
	mostSteps   = 1 << 12
	allSamples  = 1 << 22 // of all tracks under way
	allSteps    = 1 << 20
)

// A track is what one thread did from where it came into the subgraph to where
// it left: a root invocation or the execution of a task, with executions in
// between where it helped while it waited. Kept for the critical path.
type track struct {
	s       *stream
	began   int64
	samples []sample
	grain   int64  // ns: the thread was looked at so often, 0 is always
	steps   []step // in the order of time
	open    int    // place in steps of the wait that is under way, -1 none
	waits   int    // begun and not over: one within the other
	left    int64  // steps without room
	paid    int    // of its weight, by what
	payer   *part
}

// A sample says who was charged with time: up to until, since the sample before.
type sample struct {
	until int64
	node  int32 // of the stream, -1 nobody
}

// A step is a wait, or lets somebody go on.
type step struct {
	mark   int32 // MARK_ of package wire, of a wait that of its begin
	node   int32 // on top
	at, to int64 // to is of waits; math.MaxInt64 is not over
	about  int64 // thread, task or hash
	part   *part // that was under way
}

// follow begins a track with the root invocation or execution that begins.
func (s *stream) follow() {
	s.track, s.next = nil, math.MaxInt64
	if s.b.Paths && s.b.Slowest != nil {
		s.track = &track{s: s, began: s.time, open: -1}
		s.next = s.time + 1
	}
}

// sample notes that the invocation on top, or nobody, -1, was charged up to now.
func (s *stream) sample(node int32) {
	t := s.track
	if t == nil {
		s.next = math.MaxInt64
		return
	}
	until := s.time
	if t.grain > 0 {
		until = t.began + (until-t.began)/t.grain*t.grain
	}
	s.next = until + max(t.grain, 1)
	if n := len(t.samples); n > 0 && t.samples[n-1].node == node {
		t.samples[n-1].until = until
		return
	}
	t.samples = append(t.samples, sample{until, node})
	if len(t.samples) >= max(min(mostSamples, allSamples/len(s.b.streams)), 64) {
		t.thin()
		s.next = t.began + ((s.time-t.began)/t.grain+1)*t.grain
	}
}

// thin keeps who was charged at each multiple of a time that leaves half of the
// samples or fewer: so a method's part stays what it was, except for chance.
func (t *track) thin() {
	n := len(t.samples)
	t.grain = max(2*t.grain, (t.samples[n-1].until-t.began)/int64(n/2)+1, 1)
	out := t.samples[:0]
	for _, s := range t.samples {
		s.until = t.began + (s.until-t.began)/t.grain*t.grain
		switch last := len(out) - 1; {
		case s.until == t.began || last >= 0 && out[last].until == s.until:
		case last >= 0 && out[last].node == s.node:
			out[last].until = s.until
		default:
			out = append(out, s)
		}
	}
	t.samples = out
}

// marked takes a mark of an EV_CHARGE.
func (s *stream) marked(mark int32) {
	t := s.track
	if t == nil || mark == 0 || s.top == 0 {
		return
	}
	switch mark {
	case wire.MarkPark, wire.MarkTask, wire.MarkThread:
		if t.waits++; t.waits == 1 {
			t.open = t.add(step{mark: mark, node: s.top, at: s.time, to: math.MaxInt64, about: s.number, part: s.current()})
		}
	case wire.MarkWoke:
		if t.waits == 0 {
			s.b.bad++
			return
		}
		if t.waits--; t.waits == 0 && t.open >= 0 {
			t.steps[t.open].to = s.time
			t.open = -1
		}
	case wire.MarkWakes, wire.MarkPasses, wire.MarkEnds:
		t.add(step{mark: mark, node: s.top, at: s.time, about: s.number, part: s.current()})
	default:
		s.b.bad++
	}
}

// add returns the step's place, -1 where there is no room.
func (t *track) add(st step) int {
	if st.part == nil || len(t.steps) >= max(min(mostSteps, allSteps/len(t.s.b.streams)), 64) {
		t.left++
		return -1
	}
	t.steps = append(t.steps, st)
	return len(t.steps) - 1
}

// weight is how many contexts take as much memory.
func (t *track) weight() int { return len(t.samples)/8 + len(t.steps)/3 }

// pay takes the room of the part's track from what is above it, once. Without
// room the path does not go into what the part and those below it did.
func (p *part) pay(root *part, room int) {
	more := 0
	if p != root {
		more = p.marks
	}
	if t := p.track; t != nil {
		if t.payer != root {
			t.payer, t.paid = root, 0
		}
		more += t.weight() - t.paid
	}
	if root.marks+more > room {
		root.trackless++
		p.forgetTracks()
		return
	}
	root.marks += more
	if t := p.track; t != nil {
		t.paid = t.weight()
	}
}

// forgetTracks drops the tracks of a part and of those below it.
func (p *part) forgetTracks() {
	for todo := []*part{p}; len(todo) > 0; {
		one := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], one.subs...)
		one.track = nil
	}
}

// drop says that a root invocation is not among the slowest, and drops what
// hangs on it: a task that waits may still refer to it.
func (p *part) drop() {
	p.forgetTracks()
	p.dropped, p.subs = true, nil
}
