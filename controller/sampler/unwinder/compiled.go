package unwinder

// leaveCompiled leaves compiled code, or the wrapper of a native method.
func (w *walk) leaveCompiled(p *place) bool {
	u, b, first := w.u, p.b, len(w.out.Frames)
	pc := w.pc
	if !w.top && b.kind == compiled && (pc == b.nm.deopt || pc == b.nm.deoptMH) && pc != 0 {
		// It was deoptimized: its return address leads to the handler, and the place
		// where it was is kept in the frame.
		if orig, ok := w.word(w.sp + uint64(b.nm.origPC)); ok && orig >= b.codeBegin && orig < b.codeEnd {
			if o := u.placeOf(orig); o != nil && o.b == b {
				p, pc = o, orig
			}
		}
	}
	w.add(p, pc)
	if w.top && w.topCompiled(b, first) {
		return true
	}
	return w.bySize(b, first, BrokenReturn)
}

// topCompiled leaves code whose frame is not built yet, or not any more.
func (w *walk) topCompiled(b *blob, first int) bool {
	if w.pc <= b.nm.entry { // still checks who it was called for
		return w.by(first, 0, -1)
	}
	if !w.u.load(b) {
		return false
	}
	if !b.whole(w.pc) {
		if ra, fp, ok := prologue(b.slice(b.nm.entry, w.pc), b.frame); ok && w.by(first, ra, fp) {
			return true
		}
	}
	if ra, fp, ok := epilogue(b.slice(w.pc, b.codeEnd)); ok && w.by(first, ra, fp) {
		return true
	}
	return false
}

// by goes to the caller whose address is ra bytes above the stack pointer, and whose frame
// pointer is fp bytes above it, or still in its register if that is negative.
func (w *walk) by(first int, ra, fp int64) bool {
	slot := w.sp + uint64(ra)
	pc, ok := w.returnAt(slot)
	if !ok {
		return false
	}
	frame := w.fp
	if fp >= 0 {
		if frame, ok = w.word(w.sp + uint64(fp)); !ok {
			return false
		}
	}
	return w.to(first, slot, pc, slot+8, frame)
}

// bySize leaves a whole frame of fixed size.
func (w *walk) bySize(b *blob, first int, reason string) bool {
	size := int64(max(b.frame, 0))
	fp := int64(-1)
	if size >= 16 {
		fp = size - 16
	}
	switch {
	case size < 8:
	case !w.top:
		if w.by(first, size-8, fp) {
			return true
		}
	default:
		// Intrinsics of C2 push words for a while, and what was left on the stack may look
		// like a return address: the first from which the walk comes to the end counts.
		best := int64(-1)
		for i := int64(0); i <= pushed; i++ {
			start, frames := *w, len(w.out.Frames)
			f := fp
			if f >= 0 {
				f += 8 * i
			}
			if !w.by(first, size-8+8*i, f) {
				continue
			}
			w.out.Heuristic = w.out.Heuristic || i > 0
			w.top = false
			if w.java(); w.out.Complete || w.out.Broken == BrokenContinuation {
				return false
			}
			w.restore(&start, frames)
			if best < 0 {
				best = i
			}
		}
		if best >= 0 {
			if fp >= 0 {
				fp += 8 * best
			}
			w.out.Heuristic = w.out.Heuristic || best > 0
			return w.by(first, size-8+8*best, fp)
		}
		return w.scanned(first, int(min(size/8+1, maxFrame)), reason)
	}
	return w.broken(reason)
}

// pushed is how many words compiled code pushes beyond its frame, at the most.
const pushed = 8
