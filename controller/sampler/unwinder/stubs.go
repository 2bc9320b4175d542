package unwinder

// leaveFrameless leaves code without a frame: the return address is on top.
func (w *walk) leaveFrameless(p *place) bool {
	first := len(w.out.Frames)
	w.addStub(p.b)
	pc, ok := w.returnAt(w.sp)
	if p.b.kind == adapter && w.top {
		return w.topAdapter(first, pc, ok)
	}
	if !ok {
		return w.scanned(first, 32, BrokenStub)
	}
	return w.to(first, w.sp, pc, w.sp+8, w.fp)
}

// topAdapter leaves an adapter between interpreted and compiled code. It moves the return
// address down, to make room for arguments; from then on the caller's stack pointer is in a
// register, which before that has anything. For a few instructions the return address is in a
// register itself; what called may then be the interpreter, whose frame the frame pointer is of.
func (w *walk) topAdapter(first int, pc uint64, ok bool) bool {
	start, frames := *w, len(w.out.Frames)
	callers := [...]uint64{w.sp + 8, w.r13}
	for _, sp := range callers {
		if !ok || sp <= w.sp || sp-w.sp > 4<<10 {
			continue
		}
		w.to(first, w.sp, pc, sp, w.fp)
		w.top = false
		if w.java(); w.out.Complete || w.out.Broken == BrokenContinuation {
			return false
		}
		w.restore(&start, frames)
	}
	if w.wholeInterpreted(first) {
		return true
	}
	if !ok {
		return w.scanned(first, 32, BrokenStub)
	}
	return w.to(first, w.sp, pc, w.sp+8, w.fp)
}

// leaveRoutine leaves a stub routine, which has a frame with a frame pointer, or none.
func (w *walk) leaveRoutine(p *place) bool {
	b, first := p.b, len(w.out.Frames)
	if b.continuation() && !w.top {
		return w.continued()
	}
	w.addStub(b)
	if w.top && w.u.load(b) {
		if ra, fp, ok := epilogue(b.slice(w.pc, b.codeEnd)); ok && w.by(first, ra, fp) {
			return true
		}
		begin, framed := b.routine(w.pc)
		if framed {
			if ra, fp, ok := prologue(b.slice(begin, w.pc), 0); ok && w.pc-begin <= 4 && w.by(first, ra, fp) {
				return true
			}
		} else if found, over := w.scan(first, w.sp, 32); found || over {
			// Without a frame, the return address is on top, or below what it pushed.
			return found
		}
	}
	if w.fp >= w.sp && w.fp-w.sp < 64<<10 && w.fp%8 == 0 {
		if pc, ok := w.returnAt(w.fp + 8); ok {
			if caller, ok := w.word(w.fp); ok {
				return w.to(first, w.fp+8, pc, w.fp+16, caller)
			}
		}
	}
	if w.top && (w.by(first, 0, -1) || w.calledByNative(first)) {
		return true
	}
	return w.scanned(first, 32, BrokenStub)
}

// routine finds where a stub routine with a frame begins, in front of a pc, if it does
// within a few KB: push rbp; mov rbp, rsp, at a multiple of 16.
func (b *blob) routine(pc uint64) (begin uint64, framed bool) {
	const reach = 4 << 10
	for at := pc &^ 15; at >= b.codeBegin && at+4 <= b.codeEnd && pc-at < reach; at -= 16 {
		if match(b.slice(at, at+4), 0x55, 0x48, 0x8B, 0xEC) {
			return at, true
		}
	}
	return 0, false
}

// leaveRuntime leaves a stub that calls into the JVM. Its frame's size is known for most,
// once it is built.
func (w *walk) leaveRuntime(p *place) bool {
	b, first := p.b, len(w.out.Frames)
	w.addStub(b)
	if w.top && w.u.load(b) {
		if w.pc == b.codeBegin && w.by(first, 0, -1) {
			return true
		}
		if b.frame <= 0 && w.calledByNative(first) {
			return true
		}
		if !b.whole(w.pc) {
			if ra, fp, ok := prologue(b.slice(b.codeBegin, w.pc), b.frame); ok && w.by(first, ra, fp) {
				return true
			}
		}
		if ra, fp, ok := epilogue(b.slice(w.pc, b.codeEnd)); ok && w.by(first, ra, fp) {
			return true
		}
	}
	if size := b.frame; size > 0 {
		fp := int64(-1)
		if size >= 16 {
			fp = size - 16
		}
		if w.by(first, size-8, fp) {
			return true
		}
		// Where a thread is held at a poll it returns to the poll itself.
		slot := w.sp + uint64(size) - 8
		if pc, ok := w.word(slot); ok && b.name == "SafepointBlob" && w.u.placeOf(pc) != nil && fp >= 0 {
			if caller, ok := w.word(w.sp + uint64(fp)); ok {
				return w.to(first, slot, pc, slot+8, caller)
			}
		}
	}
	return w.scanned(first, 80, BrokenStub)
}

// calledByNative leaves a stub without a frame that native code called, as the JVM does to
// flush caches and to read memory that may not be there, and goes up to Java code again.
func (w *walk) calledByNative(first int) bool {
	pc, ok := w.word(w.sp)
	if !ok || w.u.native == nil || w.u.heapOf(pc) != nil {
		return false
	}
	start := *w
	if _, ok := w.u.native.Step(pc, w.sp+8, w.fp, false, w.word); !ok {
		return false
	}
	w.to(first, w.sp, pc, w.sp+8, w.fp)
	w.top = false
	if w.native() {
		return true
	}
	if w.out.Complete {
		return false
	}
	w.restore(&start, len(start.out.Frames))
	return false
}
