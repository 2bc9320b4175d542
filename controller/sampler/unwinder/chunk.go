package unwinder

import "github.com/rivulet-profiler/rivulet/controller/sampler/stack"

// When a virtual thread is unmounted, the JVM copies its frames into an object in the heap, a
// StackChunk. When it goes on, only the innermost ones come back to the carrier's stack, one or two at a time,
// the outermost of which returns to a stub, the return barrier. A walk that comes to the barrier
// goes on in the chunk and, from its end, in the carrier.
//
//	carrier's stack                          ContinuationEntry      StackChunk
//	frames that came back                    +16 the Continuation   sp: words from the begin of the stack
//	return barrier                               its field tail     bottom: the same, of the first frame's end
//	ContinuationEntry: frame of enterSpecial                        parent: the chunk with the outer frames
//	frame pointer, return to Continuation.run
//
// Frames of a chunk have no place ([stack.Frame].Slot), since they move with it, and to the stack.
// A frame of a chunk is as on the stack, but that interpreted frames have distances in words where they would
// have addresses of the stack. Its return address is in the word below its caller's stack pointer.
const (
	entryContinuation = 16
	entrySize         = 64 // of ContinuationEntry (21, 25)
	mostArguments     = 32 // words between the outermost frame and the entry
	mostChunks        = 64 // of a thread
	mostChunk         = 256 << 10
	continuationTail  = "tail"
	mostBehind        = 20e6 // ns between a sample and its walk
)

// chunks say where Continuation and StackChunk have what. It is worked out when first asked for.
type chunks struct {
	known, ok                bool
	tail                     uint64 // of Continuation
	parent, size, sp, bottom uint64 // of StackChunk
	stack                    uint64 // where its stack begins
}

// continued goes on where a virtual thread's stack ends at the return barrier. The target runs
// on: what its chunk says holds for the sample only if the thread's own stack, from the
// outermost frame there on, is still as it was, and if that frame came from the place in the chunk
// that is now the first free one. Otherwise the walk ends as broken.
func (w *walk) continued() bool {
	first := len(w.out.Frames)
	var entry, chunk uint64
	if w.u.behind <= mostBehind {
		entry, chunk = w.entry()
	}
	if chunk == 0 {
		return w.adrift()
	}
	ok := w.frozen(chunk) && w.unchanged(w.below, entry+entrySize+16)
	pc, found := w.returnAt(entry + entrySize + 8)
	fp, _ := w.word(entry + entrySize)
	if !ok || !found {
		w.out.Frames = w.out.Frames[:first]
		return w.adrift()
	}
	w.out.Heap = true
	w.sp = entry
	first = len(w.out.Frames)
	w.out.Frames = append(w.out.Frames, stack.Frame{Method: w.u.intern(enterSpecial), Kind: stack.JavaNative, BCI: -1})
	return w.to(first, entry+entrySize+8, pc, entry+entrySize+16, fp)
}

// adrift ends a walk at the return barrier. The outermost frame's place tells nothing of whose it is: any
// virtual thread's frame may come there, and returns to the barrier.
func (w *walk) adrift() bool {
	for i := len(w.out.Frames) - 1; i >= 0 && w.out.Frames[i].Slot == w.belowSlot; i-- {
		w.out.Frames[i].Slot = 0
	}
	return w.broken(BrokenContinuation)
}

// enterSpecial is the native method in whose frame a ContinuationEntry lies.
var enterSpecial = stack.Method{Class: "jdk/internal/vm/Continuation", Name: "enterSpecial", Desc: "(Ljdk/internal/vm/Continuation;ZZ)V"}

// entry finds the ContinuationEntry beyond the outermost frame, and the chunk that its Continuation
// has; 0 if there is none.
func (w *walk) entry() (at, chunk uint64) {
	u := w.u
	if u.l.Super == none || u.l.Super == 0 || u.l.LayoutHelper == none || u.l.LayoutHelper == 0 {
		return 0, 0
	}
	m := u.headersOf()
	if !m.ok {
		return 0, 0
	}
	for at = w.sp; at <= w.sp+8*mostArguments; at += 8 {
		oop, ok := w.word(at + entryContinuation)
		if !ok {
			return 0, 0
		}
		klass := u.klassOf(m, oop)
		if klass == 0 {
			continue
		}
		switch u.klassName(klass) {
		case "jdk/internal/vm/Continuation", "java/lang/VirtualThread$VThreadContinuation":
		default:
			continue
		}
		o := u.objectsOf()
		if !o.ok || !u.findChunks(m, o, klass, oop) {
			return 0, 0
		}
		return at, u.reference(o, oop+u.chunks.tail)
	}
	return 0, 0
}

// findChunks works out the fields of a Continuation, of which there is one, and of its chunk.
func (u *Unwinder) findChunks(m *headers, o *objects, klass, oop uint64) bool {
	c := &u.chunks
	if c.known {
		return c.ok
	}
	const supers = 8
	ok := false
	for i := 0; i < supers && klass != 0 && !ok; i++ {
		if c.tail, ok = u.field(klass, continuationTail); !ok {
			klass, _ = u.u64(klass + u.l.Super)
		}
	}
	if !ok {
		return false
	}
	klass = u.klassOf(m, u.reference(o, oop+c.tail))
	if u.klassName(klass) != "jdk/internal/vm/StackChunk" {
		return false // this one may have none
	}
	c.known = true
	var is [4]bool
	c.parent, is[0] = u.field(klass, "parent")
	c.size, is[1] = u.field(klass, "size")
	c.sp, is[2] = u.field(klass, "sp")
	c.bottom, is[3] = u.field(klass, "bottom")
	p := u.bytes(klass+u.l.LayoutHelper, 4)
	c.stack = uint64(half(p, 0)) &^ 7
	c.ok = is == [4]bool{true, true, true, true} && c.stack >= 24 && c.stack < 256
	return c.ok
}

// frozen adds the frames of a chunk and of those that it leads to.
func (w *walk) frozen(chunk uint64) bool {
	u := w.u
	c := &u.chunks
	m, o := u.headersOf(), u.objectsOf()
	came := false
	// Where the frames on the carrier's stack were: in the first chunk, be it empty now. The outer frames are in another
	// one where those above them could not be added to it, as to a chunk in the old generation.
	was, free := uint64(0), uint64(0)
	for range mostChunks {
		if chunk == 0 {
			return came
		}
		if u.klassName(u.klassOf(m, chunk)) != "jdk/internal/vm/StackChunk" {
			return false
		}
		head := u.bytes(chunk, int(c.stack))
		size, sp, bottom := uint64(half(head, c.size)), uint64(half(head, c.sp)), uint64(half(head, c.bottom))
		if sp > bottom || bottom > size || 8*size > mostChunk {
			return false
		}
		if was == 0 {
			was, free = chunk+c.stack, sp
		}
		if sp < bottom {
			if !came && !w.came(was, free) || !w.frames(chunk+c.stack, sp, bottom, size) {
				return false
			}
			came = true
		}
		chunk = u.reference(o, chunk+c.parent)
	}
	return false
}

// came reports whether the outermost frame on the carrier's stack is the one that came from below sp of a
// chunk whose stack begins there: its words are there still, and say which method it is.
func (w *walk) came(begin, sp uint64) bool {
	const method = 5 // words below the caller's stack pointer
	p := w.u.placeOf(w.belowPC)
	if p == nil {
		return false
	}
	if p.b.kind == interpreter {
		if sp < method {
			return false
		}
		there, ok1 := w.u.u64(begin + 8*(sp-method))
		here, ok2 := w.word(w.belowSlot - 8*(method-1))
		return ok1 && ok2 && there == here
	}
	size := (w.sp - w.below) / 8
	if w.sp <= w.below || sp < size+1 {
		return false
	}
	pc, ok := w.u.u64(begin + 8*(sp-size-1))
	return ok && w.u.plausible(pc) && w.u.placeOf(pc).b == p.b
}

// frames adds the frames of one chunk, from sp up to bottom, which count words from the begin of its
// stack.
func (w *walk) frames(begin, sp, bottom, size uint64) bool {
	const locals = 7 // words below the frame pointer of interpreted code
	const behind = 2 // words of metadata below a frame: where its callee returns to, and its frame pointer
	if sp < behind {
		return false
	}
	from := sp - behind
	p := w.u.bytes(begin+8*from, int(8*(size-from)))
	at := func(i uint64) uint64 { // a word of the stack
		if i < from || i-from >= uint64(len(p)/8) {
			return 0
		}
		return u64(p[8*(i-from):])
	}
	end := sp // where the caller begins that compiled code sees, which interpreted code may have moved
	for sp < bottom && len(w.out.Frames) < maxFrames {
		pc := at(sp - 1)
		if !w.u.plausible(pc) {
			return false
		}
		b := w.u.placeOf(pc).b
		w.u.use(b)
		before := sp
		if b.kind == interpreter {
			fp := sp - behind + at(sp-behind)
			if fp <= sp || fp >= bottom || !w.interpretedChunk(at, fp) {
				return false
			}
			if end, sp = fp+at(fp-1), fp+behind; fp+at(fp-locals)+1 >= bottom {
				return true
			}
		} else {
			if b.frame < 16 || !w.compiledChunk(b, pc, func(offset int64) uint64 { return at(end + uint64(offset)/8) }) {
				return false
			}
			sp = end + uint64(b.frame)/8
			end = sp
		}
		if sp <= before || end > size {
			return false
		}
	}
	return sp >= bottom && sp <= size
}

// compiledChunk adds the frame of compiled code at a return address.
func (w *walk) compiledChunk(b *blob, pc uint64, slot func(offset int64) uint64) bool {
	switch b.kind {
	case compiled:
		if pc == b.nm.deopt || pc == b.nm.deoptMH {
			if pc = slot(b.nm.origPC); pc < b.codeBegin || pc >= b.codeEnd {
				return false
			}
		}
	case nativeWrapper:
	default: // a stub
		w.addStub(b)
		return true
	}
	p := w.u.placeOf(pc)
	if p == nil || p.b != b {
		return false
	}
	w.add(p, pc)
	return true
}

// interpretedChunk adds the frame of an interpreted method.
func (w *walk) interpretedChunk(at func(uint64) uint64, fp uint64) bool {
	m := w.u.methodOf(at(fp - -slotMethod/8))
	if m == nil {
		return false
	}
	code, bci := m.constant+w.u.l.ConstMethodSize, -1
	if p := at(fp - -slotMirrored/8); p-code < uint64(m.codeSize) {
		bci = int(p - code)
	}
	w.interpreted(m, bci)
	return true
}

// unchanged reports whether the running thread's stack is as it was, from one address up to another.
func (w *walk) unchanged(from, to uint64) bool {
	if from >= to || to-from > mostChunk {
		return false
	}
	p := w.u.bytes(from, int(to-from))
	if p == nil {
		return false
	}
	for i := 0; i+8 <= len(p); i += 8 {
		if v, ok := w.word(from + uint64(i)); !ok || v != u64(p[i:]) {
			return false
		}
	}
	return true
}
