package unwinder

// On arm64 the stack is as on x86-64 with these differences (frame_aarch64.hpp,
// macroAssembler_aarch64.cpp of JDK 21 and 25):
//
//   - A call leaves the return address in a register, LR. Whoever calls further saves it, together with the
//     frame pointer: compiled code at the upper end of its frame, as x86-64 has both there; stubs and the
//     interpreter by stp x29, x30, [sp, #-16]!. So only the innermost frame may have its return address in LR.
//   - All instructions have four bytes. A call is bl or blr.
//   - The interpreter has the Method* in x12, the bytecode pointer in x22, and when a method is entered the
//     caller's stack pointer in x19 (before JDK 20: x13). The slots of its frames go by the same
//     offsets as far as the method; the bytecode pointer is one or two further down.
//   - Native code has its frame record at the lower end of its frame, so that its caller's stack
//     pointer is not known without debug information, which is not read here. A thread in native code is
//     walked from its anchor. One that is in a native leaf function has none, and its walk ends there.
//   - Return addresses may be signed in their upper bits (pointer authentication).

// addressBits are those of an address; what is above may be a signature.
const addressBits = 1<<48 - 1

// entryWrapperArm is frame::entry_frame_call_wrapper_offset, which JVMs of arm64 don't say.
const entryWrapperArm = -8

// behindCallArm reports whether code ends with a call: bl, or blr.
func behindCallArm(code []byte) bool {
	if len(code) < 4 {
		return false
	}
	i := u32(code[len(code)-4:])
	return i&0xFC000000 == 0x94000000 || i&0xFFFFFC1F == 0xD63F0000
}

// A builtArm is what is there of a frame at an instruction.
type builtArm struct {
	size  int64 // from the stack pointer to the caller's
	saved int64 // where from the stack pointer the frame pointer is, and the return address behind it; -1: in registers
}

func (f builtArm) sane() bool {
	return f.size >= 0 && f.size <= 8*maxFrame && f.size%16 == 0 && f.saved >= -1 && f.saved+16 <= max(f.size, 16) && (f.saved < 0 || f.saved%8 == 0)
}

func imm12(i uint32) int64 {
	n := int64(i >> 10 & 0xFFF)
	if i>>22&1 != 0 {
		n <<= 12
	}
	return n
}

// imm7 is that of a pair of 64-bit registers, in bytes.
func imm7(i uint32) int64 { return int64(int32(i<<10)>>25) * 8 }

const (
	pairMask     = 0xFFC07FFF // of x29, x30 at sp
	storePair    = 0xA9007BFD // stp x29, x30, [sp, #n]
	storePairPre = 0xA9807BFD // stp x29, x30, [sp, #n]!
	loadPair     = 0xA9407BFD
	loadPairPost = 0xA8C07BFD // ldp x29, x30, [sp], #n
	stackMask    = 0xFF8003FF // of a number added to sp, or subtracted
	subStack     = 0xD10003FF
	addStack     = 0x910003FF
	returns      = 0xD65F03C0 // ret
)

// prologueArm says what the instructions before a pc, from a method's entry on, have built.
func prologueArm(code []byte) (builtArm, bool) {
	f := builtArm{saved: -1}
	for ; len(code) >= 4; code = code[4:] {
		switch i := u32(code); {
		case i&stackMask == subStack:
			f.size += imm12(i)
			if f.saved >= 0 {
				f.saved += imm12(i)
			}
		case i&pairMask == storePairPre:
			f.size, f.saved = f.size-imm7(i), 0
		case i&pairMask == storePair:
			f.saved = imm7(i)
		}
	}
	return f, len(code) == 0 && f.sane()
}

// epilogueArm says the same of code that is about to return. It is false if the code doesn't return
// within a few instructions.
func epilogueArm(code []byte) (builtArm, bool) {
	f := builtArm{saved: -1}
	const most = 10
	for range most {
		if len(code) < 4 {
			break
		}
		switch i := u32(code); {
		case i == returns:
			return f, f.sane()
		case i&stackMask == addStack:
			f.size += imm12(i)
		case i&pairMask == loadPair:
			f.saved = f.size + imm7(i)
		case i&pairMask == loadPairPost:
			f.saved = f.size
			f.size += imm7(i)
		case polls(i):
		default:
			return f, false
		}
		code = code[4:]
	}
	return f, false
}

// polls reports whether an instruction is of the poll before a return: ldr x8, [x28, #n]; cmp sp, x8; a
// branch if it is to stop; or ldr wzr.
func polls(i uint32) bool {
	return i&0xFFC003FF == 0xF9400388 || // ldr x8, [x28, #n]
		i&0xFFC003FF == 0xF9400389 || // ldr x9
		i == 0xEB2863FF || i == 0xEB2963FF || // cmp sp, x8 or x9
		i&0xFF00001F == 0x54000008 || // b.hi
		i&0xFFC0001F == 0xB940001F // ldr wzr, [x, #n]
}

// topArm leaves the innermost frame. It is not done where the frame counts as whole.
func (w *walk) topArm(p *place) (ok, done bool) {
	b, first := p.b, len(w.out.Frames)
	switch b.kind {
	case compiled, nativeWrapper:
		if w.u.load(b) {
			w.add(p, w.pc)
			if w.topCodeArm(b, first, b.nm.entry, w.pc <= b.nm.entry) {
				return true, true
			}
			w.out.Frames = w.out.Frames[:first]
		}
	case interpreter:
		return w.topInterpretedArm(), true
	case adapter, frameless:
		w.addStub(b)
		for _, sp := range append(w.callers(), w.sp) {
			// The caller's stack pointer is in a register where arguments were moved to the stack.
			if sp >= w.sp && sp-w.sp <= 4<<10 && (b.kind == adapter || sp == w.sp) && w.tryArm(first, sp) {
				return false, true
			}
		}
		return w.byLink(first, 0), true
	case stubRoutine:
		w.addStub(b)
		if !w.u.load(b) {
			return false, false
		}
		if f, ok := epilogueArm(b.slice(w.pc, b.codeEnd)); ok && w.built(first, f) {
			return true, true
		}
		if w.tryArm(first, w.sp) {
			return false, true
		}
		w.out.Frames = w.out.Frames[:first]
	default:
		w.addStub(b)
		if w.u.load(b) && w.topCodeArm(b, first, b.codeBegin, w.pc == b.codeBegin) {
			return true, true
		}
		w.out.Frames = w.out.Frames[:first]
	}
	return false, false
}

// topCodeArm leaves code whose frame is not built yet, or not any more.
func (w *walk) topCodeArm(b *blob, first int, entry uint64, before bool) bool {
	if before {
		return w.byLink(first, 0)
	}
	if !b.whole(w.pc) {
		if f, ok := prologueArm(b.slice(entry, w.pc)); ok && w.built(first, f) {
			return true
		}
	}
	f, ok := epilogueArm(b.slice(w.pc, b.codeEnd))
	return ok && w.built(first, f)
}

// built leaves a frame of which that much is there.
func (w *walk) built(first int, f builtArm) bool {
	if f.saved < 0 {
		return w.byLink(first, f.size)
	}
	pc, ok1 := w.returnAt(w.sp + uint64(f.saved) + 8)
	fp, ok2 := w.word(w.sp + uint64(f.saved))
	if !ok1 || !ok2 {
		return false
	}
	return w.to(first, w.sp+uint64(f.size)-8, pc, w.sp+uint64(f.size), fp)
}

// byLink goes to the caller that LR has. Its stack pointer is so many bytes above this one.
func (w *walk) byLink(first int, size int64) bool {
	pc := w.lr & addressBits
	if !w.u.plausible(pc) {
		return w.broken(BrokenReturn)
	}
	sp := w.sp + uint64(size)
	return w.to(first, sp-8, pc, sp, w.fp)
}

// tryArm goes to the caller that LR has, with a stack pointer, and on to the end. If it doesn't come there,
// all is as before.
func (w *walk) tryArm(first int, sp uint64) bool {
	start, frames := *w, len(w.out.Frames)
	if w.byLink(first, int64(sp-w.sp)) {
		w.top = false
		if w.java(); w.out.Complete || w.out.Broken == BrokenContinuation {
			return true
		}
	}
	w.restore(&start, frames)
	return false
}

// A codelet is a piece of the interpreter.
type codelet struct{ from, to uint64 }

// enters reports whether an address is in what the interpreter begins a method with. Elsewhere its
// registers still have what they had when the last method was called.
func (u *Unwinder) enters(pc uint64) bool {
	if !u.codelets {
		u.codelets = true
		u.entries = u.entryCodelets()
	}
	for _, c := range u.entries {
		if pc >= c.from && pc < c.to {
			return true
		}
	}
	return false
}

func (u *Unwinder) entryCodelets() (out []codelet) {
	const most, largest, entry = 1 << 12, 1 << 20, "method entry point"
	l := u.l
	if l.StubEnd == none || l.CodeletSize == none || l.CodeletText == none {
		return nil
	}
	queue, _ := u.u64(l.Interpreter)
	at, _ := u.u64(queue + l.StubBuffer)
	end := at + uint64(half(u.bytes(queue+l.StubEnd, 4), 0))
	for range most {
		p := u.bytes(at, int(max(l.CodeletSize+4, l.CodeletText+8)))
		size := uint64(half(p, l.CodeletSize))
		if at >= end || size == 0 || size > largest {
			break
		}
		if string(u.bytes(word(p, l.CodeletText), len(entry))) == entry {
			out = append(out, codelet{at, at + size})
		}
		at += size
	}
	return out
}

// callers are what may be the caller's stack pointer.
func (w *walk) callers() []uint64 {
	if w.u.l.Excess == 0 { // before JDK 20
		return []uint64{w.r13, w.x13}
	}
	return []uint64{w.r13}
}

// topInterpretedArm leaves code of the interpreter.
func (w *walk) topInterpretedArm() bool {
	first := len(w.out.Frames)
	// A method that is being entered: the frame pointer is its caller's, and so is what the frame there has
	// as its caller's stack pointer.
	sender, _ := w.slot(slotSender)
	if m := w.u.methodOf(w.bx); m != nil && w.u.enters(w.pc) && w.u.plausible(w.lr&addressBits) {
		for _, sp := range w.callers() {
			if sp < w.sp || sp-w.sp > 4<<10 || sp == sender {
				continue
			}
			w.interpreted(m, 0)
			if w.tryArm(first, sp) {
				return false
			}
			w.out.Frames = w.out.Frames[:first]
		}
	}
	if w.wholeInterpreted(first) {
		return true
	}
	if m := w.u.methodOf(w.bx); m != nil { // half built
		pc, ok1 := w.returnAt(w.fp + 8)
		caller, ok2 := w.word(w.fp)
		for _, sp := range w.callers() {
			if ok1 && ok2 && w.fp >= w.sp && sp > w.fp && sp-w.fp <= 4<<10 {
				w.interpreted(m, 0)
				return w.to(first, w.fp+8, pc, sp, caller)
			}
		}
	}
	// The entry of a native method or of mathematics, or the end of a method.
	for _, sp := range append(w.callers(), w.sp) {
		if sp >= w.sp && sp-w.sp <= 4<<10 && w.tryArm(first, sp) {
			return false
		}
	}
	return w.broken(BrokenInterpreted)
}
