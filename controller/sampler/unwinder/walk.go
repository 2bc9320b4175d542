package unwinder

import (
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// A walk goes up one stack.
type walk struct {
	u      *Unwinder
	base   uint64 // of the dump
	dump   []byte
	limit  uint64 // the stack's high end
	thread Thread
	lives  []piece

	pc, sp, fp uint64
	bx, r13    uint64
	lr, x13    uint64 // on arm64
	bytecodeAt uint64 // the register that has the bytecode pointer
	top        bool   // the registers are the sample's own
	below      uint64 // stack pointer of the frame that was left last
	belowPC    uint64 // its pc
	belowSlot  uint64 // where its return address is
	at         uint64 // where it broke
	atSP, atFP uint64
	out        Walk
}

// A piece of the running thread's stack.
type piece struct {
	at uint64
	p  []byte
}

const livePiece = 16 << 10

// Walk goes up a stack whose words from r.SP on are in dump. What lies beyond is read from
// the running thread. The frames are valid until the next call.
func (u *Unwinder) Walk(r Registers, dump []byte, t Thread) *Walk {
	w := u.start(r, dump, t)
	w.top = true
	if u.heapOf(w.pc) != nil {
		w.java()
	} else {
		w.out.NativeTop = true
		w.fromNative()
	}
	return w.finish()
}

// WalkAnchor goes up from where a thread last left Java code, as its JavaFrameAnchor says.
func (u *Unwinder) WalkAnchor(r Registers, dump []byte, base uint64, t Thread) *Walk {
	w := u.start(r, dump, t)
	w.base = base
	if w.pc == 0 {
		w.pc, _ = w.word(w.sp - 8)
	}
	w.java()
	return w.finish()
}

func (u *Unwinder) start(r Registers, dump []byte, t Thread) *walk {
	u.budget = walkBudget
	w := &u.w
	*w = walk{
		u: u, base: r.SP, dump: dump, limit: t.StackBase, thread: t, lives: w.lives[:0],
		pc: r.PC, sp: r.SP, fp: r.FP, bx: r.BX, r13: r.R13, lr: r.LR, x13: r.X13, bytecodeAt: r.R13, out: Walk{Frames: w.out.Frames[:0]},
	}
	if u.l.Arm64 {
		w.bytecodeAt = r.X22
	}
	if w.limit == 0 || w.limit < r.SP || w.limit-r.SP > maxStack {
		w.limit = r.SP + maxStack
	}
	return w
}

func (w *walk) finish() *Walk {
	w.out.At = w.at
	w.u.walks++
	return &w.out
}

// word returns the word at an address of the stack.
func (w *walk) word(at uint64) (uint64, bool) {
	if w.u.budget--; w.u.budget < 0 {
		return 0, false
	}
	if off := at - w.base; off < uint64(len(w.dump)) && uint64(len(w.dump))-off >= 8 {
		return u64(w.dump[off:]), true
	}
	if at%8 != 0 || at < w.base || at >= w.limit {
		return 0, false
	}
	for _, l := range w.lives {
		if off := at - l.at; off < uint64(len(l.p)) {
			return u64(l.p[off:]), true
		}
	}
	if len(w.lives) >= 64 {
		return 0, false
	}
	n := livePiece
	if w.limit-at < livePiece {
		n = int(w.limit-at) &^ 7
	}
	p := w.u.bytes(at, n)
	for p == nil && n > 64 {
		n /= 2
		p = w.u.bytes(at, n&^7)
	}
	w.lives = append(w.lives, piece{at, p[:len(p)&^7]})
	if len(p) < 8 {
		return 0, false
	}
	w.out.Live = true
	return u64(p), true
}

// returnAt returns the word at an address if it can be a return address.
func (w *walk) returnAt(at uint64) (uint64, bool) {
	pc, ok := w.word(at)
	if w.u.l.Arm64 {
		pc &= addressBits
	}
	if !ok || !w.u.plausible(pc) {
		return 0, false
	}
	return pc, true
}

func (u *Unwinder) plausible(pc uint64) bool {
	if pc == u.callStubReturn {
		return pc != 0
	}
	p := u.placeOf(pc)
	return p != nil && p.ret
}

func (w *walk) broken(reason string) bool {
	w.out.Broken, w.at, w.atSP, w.atFP = reason, w.pc, w.sp, w.fp
	return false
}

// java goes up from Java code until the end.
func (w *walk) java() {
	u := w.u
	for range maxFrames {
		sp, pc := w.sp, w.pc
		if w.pc == u.callStubReturn {
			if !w.callStub() {
				return
			}
		} else {
			p := u.placeOf(w.pc)
			if p == nil {
				w.broken(BrokenCode)
				return
			}
			u.use(p.b)
			if !w.leave(p) {
				return
			}
		}
		if w.sp < sp || w.sp == sp && !(u.l.Arm64 && w.top) || w.sp >= w.limit {
			w.broken(BrokenGrowth)
			return
		}
		w.below, w.belowPC, w.top = sp, pc, false
	}
	w.broken(BrokenDepth)
}

// leave goes from a frame to its caller's.
func (w *walk) leave(p *place) bool {
	if w.top && w.u.l.Arm64 {
		if ok, done := w.topArm(p); done {
			return ok
		}
		w.out.Broken = ""
	}
	switch p.b.kind {
	case compiled, nativeWrapper:
		return w.leaveCompiled(p)
	case interpreter:
		return w.leaveInterpreted()
	case stubRoutine:
		return w.leaveRoutine(p)
	case adapter, frameless:
		return w.leaveFrameless(p)
	default:
		return w.leaveRuntime(p)
	}
}

// to sets where the walk goes on: in the caller, whose pc is in the word at slot. The
// frames from first on are those that it leaves.
func (w *walk) to(first int, slot, pc, sp, fp uint64) bool {
	if first < len(w.out.Frames) {
		words := w.hash(w.sp, slot)
		for i := range w.out.Frames[first:] {
			f := &w.out.Frames[first+i]
			f.Slot, f.Return, f.Words = slot, pc, words
		}
	}
	w.pc, w.sp, w.fp, w.belowSlot = pc, sp, fp, slot
	return true
}

// hash is that of the words from one address up to another.
func (w *walk) hash(from, to uint64) uint64 {
	const most = 64 << 10
	if from > to || to-from > most {
		return 0
	}
	h := uint64(0xcbf29ce484222325)
	for at := from; at < to; at += 8 {
		v, ok := w.word(at)
		if !ok {
			return 0
		}
		h = (h ^ v) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	return h
}

// add adds the frames of compiled code.
func (w *walk) add(p *place, pc uint64) {
	w.out.Frames = append(w.out.Frames, w.u.framesOf(p, pc)...)
}

// addStub adds a stub's frame, if those are wanted.
func (w *walk) addStub(b *blob) {
	if w.u.natives {
		w.out.Frames = append(w.out.Frames, stack.Frame{Method: w.u.intern(stack.Method{Name: b.name}), Kind: stack.Stub, BCI: -1})
	}
}

// scan looks for the return address in so many words from an address on. At the top the
// walk goes on from each that can be one, until from one it comes to the end of the stack;
// that walk is then over, so what scan returns is false. Further out the first counts.
func (w *walk) scan(first int, from uint64, words int) (found, over bool) {
	start, frames := *w, len(w.out.Frames)
	best := uint64(0)
	for i := range words {
		at := from + 8*uint64(i)
		pc, ok := w.returnAt(at)
		if !ok {
			continue
		}
		if best == 0 {
			best = at
		}
		if !start.top {
			break
		}
		w.guess(first, at, pc, at != start.sp)
		if w.java(); w.out.Complete || w.out.Broken == BrokenContinuation {
			return false, true
		}
		w.restore(&start, frames)
	}
	if best == 0 {
		return false, false
	}
	pc, _ := w.word(best)
	w.guess(first, best, pc, true)
	return true, false
}

// restore goes back to where a try began, with so many frames.
func (w *walk) restore(start *walk, frames int) {
	lives, out := w.lives, w.out.Frames[:frames]
	*w = *start
	w.lives, w.out.Frames = lives, out
}

func (w *walk) guess(first int, at, pc uint64, heuristic bool) {
	w.out.Heuristic = w.out.Heuristic || heuristic
	w.to(first, at, pc, at+8, w.fp)
	w.top = false
}

// scanned is scan where nothing is left but to give up.
func (w *walk) scanned(first, words int, reason string) bool {
	found, over := w.scan(first, w.sp, words)
	if found || over {
		return found
	}
	return w.broken(reason)
}

// callStub goes from the call stub, through which C++ called Java, to the Java frame that
// had called C++: the stub keeps the thread's JavaFrameAnchor of that time.
func (w *walk) callStub() bool {
	l := w.u.l
	at := l.EntryWrapper
	if l.Arm64 {
		at = entryWrapperArm
	}
	wrapper, ok := w.word(w.fp + uint64(8*at))
	if !ok || wrapper <= w.sp || wrapper-w.sp > 64<<10 {
		return w.broken(BrokenCallStub)
	}
	anchor := wrapper + l.WrapperAnchor
	sp, ok1 := w.word(anchor + l.LastSP)
	pc, ok2 := w.word(anchor + l.LastPC)
	fp, ok3 := w.word(anchor + l.LastFP)
	if !ok1 || !ok2 || !ok3 {
		return w.broken(BrokenCallStub)
	}
	if sp == 0 {
		w.out.Complete = true
		return false
	}
	if sp <= w.sp || sp >= w.limit {
		return w.broken(BrokenCallStub)
	}
	if pc == 0 {
		pc, _ = w.word(sp - 8)
	}
	w.pc, w.sp, w.fp = pc, sp, fp
	return true
}

// continuation reports whether a stub is one of those by which virtual threads stop and
// go on.
func (b *blob) continuation() bool {
	return b.kind == stubRoutine && strings.Contains(b.name, "ontinuation")
}
