package event

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// Bounds of one critical path.
const (
	mostMoves    = 1 << 16
	mostStill    = 64  // moves without going back in time: equal times can lead in a circle
	mostSegments = 500 // the longest; of the others there are sums
)

// A Kind says what a segment of a critical path is.
type Kind uint8

// Kinds of segments.
const (
	Run   Kind = iota // the thread was in the subgraph's code: on a core, or in what the probes don't see, such as I/O or a monitor
	Queue             // a task waited for a thread
	Wait              // a thread waited
)

// A Cause says how the end of a wait is known to have come.
type Cause uint8

// Causes: what the thread of the segment before did.
const (
	NoCause  Cause = iota // not known, or nothing below the root call
	Unparked              // it let the waiting thread go on (LockSupport.unpark)
	Ended                 // it ended, and was waited for (Thread.join)
	Notified              // it ended a task that was waited for on its monitor (fork/join of JDK 8 and 11)
)

// A Segment is a piece of a critical path.
type Segment struct {
	Kind     Kind
	Cause    Cause // of a Wait
	Thread   int64 // that ran or waited; of Queue, that executed the task in the end
	Method   int32 // of Run the innermost one that has nine tenths of it in it and below; -1 unknown
	From, To int64 // ns on the target's nanoTime
}

// A Share is a method's part of a critical path, ns. Run is self time.
type Share struct {
	Method           int32 // -1 unknown
	Run, Queue, Wait int64
}

// A Path is the critical path of a root invocation: what its end waited for.
// Its segments follow each other without a gap from the invocation's begin to
// its end, except for those that are left out.
type Path struct {
	Segments                   []Segment
	Left, LeftTime             int64 // segments left out, the shortest, and ns of these
	Shares                     []Share
	Run, Queue, Wait, Profiler int64 // ns of each; of Run, Profiler is not part
	Grain                      int64 // ns: methods of Run were looked at so often, 0 always
	Lacking                    int64 // waits, and threads, that could not be kept for want of room: the path may be another
}

// A walker goes a root invocation's path back from its end.
type walker struct {
	root   *part
	known  map[*part]task     // all that was executed for it, and where it comes from
	waits  map[*track][]int32 // places of waits among its steps
	wakes  map[int64][]step   // by the thread let go on, in order of time
	passes map[int64][]step   // by task
	ends   map[int64][]step   // by its hash
	ended  map[int64][]*part  // by thread, in order of time
	path   Path
	shares map[int32]*Share
}

// path finds the critical path of a root invocation that has ended. b.mu is held.
func (b *Builder) path(root *part) *Path {
	if root.track == nil {
		return nil
	}
	w := &walker{
		root: root, known: map[*part]task{}, shares: map[int32]*Share{}, waits: map[*track][]int32{},
		wakes: map[int64][]step{}, passes: map[int64][]step{}, ends: map[int64][]step{}, ended: map[int64][]*part{},
	}
	w.collect(b)
	w.walk()
	return w.finish()
}

// collect finds what was executed for the root invocation, and who let whom go
// on meanwhile.
func (w *walker) collect(b *Builder) {
	for todo := []*part{w.root}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], p.subs...)
		w.known[p] = task{by: p.up, at: p.at, since: p.since}
	}
	for _, s := range b.streams {
		if s == nil {
			continue
		}
		for _, f := range s.frames { // what is not over may have let go on what is
			if f.part == nil {
				continue
			}
			if t := b.tasks[f.number]; t.by != nil && t.by.root() == w.root {
				w.known[f.part] = t
			}
		}
	}
	tracks := map[*track]bool{}
	for p := range w.known {
		if p.ended != 0 && p.outer == nil {
			w.ended[p.thread] = append(w.ended[p.thread], p)
		}
		t := p.track
		if t == nil || tracks[t] {
			continue
		}
		tracks[t] = true
		w.path.Lacking += t.left
		w.path.Grain = max(w.path.Grain, t.grain)
		for i, st := range t.steps {
			if st.waits() {
				w.waits[t] = append(w.waits[t], int32(i))
				continue
			}
			if !w.has(st.part) { // done for somebody else
				continue
			}
			switch st.mark {
			case wire.MarkWakes:
				w.wakes[st.about] = append(w.wakes[st.about], st)
			case wire.MarkPasses:
				w.passes[st.about] = append(w.passes[st.about], st)
			case wire.MarkEnds:
				w.ends[st.about] = append(w.ends[st.about], st)
			}
		}
	}
	w.path.Lacking += w.root.trackless
	for _, all := range []map[int64][]step{w.wakes, w.passes, w.ends} {
		for _, steps := range all {
			slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
		}
	}
	for _, all := range w.ended {
		slices.SortFunc(all, func(a, b *part) int { return cmp.Compare(a.ended, b.ended) })
	}
}

// walk goes back from the root invocation's end. At each moment it knows the
// execution on which the path runs, and its thread.
func (w *walker) walk() {
	p, t := w.root, w.root.ended
	tr := p.track
	last, still := t, 0
	for range mostMoves {
		if t <= w.root.began {
			return
		}
		if still++; t < last {
			last, still = t, 0
		}
		if still > mostStill {
			break
		}
		base := p // where the thread began to work for the root call
		for base.outer != nil && w.has(base.outer) {
			base = base.outer
		}
		if i := w.lastWait(tr, t, base.began); i >= 0 {
			st := &tr.steps[i]
			if st.to > t { // the thread executed p within the wait
				for x := p; x != nil && x != st.part; x = x.outer {
					p = x
				}
				if p != st.part {
					w.run(p, tr, p.began, t)
					t = min(t, max(p.began, st.at))
				}
			} else {
				w.run(p, tr, st.to, t)
				t = st.to
			}
			q, at, cause := w.cause(st, t)
			if q == nil {
				at = st.at
			}
			w.add(Segment{Kind: Wait, Cause: cause, Thread: st.part.thread, Method: tr.method(st.node), From: at, To: t})
			if p, t = st.part, at; q != nil {
				p, tr = q, q.track
			}
			continue
		}
		w.run(p, tr, base.began, t)
		t = min(t, base.began)
		if base == w.root {
			return
		}
		from := w.known[base]
		if from.by == nil { // a damaged stream
			break
		}
		by, since := from.by, from.since
		for _, st := range w.passes[base.number] { // it could begin only then
			if st.at > t {
				break
			}
			if st.at > since {
				by, since = st.part, st.at
			}
		}
		since = max(min(since, t), w.root.began)
		w.add(Segment{Kind: Queue, Thread: base.thread, Method: base.label(), From: since, To: t})
		p, t, tr = by, since, by.track
	}
	w.path.Lacking++
	w.add(Segment{Kind: Wait, Thread: w.root.thread, Method: w.root.label(), From: w.root.began, To: t})
}

func (w *walker) has(p *part) bool {
	_, ok := w.known[p]
	return ok
}

// waits reports whether the step is a wait.
func (st *step) waits() bool {
	return st.mark == wire.MarkPark || st.mark == wire.MarkTask || st.mark == wire.MarkThread
}

// lastWait is the track's last wait that began before t, and not before from; -1
// if there is none.
func (w *walker) lastWait(t *track, before, from int64) int {
	waits := w.waits[t]
	i, _ := slices.BinarySearchFunc(waits, before, func(i int32, at int64) int { return cmp.Compare(t.steps[i].at, at) })
	if i == 0 || t.steps[waits[i-1]].at < from {
		return -1
	}
	return int(waits[i-1])
}

// cause finds what ended a wait by the time to: where the path goes on. nil if
// that is not known.
func (w *walker) cause(st *step, to int64) (p *part, at int64, cause Cause) {
	first := func(all []step, cause Cause) (*part, int64, Cause) {
		i, _ := slices.BinarySearchFunc(all, st.at, func(k step, at int64) int { return cmp.Compare(k.at, at) })
		if i == len(all) || all[i].at > to {
			return nil, 0, NoCause
		}
		return all[i].part, all[i].at, cause
	}
	switch st.mark {
	case wire.MarkPark:
		return first(w.wakes[st.part.thread], Unparked)
	case wire.MarkTask:
		return first(w.ends[st.about], Notified)
	}
	all := w.ended[st.about]
	i, _ := slices.BinarySearchFunc(all, to, func(p *part, at int64) int {
		if p.ended <= at {
			return -1
		}
		return 1
	})
	if i == 0 || all[i-1].ended < st.at {
		return nil, 0, NoCause
	}
	return all[i-1], all[i-1].ended, Ended
}
