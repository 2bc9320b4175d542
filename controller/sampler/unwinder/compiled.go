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
	size := uint64(max(b.frame, 0))
	if size >= 8 {
		fp := int64(-1)
		if size >= 16 {
			fp = int64(size) - 16
		}
		if w.by(first, int64(size)-8, fp) {
			return true
		}
		// The code may have pushed words.
		for i := int64(1); i <= 8; i++ {
			f := fp
			if f >= 0 {
				f += 8 * i
			}
			if w.by(first, int64(size)-8+8*i, f) {
				w.out.Heuristic = true
				return true
			}
		}
	}
	if w.top && w.scan(first, w.sp, int(min(size/8+1, maxFrame))) {
		return true
	}
	return w.broken(reason)
}
