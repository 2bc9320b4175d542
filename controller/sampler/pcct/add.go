package pcct

import (
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// Add takes one sample. The stacks of one thread have to come in the order of time.
//
// Downward, the path of the thread's frames is followed in its tree, from the
// outermost frame on, and contexts that are new are made. Edges to frames that are new
// activations are counted: see judge. What a thread's first sample finds may have begun
// before: see [Options.Present]. The innermost context gets the sample. Of a stack without its outer frames, the outermost frame is
// looked for in the thread's previous stack, by its place; if it is there, its
// callers are, too. Otherwise it is attached to "(callers not known)".
//
// The stack may be changed afterwards, unless its frames are kept; its methods may not. The price is
// proportional to the stack's depth.
func (t *Tree) Add(s *stack.Stack) {
	t.note(s)
	th := t.thread(s)
	leaf := t.repeat(th, s)
	if leaf == nil {
		leaf = t.context(th, s)
	}
	t.charge(leaf, s)
	t.log.add(leaf, s)
	if t.o.Lines && th.line > 0 {
		if leaf.lines == nil {
			leaf.lines = map[int32]int64{}
		}
		leaf.lines[th.line]++
	}
	th.sum.Name = th.name
	th.sum.Samples++
	th.sum.Time += s.Weight
	if s.State == stack.Running {
		th.sum.Ran += s.Weight
	}
	th.at = s.Time
	if t.nodes > t.o.Nodes {
		t.Purge()
	}
}

// repeat is for a sample whose frames are those of the thread's two samples before, and not only equal to them. Whatever
// that says of activations, the last sample's has said. It returns nil for any other sample.
func (t *Tree) repeat(th *thread, s *stack.Stack) *node {
	if n := len(s.Frames); !s.Kept || !s.Complete || n == 0 || t.o.Depth > 0 && n > t.o.Depth {
		th.kept, th.again = nil, false
		return nil
	}
	at := &s.Frames[0]
	if th.kept != at || th.monitor != s.Monitor {
		th.kept, th.monitor, th.again = at, s.Monitor, false
		return nil
	}
	leaf := th.last[len(th.last)-1].node
	if !th.again || leaf == nil { // nil: after a purge
		th.again = true
		return nil
	}
	for i := range th.last {
		if f := &th.last[i]; f.activity == unsure {
			f.node.unsure++
			t.methods[f.id].Unsure++
		}
	}
	return leaf
}

// context finds the context of a sample, and keeps its frames as the thread's last ones.
func (t *Tree) context(th *thread, s *stack.Stack) *node {
	frames := s.Frames
	if t.o.Physical {
		for len(frames) > 1 && frames[0].Kind == stack.Inlined {
			frames = frames[1:]
		}
	}
	complete := s.Complete
	if t.o.Depth > 0 && len(frames) > t.o.Depth {
		frames, complete = frames[:t.o.Depth], false
	}
	th.line = 0
	if len(frames) > 0 {
		th.line = int32(frames[0].Line)
	}
	if len(frames) == 0 {
		th.next = append(th.next[:0], frame{id: t.names.ownThread(s), bci: -1})
		th.whole = true
	} else {
		t.outermostFirst(th, frames, complete)
	}
	if s.Monitor != "" && len(frames) > 0 {
		th.next = append(th.next, frame{id: t.names.monitor(s), bci: -1})
	}
	leaf := t.follow(th, s.Time)
	th.last, th.next = th.next, th.last
	return leaf
}

// note counts the sample.
func (t *Tree) note(s *stack.Stack) {
	st := &t.stats
	st.Samples++
	st.Time += s.Weight
	if s.State == stack.Running {
		st.Ran += s.Weight
	}
	st.States[s.State]++
	if s.Complete {
		st.Complete++
	} else if s.Broken != "" && (len(st.Broken) < 64 || st.Broken[s.Broken] > 0) {
		st.Broken[s.Broken]++
	}
	if s.Heuristic {
		st.Heuristic++
	}
	if len(s.Frames) == 0 {
		st.Frameless++
	}
	if st.First == 0 || s.Time < st.First {
		st.First = s.Time
	}
	st.Last = max(st.Last, s.Time)
}

// thread is the record of a sample's thread.
func (t *Tree) thread(s *stack.Stack) *thread {
	th := t.threads[s.TID]
	if th == nil {
		if len(t.threads) >= mostThreads {
			t.retire()
		}
		th = &thread{id: s.TID, name: s.Thread, java: s.Java}
		th.root.method = -1
		t.threads[s.TID] = th
	}
	if s.Thread != "" {
		th.name = s.Thread
	}
	th.java = th.java || s.Java
	return th
}

// mostLevels bounds what a stack without its outer frames is attached to.
const mostLevels = 1 << 16

// outermostFirst puts a stack's frames into th.next, with the callers that only
// the previous stack has.
func (t *Tree) outermostFirst(th *thread, frames []stack.Frame, complete bool) {
	th.next = th.next[:0]
	if !complete {
		outer := t.frame(&frames[len(frames)-1])
		switch at := place(th.last, &outer); {
		case at >= 0 && at+len(frames) <= mostLevels:
			th.next = append(th.next, th.last[:at]...)
		default:
			th.next = append(th.next, frame{id: t.names.beyond(), bci: -1})
			th.whole = false
			t.stats.Detached++
		}
	}
	for i := len(frames) - 1; i >= 0; i-- {
		th.next = append(th.next, t.frame(&frames[i]))
	}
	if complete && !th.whole && len(th.last) > 1 {
		// The previous stack's outer frames, which it lacked, are those of this one.
		if at := place(th.next, &th.last[1]); at >= 0 {
			th.last = append(append([]frame{}, th.next[:at]...), th.last[1:]...)
		}
	}
	th.whole = th.whole || complete
}

func (t *Tree) frame(f *stack.Frame) frame {
	return frame{
		method: f.Method, slot: f.Slot, ret: f.Return, words: f.Words, bci: f.BCI, kind: f.Kind,
		inlined: f.Kind == stack.Inlined, id: t.names.of(f),
	}
}

// place is where a stack has a frame; -1 if nowhere, or if its place is not known.
func place(in []frame, f *frame) int {
	if f.slot == 0 {
		return -1
	}
	for i := range in {
		if in[i].slot != 0 && in[i].same(f) {
			return i
		}
	}
	return -1
}

// follow goes down the path of th.next, counts the edges, and returns its end.
func (t *Tree) follow(th *thread, now int64) *node {
	if th.sum.Samples == 0 && (t.o.Present == nil || t.o.Present[th.id]) {
		for i := range th.next {
			th.next[i].activity = unsure
		}
	} else {
		judge(th.last, th.next, len(t.moves) > 0 && t.moved(th.at, now))
	}
	t.grow()
	at, shared := &th.root, true // shared: the path so far is the previous stack's
	for i := range th.next {
		f := &th.next[i]
		shared = shared && i < len(th.last) && th.last[i].id == f.id && th.last[i].node != nil
		if shared {
			at = th.last[i].node
		} else {
			at = t.child(at, f.id)
		}
		f.node = at
		switch f.activity {
		case fresh:
			at.entries++
			t.methods[f.id].Entries++
			t.busy.rise(at)
		case unsure:
			at.unsure++
			t.methods[f.id].Unsure++
		}
	}
	return at
}

// charge gives a sample to the end of the thread's path, and to its methods.
func (t *Tree) charge(leaf *node, s *stack.Stack) {
	leaf.samples++
	leaf.time += s.Weight
	if s.State == stack.Running {
		leaf.ran += s.Weight
	}
	if t.o.States && s.State < states {
		if leaf.states == nil {
			leaf.states = make([]int64, states)
		}
		leaf.states[s.State]++
	}
	t.hot.rise(leaf)
	m := &t.methods[leaf.method]
	m.Self++
	m.SelfTime += s.Weight
	for n := leaf; n.method >= 0; n = n.parent {
		if t.stamp[n.method] != t.stats.Samples { // recursion counts once
			t.stamp[n.method] = t.stats.Samples
			t.methods[n.method].Total++
			t.methods[n.method].TotalTime += s.Weight
		}
	}
}

// grow makes room for the figures of new methods.
func (t *Tree) grow() {
	for len(t.methods) < len(t.names.all) {
		t.methods = append(t.methods, MethodSum{})
		t.stamp = append(t.stamp, 0)
	}
}
