package sampler

import (
	"hash/maphash"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/sampler/unwinder"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// A waiter is what was found of a thread that waits. As long as its anchor and the upper end
// of its stack are the same, its stack is.
type waiter struct {
	anchor unwinder.Anchor
	hash   uint64
	valid  bool
	fresh  bool        // walked at this tick
	stack  stack.Stack // Frames and what was said of them, and State
	cpu    int64       // ns of CPU time that perf found and no tick has taken off yet
	owed   int64       // ns that passed and are in no sample yet
	last   []stack.Frame
	lastAt int64
	rest   rest
	looked int64 // when it was looked at, with Options.Inside
	same   int   // readings of its stack in a row that were the same
	spared int   // ticks for which it is taken for the same as long as its anchor is
	owned  bool  // it waits for something that keeps its owner, with Options.Locks
	looks  bool  // that was read at this tick
}

// Reasons of stacks without frames.
const (
	brokenNever   = "the thread could run Java code, and did not get to"
	brokenStop    = "the thread could not be stopped"
	brokenMoved   = "the thread went on while it was read"
	brokenRunning = "the thread runs Java code, which takes perf events to see"
)

const (
	stackWindow = 2 << 10 // of a waiting thread's stack, by which it is recognised
	unknownFor  = 1e9     // ns for which a thread that could run may have no stack
	// To read a stack costs more than all else, and most threads wait for long. The stack of one that was the same at so
	// many ticks is read again only at each third one, and after so many more readings only at each sixth, as long as the
	// anchor stays as it is. A thread that then waits at the same place for another caller is seen five ticks late at the most.
	steadyReads = 8
	sparedTicks = 2
	stillReads  = 16
	stillTicks  = 5

	staleAfter = 2e9 // ns that the stack of a thread that ran is taken for that of one which could
)

// A wall keeps what is needed to sample threads that wait.
type wall struct {
	waiters map[int]*waiter
	lists   int // threads.lists when waiters were compared with it last
	ticked  int64
	seed    maphash.Seed
	room    []byte

	wanted  map[int64]bool // see Options.Inside
	tids    []int
	each    []*waiter // of tids
	threads []unwinder.Thread
	anchors []unwinder.Anchor
	again   []unwinder.Anchor
	spans   []vmstructs.Span
	holders holders
}

func (s *Sampler) waiterOf(tid int) *waiter {
	w := s.wall.waiters[tid]
	if w == nil {
		w = &waiter{}
		s.wall.waiters[tid] = w
	}
	return w
}

// ran notes that a thread has used CPU time, which is in a sample of its own.
func (s *Sampler) ran(out *stack.Stack) {
	w := s.waiterOf(out.TID)
	w.cpu += out.Weight
	if out.Complete {
		w.last, w.lastAt = out.Frames, out.Time
	}
}

// tick samples all of Java's threads for the time that has passed since the last tick: what
// of it they have not used the CPU, they spent in the state, and at the place, where they are
// now. The times of a thread's samples so add up to the time that passed.
func (s *Sampler) tick(now int64) {
	w := &s.wall
	passed := now - w.ticked
	if w.ticked == 0 {
		passed = s.period()
	}
	w.ticked, w.holders.of = now, nil
	w.tids, w.each, w.threads = w.tids[:0], w.each[:0], w.threads[:0]
	for _, tid := range s.present() {
		if s.o.Threads == nil || s.o.Threads(s.threads.known[tid].name) {
			w.tids = append(w.tids, tid)
		}
	}
	if w.lists != s.threads.lists {
		w.lists = s.threads.lists
		for tid := range w.waiters {
			if t := s.threads.known[tid]; t == nil || !t.listed {
				delete(w.waiters, tid)
			}
		}
	}
	for _, tid := range w.tids {
		w.threads, w.each = append(w.threads, s.threads.known[tid].thread), append(w.each, s.waiterOf(tid))
	}
	n := len(w.tids)
	w.anchors, w.again = slices.Grow(w.anchors[:0], n)[:n], slices.Grow(w.again[:0], n)[:n]
	quiet := s.collections()
	s.u.Anchors(w.threads, w.anchors)
	s.readStacks(now)
	if s.stops.on && s.o.Inside == nil && now-s.stops.others >= othersEach {
		s.stops.others = now
		s.others(now)
	}
	first := len(s.batch)
	for i := range w.tids {
		s.thread(i, now, passed)
	}
	// What was read counts only if the thread was there all the time.
	// One whose anchor and stack were the same as at the last tick was there, but its lock's owner is what was
	// read now.
	fresh := w.threads[:0]
	for i := range w.tids {
		if k := w.each[i]; k.fresh || k.looks {
			w.anchors[len(fresh)], w.each[len(fresh)] = w.anchors[i], k
			fresh = append(fresh, w.threads[i])
		}
	}
	w.again = w.again[:len(fresh)]
	s.u.Anchors(fresh, w.again)
	moved := s.o.Locks && !s.collections().NoneSince(quiet)
	for i := range fresh {
		if moved || w.again[i] != w.anchors[i] {
			w.each[i].valid = false
		}
	}
	for i := range s.batch[first:] {
		b := &s.batch[first+i]
		k, ran := w.waiters[b.TID], b.State == stack.Runnable || b.State == stack.Running
		if k.valid || ran && !k.fresh {
			continue
		}
		k.owed += b.Weight // for its next sample
		if s.stops.on && b.State == stack.Running {
			s.stops.used[b.TID] -= b.Weight
		}
		b.Weight = 0
	}
}

// waitsNow are the states of a thread that can't be on a core.
var waitsNow = map[stack.State]bool{stack.Blocked: true, stack.Waiting: true, stack.Parked: true, stack.Sleeping: true, stack.InIO: true}

// present are the threads that are looked at.
func (s *Sampler) present() []int {
	if s.o.Inside == nil {
		return s.threads.java()
	}
	clear(s.wall.wanted)
	s.o.Inside(func(thread int64) {
		if len(s.wall.wanted) < mostKnown {
			s.wall.wanted[thread] = true
		}
	})
	if len(s.wall.wanted) == 0 {
		return nil
	}
	return s.threads.inside(s.wall.wanted)
}

// readStacks reads the upper ends of the stacks of those that have left Java code.
func (s *Sampler) readStacks(now int64) {
	w := &s.wall
	n := len(w.tids)
	w.spans = slices.Grow(w.spans[:0], n)[:n]
	if cap(w.room) < n*stackWindow {
		w.room = make([]byte, n*stackWindow)
	}
	for i, a := range w.anchors {
		w.spans[i] = vmstructs.Span{}
		base := w.threads[i].StackBase
		if a.SP < 8 || a.SP%8 != 0 || a.SP >= base {
			continue
		}
		if k := w.each[i]; k.spared > 0 && k.valid && k.anchor == a {
			continue
		}
		if s.stops.on && !s.o.Wall && w.each[i].rest.on(a, now) {
			continue // it is not sampled
		}
		size := min(stackWindow, int(min(base-a.SP+8, stackWindow)))
		w.spans[i] = vmstructs.Span{At: a.SP - 8, P: w.room[i*stackWindow:][:size]}
	}
	_ = vmstructs.Process(s.pid).ReadMany(w.spans) // what can't be read is not OK
}

// thread makes a sample of one thread.
func (s *Sampler) thread(i int, now, passed int64) {
	w, tid := &s.wall, s.wall.tids[i]
	k, a := w.each[i], w.anchors[i]
	k.fresh, k.looks = false, false
	came := s.o.Inside != nil && now-k.looked > passed*3/2 // it was not inside at the last tick
	if k.looked = now; came {
		k.owed, k.rest = 0, rest{}
	}
	owed := k.owed + passed
	spent := int64(0)
	if s.stops.on && !k.rest.on(a, now) {
		spent = s.spent(tid)
		k.rest.look(a, spent, now, s.period())
	}
	if came { // what it used was elsewhere
		if spent = 0; a.SP == 0 {
			spent = owed
		}
	}
	used := min(k.cpu, owed)
	k.cpu -= used
	owed -= used
	k.owed = 0
	if owed == 0 || !a.OK || s.stops.on && !s.o.Wall && spent == 0 {
		return
	}
	out := stack.Stack{Time: now, Weight: owed, TID: tid, Thread: s.threads.known[tid].name, Java: true}
	if a.SP == 0 {
		if s.stops.on && a.State == unwinder.InJava {
			out.State = stack.Runnable
			k.valid = false
			if now < s.stops.until || !s.stop(&out, w.threads[i], k) { // later
				k.owed = owed
				s.stops.used[tid] -= spent
				return
			}
			s.split(out, spent)
			return
		}
		s.inJava(&out, k, a, passed)
		return
	}
	span := w.spans[i]
	spared := k.spared > 0 && k.valid && k.anchor == a
	if !spared && (!span.OK || len(span.P) < 8) {
		k.owed = owed
		return
	}
	hash := k.hash
	if spared {
		k.spared--
	} else {
		hash = maphash.Bytes(w.seed, span.P)
	}
	if !k.valid || a != k.anchor || hash != k.hash {
		k.same, k.spared = 0, 0
		walked := s.u.WalkAnchor(unwinder.Registers{PC: a.PC, SP: a.SP, FP: a.FP}, span.P, span.At, w.threads[i])
		k.stack = stack.Stack{}
		s.take(&k.stack, nil, walked)
		s.walks = append(s.walks, walkOf{len(s.batch), k})
		k.anchor, k.hash, k.valid, k.fresh = a, hash, true, true
		k.stack.State = s.stateOf(tid, a, k.stack.Frames)
		switch k.stack.State {
		case stack.Blocked:
			k.stack.Monitor = s.u.MonitorClass(a.Pending)
		case stack.Waiting:
			k.stack.Monitor = s.u.MonitorClass(a.Waiting)
		}
		if s.o.Native && k.stack.State != stack.InVM {
			k.stack.Frames = s.copied(s.above(tid, w.threads[i], a), k.stack.Frames)
		}
	}
	if !spared && !k.fresh {
		switch k.same++; {
		case k.same >= stillReads:
			k.spared = stillTicks
		case k.same >= steadyReads:
			k.spared = sparedTicks
		}
	}
	if s.o.Locks {
		s.lock(k, a, w.threads[i])
	}
	if s.o.Inside != nil && waitsNow[k.stack.State] { // it is looked at as it is, not as it was since the last tick
		spent = 0
	}
	out.Monitor, out.Lock, out.Status = k.stack.Monitor, k.stack.Lock, k.stack.Status
	out.Kept = true
	out.State, out.Frames, out.Complete, out.Heuristic, out.Broken = k.stack.State, k.stack.Frames, k.stack.Complete, k.stack.Heuristic, k.stack.Broken
	s.split(out, spent)
}

// inJava is for a thread that runs Java code, or has none on its stack. It uses the CPU, for
// which perf has samples of their own, or waits for it.
func (s *Sampler) inJava(out *stack.Stack, k *waiter, a unwinder.Anchor, passed int64) {
	if a.State != unwinder.InJava {
		out.State, out.Complete = stack.InVM, true // it begins or ends, or is one of native code
		if a.State == unwinder.InNative {
			out.State = stack.Unknown
		}
		k.valid = true
		k.anchor = a
		s.split(*out, 0)
		return
	}
	k.valid = false
	if s.perf == nil {
		out.State, out.Broken = stack.Running, brokenRunning
		s.batch = append(s.batch, *out)
		return
	}
	// Its next sample of CPU time may only be due.
	keep := max(passed, s.period())
	known := k.lastAt != 0 && out.Time-k.lastAt < staleAfter
	if out.Weight <= 2*keep || !known && out.Weight <= unknownFor {
		k.owed = out.Weight
		return
	}
	k.owed = keep
	out.Weight -= keep
	out.State = stack.Runnable
	if known {
		out.Frames, out.Complete, out.Heuristic = k.last, true, true
	} else {
		out.Broken = brokenNever
	}
	s.batch = append(s.batch, *out)
}
