package event

import (
	"math"
	"sync"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// The bound of what a hostile or endless stream can make a Builder hold.
const mostNodes = 1 << 22 // of all trees, some 100 bytes each; no stack is deeper than they are many

// A Builder makes trees of streams: one for each record, as the target does.
// Its methods are safe for concurrent use.
type Builder struct {
	// Slowest and Timeline, where they are not nil, get what they are for. Set
	// them before the first Take; they are read under the Builder's lock.
	Slowest  *Slowest
	Timeline *Timeline
	// Paths keeps what the critical paths of the slowest take. Set it likewise.
	Paths bool

	mu         sync.Mutex
	streams    []*stream       // by record
	nodes      int             // of all
	tasks      map[int64]task  // by their number: handed over, and not executed yet
	earlyNodes int64           // of those in early
	early      map[int64]*part // executed, and not seen to be handed over yet
	bad        int64
	most       int
}

// NewBuilder returns an empty one.
func NewBuilder() *Builder {
	return &Builder{most: mostNodes, tasks: map[int64]task{}, early: map[int64]*part{}}
}

// A node is one calling context with what the root invocation that is under way
// did there: one cache line. What those before did is in stream.past, and what is
// another invocation's in its own tree: see [stream.carried].
type node struct {
	method, parent int32
	cache          [4]int32 // callees by method id modulo four, as the target's nodes have it
	now            figures
	mark           int32 // its place among those touched
	_              [12]byte
}

type figures struct{ calls, thrown, self int64 }

// A stream is the state of one record.
type stream struct {
	b      *Builder
	record int
	nodes  []node    // 0 is above the roots
	past   []figures // of nodes, from root calls that have ended
	index  index
	top    int32 // of the invocation on top, 0 outside
	over   int   // invocations above it that found no room
	time   int64 // ns, of the last word
	extra  int64 // ns that EV_TIME adds to the next word
	carry  int64 // ns of tails that no node has yet
	held   int64 // since when the profiler works on the thread, 0 it doesn't

	touched []int32 // nodes of the root call under way, parents first
	begins  []int64 // when those that are open began, with a timeline, on its clock
	shown   int64   // ns: the timeline's clock, see moment
	began   int64   // when the root call did
	left    int64   // ns of it that are nobody's
	root    *part   // with the slowest root calls: the one under way
	frames  []frame // executions of tasks that are under way
	number  int64   // of the task whose execution begins next, or what a mark is about
	track   *track  // with paths: of the thread
	next    int64   // when to take the next sample for it
	span    Span    // of the root call
	naming  Span    // as far as its ids have come

	thread                          int64
	entries, returns, suspended, no int64
}

// Take adds words of a record's stream. They are read once each.
func (b *Builder) Take(record int, words []Word) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.streams) <= record {
		b.streams = append(b.streams, nil)
	}
	s := b.streams[record]
	if s == nil {
		s = &stream{b: b, record: record, nodes: []node{{method: -1}}, past: make([]figures, 1), next: math.MaxInt64}
		b.streams[record] = s
	}
	s.take(words)
}

// take is where all the time goes.
func (s *stream) take(words []Word) {
	timeline := s.b.Timeline != nil
	nodes, top, time, next := s.nodes, s.top, s.time, s.next // as they are in s, but while words are common ones
	for i := 0; i < len(words); i++ {
		w := words[i] // once: the target could change it
		kind := w & kindMask
		if kind-1 > wire.EvThrown-1 || s.over > 0 || s.extra != 0 {
			s.top, s.time = top, time
			s.other(w)
			nodes, top, time, next = s.nodes, s.top, s.time, s.next
			continue
		}
		ns := int64(w >> wire.DeltaShift)
		method := int32(w >> wire.KindBits & methodMask)
		at := &nodes[top]
		at.now.self += ns
		time += ns
		if time >= next {
			s.time = time
			s.sample(top)
			next = s.next
		}
		if kind == wire.EvEnter {
			k := at.cache[method&3]
			if nodes[k].method != method {
				s.top = top
				if k = s.callee(method); k == 0 {
					s.over++
					s.no++
					continue
				}
				nodes = s.nodes
			}
			if top == 0 {
				s.entries++
				s.left += ns // its thread had come into the subgraph, and not to the method
			}
			n := &nodes[k]
			if n.now.calls == 0 {
				n.mark = int32(len(s.touched))
				s.touched = append(s.touched, k)
			}
			n.now.calls++
			top = k
			if timeline {
				s.time = time
				s.begins = append(s.begins, s.moment())
			}
			continue
		}
		if at.method != method {
			s.top, s.time = top, time
			found := s.resync(method)
			top = s.top
			if !found {
				continue
			}
			at = &nodes[top]
		}
		if kind == wire.EvThrown {
			at.now.thrown++
		}
		if timeline {
			s.time = time
			s.end(method, nodes[at.parent].method)
		}
		if top = at.parent; nodes[top].method < 0 { // above the roots, or a task's
			s.top, s.time = top, time
			s.outermostEnded(kind == wire.EvThrown)
			top, next = s.top, s.next
		}
	}
	s.top, s.time = top, time
}

// other takes a word that isn't of the common kinds, or comes in a state that
// isn't the common one.
func (s *stream) other(w Word) {
	kind := w.Kind()
	if kind == wire.EvCharge && w.Method() == wire.MarkCarry {
		s.carried(-(w.Time() + s.extra))
		s.extra = 0
		return
	}
	if kind == wire.EvCharge && w.Method() >= wire.MarkTraceHigh && w.Method() <= wire.MarkSpanWithin {
		s.spanMark(w.Method(), w.Time())
		return
	}
	if kinds[kind].method && kind != 0 {
		ns := w.Time() + s.extra
		s.extra = 0
		s.nodes[s.top].now.self += ns
		s.time += ns
		if s.time >= s.next {
			s.sample(s.top)
		}
	}
	switch kind {
	case wire.EvEnter, wire.EvExit, wire.EvThrown:
		switch {
		case s.over > 0 && kind == wire.EvEnter:
			s.over++
			s.no++
		case s.over > 0:
			s.over--
		default: // its time is taken
			s.take([]Word{Timed(kind, w.Method(), 0)})
		}
	case wire.EvLate:
		if k := s.find(w.Method()); k != 0 && s.nodes[k].now.calls > 0 {
			s.nodes[k].now.thrown++
		} else {
			s.b.bad++
		}
	case wire.EvSuspend:
		s.held = s.time
	case wire.EvCharge: // its time is taken
		if w.Method() == wire.MarkTail {
			s.carried(w.Time())
			return
		}
		s.marked(w.Method())
	case wire.EvAdjust:
		s.adjust(w.Value())
	case wire.EvRoot:
		s.cut()
		s.time, s.began, s.left, s.held = w.Value(), w.Value(), 0, 0
		s.span, s.naming = Span{}, Span{}
		s.follow()
		if s.b.Slowest != nil {
			s.root = &part{began: s.began, thread: s.thread, track: s.track}
		}
	case wire.EvThread:
		s.cut()
		s.thread = w.Value()
	case wire.EvCut:
		s.nodes[s.top].now.self += max(w.Value(), 0)
		s.time += max(w.Value(), 0)
		s.cut()
	case wire.EvLost:
		s.cut()
	case wire.EvSubmit:
		s.submit(w.Value())
	case wire.EvBelong:
		s.number = w.Value()
	case wire.EvExecute:
		s.execute(w.Value())
	case wire.EvTime:
		s.extra = w.Value()
	default:
		s.b.bad++
	}
}

// carried takes time off what the invocation on top has in the tree, until a tick
// falls, and with less than 0 gives it. A root invocation's own figures are what it
// took itself: a tail, which is in them, stays there.
func (s *stream) carried(ns int64) {
	s.past[s.top].self -= ns
	s.carry += ns
}

// adjust leaves out time that is nobody's.
func (s *stream) adjust(ns int64) {
	if t := s.b.Timeline; t != nil && s.top != 0 && s.held != 0 && ns >= 0 {
		start := s.moment()
		s.shown += ns
		t.add(Slice{Record: s.record, Thread: s.thread, Method: Suspended, Depth: depthOf(len(s.begins)), Start: start, Took: ns})
	}
	s.time += ns
	s.left += ns
	s.suspended += max(ns, 0)
	s.held = 0
	if s.time >= s.next {
		s.sample(-1)
	}
}

// Bad is how many words made no sense where they stood.
func (b *Builder) Bad() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bad
}

// Snapshot copies the trees so far. until says up to
// when what is open counts, given when its root invocation began (ns on the
// target's nanoTime): the end of that part of the recording, or now; 0 is
// unknown and charges nothing. Names and kinds
// of threads are not in the streams.
func (b *Builder) Snapshot(until func(ns int64) int64) *cct.Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := &cct.Snapshot{Bad: b.bad}
	for _, s := range b.streams {
		if s == nil {
			continue
		}
		t := &cct.Thread{ID: s.thread, Open: s.top != 0, RootEntries: s.entries, RootReturns: s.returns, Suspended: s.suspended}
		copies := s.copies()
		if end := until(s.began); s.top != 0 && end > s.time {
			if s.held != 0 {
				t.Suspended += end - s.time
			} else {
				copies[s.top].Self += end - s.time
			}
		}
		t.Roots = copies[0].Children
		at := &copies[s.top]
		if s.top == 0 {
			at = cct.Busiest(t.Roots)
		}
		if at != nil { // as the target's tree has it
			at.Self += max(s.carry, 0)
		}
		cct.Totals(t.Roots)
		out.Threads = append(out.Threads, t)
		out.Overflow += s.no
		out.Uncounted += s.no
	}
	return out
}
