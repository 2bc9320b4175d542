package unwinder

import "github.com/rivulet-profiler/rivulet/controller/sampler/stack"

// Slots of an interpreted frame, in bytes from its frame pointer. The bytecode pointer is
// one further down from JDK 9 on, which added the class's mirror.
const (
	slotSender   = -8
	slotMethod   = -24
	slotBytecode = -56
	slotMirrored = -64
	slotExtended = -72 // on arm64, from JDK 20 on
)

func (w *walk) slot(offset int) (uint64, bool) { return w.word(w.fp + uint64(int64(offset))) }

// leaveInterpreted leaves code of the interpreter.
func (w *walk) leaveInterpreted() bool {
	first := len(w.out.Frames)
	// A method that is being entered: its frame is not built, and the frame pointer is its
	// caller's. The register that will hold the bytecode pointer holds the caller's stack
	// pointer, which is next to this one.
	entering := w.top && w.r13 > w.sp && w.r13-w.sp <= 4<<10
	if entering {
		if pc, ok := w.returnAt(w.sp); ok {
			if m := w.u.methodOf(w.bx); m != nil {
				w.interpreted(m, 0)
				return w.to(first, w.sp, pc, w.r13, w.fp)
			}
		}
	}
	if w.wholeInterpreted(first) {
		return true
	}
	if !w.top {
		return w.broken(BrokenInterpreted)
	}
	m := w.u.methodOf(w.bx)
	if pc, ok := w.returnAt(w.sp); ok && m != nil {
		w.interpreted(m, 0)
		return w.to(first, w.sp, pc, w.sp+8, w.fp)
	}
	if m != nil { // half built
		if pc, ok := w.returnAt(w.fp + 8); ok && w.fp >= w.sp {
			sender := w.r13
			if sender <= w.fp || sender-w.fp > 4<<10 {
				sender, _ = w.slot(slotSender)
			}
			if caller, ok := w.word(w.fp); ok && sender > w.fp {
				w.interpreted(m, 0)
				return w.to(first, w.fp+8, pc, sender, caller)
			}
		}
	}
	// The entry of a native method or of mathematics, or the end of a method.
	if pc, ok := w.returnAt(w.sp); ok {
		return w.to(first, w.sp, pc, w.sp+8, w.fp)
	}
	return w.scanned(first, 16, BrokenInterpreted)
}

// wholeInterpreted leaves an interpreted frame that is all there.
func (w *walk) wholeInterpreted(first int) bool {
	if w.fp < w.sp || w.fp-w.sp >= 512<<10 || w.fp%8 != 0 {
		return false
	}
	at, ok1 := w.slot(slotMethod)
	sender, ok2 := w.slot(slotSender)
	caller, ok3 := w.word(w.fp)
	// On arm64 a frame begins where its caller's expressions end, above the caller's stack pointer.
	least := w.fp
	if w.u.l.Arm64 {
		least = w.sp
	}
	if !ok1 || !ok2 || !ok3 || sender <= least {
		return false
	}
	pc, ok := w.returnAt(w.fp + 8)
	if !ok {
		return false
	}
	m := w.u.methodOf(at)
	if m == nil {
		return false
	}
	w.interpreted(m, w.bytecode(m))
	return w.to(first, w.fp+8, pc, sender, caller)
}

// bytecode returns the index of the bytecode that a whole frame is at, -1 if not known.
func (w *walk) bytecode(m *method) int {
	code := m.constant + w.u.l.ConstMethodSize
	if w.top {
		if bci := w.bytecodeAt - code; bci < uint64(m.codeSize) {
			return int(bci)
		}
	}
	slots := []int{slotMirrored, slotBytecode}
	if w.u.l.Arm64 {
		slots = []int{slotExtended, slotMirrored}
	}
	for _, offset := range slots {
		if p, ok := w.slot(offset); ok && p-code < uint64(m.codeSize) {
			return int(p - code)
		}
	}
	return -1
}

// interpreted adds the frame of an interpreted method.
func (w *walk) interpreted(m *method, bci int) {
	w.u.useMethod(m)
	f := stack.Frame{Method: m.name, Kind: stack.Interpreted, BCI: bci, Line: m.lineOf(bci)}
	if m.codeSize == 0 {
		f.Kind, f.BCI = stack.JavaNative, -1
	}
	w.out.Frames = append(w.out.Frames, f)
}
