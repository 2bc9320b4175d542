package unwinder

import "github.com/rivulet-profiler/rivulet/controller/sampler/stack"

// fromNative goes from native code up to Java's: by the tables for exceptions, else by the
// thread's anchor, else by a scan of the stack.
func (w *walk) fromNative() {
	start := *w
	if w.native() {
		w.java()
		if w.out.Complete || w.out.Broken == BrokenContinuation {
			return
		}
	} else if w.out.Complete {
		return
	}
	reason, at, atSP, atFP := w.out.Broken, w.at, w.atSP, w.atFP
	if w.thread.At == 0 {
		return
	}
	w.restore(&start, 0)
	if w.byAnchor() {
		return
	}
	if w.u.l.Arm64 { // a leaf function, perhaps; where on the stack another's caller begins nobody knows
		w.out.Heuristic = true
		if w.tryArm(0, w.sp) {
			return
		}
		w.restore(&start, 0)
		w.out.Broken, w.at, w.atSP, w.atFP = reason, at, atSP, atFP
		return
	}
	for _, fp := range []bool{false, true} {
		if w.scanNative(&start, fp) {
			return
		}
	}
	w.restore(&start, 0)
	w.out.Broken, w.at, w.atSP, w.atFP = reason, at, atSP, atFP
}

// native goes up native frames. It is true if it came to Java code; else the walk is
// complete, or broken.
func (w *walk) native() bool {
	u := w.u
	if u.native == nil {
		return w.broken(BrokenNative)
	}
	guessed := false
	for range maxNative {
		if u.natives {
			w.out.Frames = append(w.out.Frames, stack.Frame{Method: u.nativeName(w.pc, w.top), Kind: stack.Native, BCI: -1})
		}
		s, ok := u.native.Step(w.pc, w.sp, w.fp, w.top, w.word)
		if !ok {
			return w.broken(BrokenNative)
		}
		guessed = guessed || s.Guess
		if s.End {
			w.out.Heuristic = w.out.Heuristic || guessed
			return w.endNative()
		}
		if s.SP <= w.sp || s.SP > w.limit {
			return w.broken(BrokenGrowth)
		}
		if f := len(w.out.Frames) - 1; u.natives {
			x := &w.out.Frames[f]
			x.Slot, x.Return, x.Words = s.SP-8, s.PC, w.hash(w.sp, s.SP-8)
		}
		w.pc, w.sp, w.fp = s.PC, s.SP, s.FP
		w.top = false
		if u.heapOf(w.pc) != nil || w.pc == u.callStubReturn {
			if guessed && !w.atAnchor() {
				return w.broken(BrokenNative)
			}
			return true
		}
	}
	return w.broken(BrokenDepth)
}

// NativeAbove goes up the native frames above where a thread last left Java code, which its
// anchor has as sp. r is where it waits; r.FP need not be known, since what waits has mostly
// saved it. It returns nil if the walk does not come to that place. The frames are valid until the
// next walk.
func (u *Unwinder) NativeAbove(r Registers, t Thread, sp uint64) []stack.Frame {
	w := u.start(r, nil, t)
	w.top = true
	if u.heapOf(w.pc) != nil || !w.native() || w.sp != sp {
		return nil
	}
	return w.out.Frames
}

// endNative is for a stack without Java frames: a thread of the JVM's, or one that begins
// or ends. It is broken if the thread has an anchor nevertheless.
func (w *walk) endNative() bool {
	if w.thread.At != 0 {
		l := w.u.l
		if sp, ok := w.u.u64(w.thread.At + l.Anchor + l.LastSP); ok && sp != 0 {
			return w.broken(BrokenNative)
		}
	}
	w.out.Complete = true
	return false
}

// atAnchor reports whether the walk is where the thread last left Java code.
func (w *walk) atAnchor() bool {
	l := w.u.l
	if w.thread.At == 0 {
		return false
	}
	sp, ok := w.u.u64(w.thread.At + l.Anchor + l.LastSP)
	return ok && sp == w.sp
}

func (u *Unwinder) nativeName(pc uint64, first bool) *stack.Method {
	if !first && pc > 0 {
		pc--
	}
	name := u.native.Name(pc)
	if name == "" {
		name = "[unknown]"
	}
	return u.intern(stack.Method{Name: name})
}

// byAnchor goes on where the thread last left Java code, if that still holds for the
// sample, which is older: the word below it must be a return address.
func (w *walk) byAnchor() bool {
	l := w.u.l
	p := w.u.bytes(w.thread.At+l.Anchor, int(max(l.LastSP, l.LastPC, l.LastFP))+8)
	sp, pc, fp := word(p, l.LastSP), word(p, l.LastPC), word(p, l.LastFP)
	if sp <= w.sp || sp-w.sp > 1<<20 || sp >= w.limit {
		return false
	}
	below, ok := w.word(sp - 8)
	if !ok {
		return false
	}
	if pc == 0 {
		pc = below
	}
	a, b := w.u.placeOf(pc), w.u.placeOf(below)
	if a == nil || b == nil || a.b != b.b {
		return false
	}
	w.pc, w.sp, w.fp, w.top = pc, sp, fp, false
	w.java()
	return w.out.Complete
}

// scanNative tries the words of the stack that can be return addresses, until from one the
// whole walk is complete. The caller's frame pointer is the sample's, or what was pushed
// last before the return address.
func (w *walk) scanNative(start *walk, pushed bool) bool {
	const most = 64
	tries := 0
	for at := start.sp; at+8 <= start.sp+uint64(len(start.dump)) && tries < most; at += 8 {
		pc, ok := w.returnAt(at)
		if !ok {
			continue
		}
		tries++
		w.restore(start, 0)
		w.out.Heuristic = true
		fp := start.fp
		if pushed && at > start.sp {
			fp, _ = w.word(at - 8)
		}
		w.pc, w.sp, w.fp, w.top = pc, at+8, fp, false
		if w.java(); w.out.Complete {
			return true
		}
	}
	return false
}
