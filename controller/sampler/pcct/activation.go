package pcct

import "github.com/rivulet-profiler/rivulet/controller/sampler/stack"

// A frame is what is kept of a thread's last sample to tell new activations from
// old ones.
type frame struct {
	method   *stack.Method
	slot     uint64
	ret      uint64
	words    uint64
	bci      int
	kind     stack.Kind
	inlined  bool
	id       int32 // the method's number
	node     *node
	activity activity
}

// An activity says whether a frame is an activation that the sample before had seen.
type activity uint8

const (
	old    activity = iota // the same activation
	unsure                 // one or the other
	fresh                  // another activation
)

// same is rule H1 of one frame: it is at the same place, and returns to the same place. Where the place
// of one of them is not known, as of a virtual thread's frame in the heap, it may be the same.
func (f *frame) same(o *frame) bool {
	if (f.slot == 0 || o.slot == 0) && f.inlined == o.inlined {
		return f.id == o.id && f.method == o.method
	}
	return f.id == o.id && f.method == o.method && f.slot == o.slot && f.ret == o.ret && f.inlined == o.inlined
}

// replaces tells whether a frame may be the other one's activation, going on in code of
// another kind.
func (f *frame) replaces(o *frame) bool {
	return f.id == o.id && f.kind != o.kind && !f.inlined && !o.inlined
}

// judge sets the activity of each frame of next, outermost first, after the
// sample last. moved says that objects were moved between them, whole that both
// begin with the thread's first frame.
//
// A frame is old if it and all its callers are at the same place and return to the
// same place in both samples, and the words of its caller's frame are unchanged: a
// caller that went on has changed some, since compiled code keeps nothing
// in registers across a call but the frame pointer (rule H3). On one JDK, for code of
// C1, this was wrong for 0.9 to 2.3 % of the frames; without the words for 5.5 to
// 12.6 %.
//
// An activation may go on in another frame, when its loop's compiled code takes over from the
// interpreter, or the interpreter from code that is given up: a frame of another kind whose
// caller is unchanged is unsure.
//
// Where a caller stands at another bytecode, its callee is another activation. Frames whose
// places are not known are unsure as long as the methods are the same.
// An inlined frame lies in the same words as its caller. If these have changed, that may have
// been the inlined method going on: it is unsure. What it
// calls without inlining is fresh then. The innermost frame that is not fresh is
// unsure: its caller's words may be equal by chance, and are wherever
// the caller does the same thing again.
func judge(last, next []frame, moved bool) {
	known, ended := 0, false // frames that are not fresh, and whether the next one is unsure
	for i := range next {
		n := &next[i]
		if known < i || i >= len(last) {
			n.activity = fresh
			continue
		}
		if !n.same(&last[i]) {
			n.activity = fresh
			if i > 0 && n.replaces(&last[i]) && compare(&last[i-1], &next[i-1], n, moved, false) != fresh {
				n.activity, ended = unsure, true // what it calls is new: it had to be the innermost
			}
			continue
		}
		n.activity = old
		if n.slot == 0 && last[i].slot != 0 || n.slot != 0 && last[i].slot == 0 {
			n.activity = unsure
		} else if i > 0 {
			n.activity = compare(&last[i-1], &next[i-1], n, moved, inTop(last, i) || inTop(next, i))
		}
		if n.activity != fresh {
			known = i + 1
		}
	}
	if last := known - 1; last > 0 && !ended && next[last].activity == old {
		next[last].activity = unsure
	}
}

// inTop tells whether the i-th frame is inlined into the innermost physical one.
func inTop(frames []frame, i int) bool {
	slot := frames[i].slot
	return slot != 0 && slot == frames[len(frames)-1].slot && slot == frames[i-1].slot
}

// compare tells what a frame is whose caller was before and is now. running says that
// it is inlined into code that ran when one of the samples was taken.
func compare(before, now, f *frame, moved, running bool) activity {
	inlined := f.inlined && f.slot == now.slot
	switch {
	case inlined && running:
		return unsure
	case before.bci >= 0 && now.bci >= 0 && before.bci != now.bci:
		return fresh
	case f.slot == 0 || now.slot == 0:
		return unsure
	case before.words == now.words:
		return old
	case inlined || moved:
		return unsure
	}
	return fresh
}
