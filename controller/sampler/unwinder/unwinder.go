package unwinder

import (
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// Registers are what a walk begins with.
type Registers struct {
	PC, SP, FP uint64
	BX, R13    uint64 // of the innermost frame: a Method* and the caller's stack pointer, or the bytecode, in the interpreter

	// On arm64 BX is x12, and R13 x19.
	LR, X13, X22 uint64 `json:",omitempty"` // the return address; the caller's stack pointer before JDK 20; the bytecode
}

// A Thread is what a walk may use of the JVM's own record of a thread.
type Thread struct {
	At        uint64 // JavaThread*; 0 if the thread is none of Java's
	StackBase uint64 // the high end of its stack; 0 if not known
}

// A Native unwinds code outside of the code cache.
type Native interface {
	// Step finds the caller of a native frame. first says that pc is where the thread was
	// stopped, not a return address. end means that there is no caller.
	Step(pc, sp, fp uint64, first bool, word func(at uint64) (uint64, bool)) (s NativeStep, ok bool)
	// Name is what a function is called, and the library's name if that is all; empty if
	// not known.
	Name(pc uint64) string
}

// A NativeStep is where a native frame's caller goes on.
type NativeStep struct {
	PC, SP, FP uint64
	End        bool // the thread's first frame
	Guess      bool // the caller was looked for on the stack, since no table tells where it is
}

// A Walk is what came of a walk.
type Walk struct {
	Frames    []stack.Frame // innermost first
	Complete  bool          // the thread's first Java frame was reached, or there is none
	Heuristic bool          // a frame was found by a guess that was checked
	NativeTop bool          // it began in native code
	Live      bool          // words were read from the running thread, not from the sample
	Heap      bool          // frames of a virtual thread were found in the heap
	Broken    string        // why it ended early: one of the reasons of this package
	At        uint64        // the address of code where it ended early
}

// The reasons for which a walk ends early.
const (
	BrokenDepth        = "more frames than a stack has"
	BrokenReturn       = "return address not found"
	BrokenInterpreted  = "interpreted frame not found"
	BrokenStub         = "caller of a stub not found"
	BrokenNative       = "caller of native code not found"
	BrokenCallStub     = "call from native code not found"
	BrokenCode         = "code that the JVM does not have there"
	BrokenGrowth       = "stack pointers do not grow"
	BrokenContinuation = "goes on in the heap, as a virtual thread's frames do"
	BrokenChanged      = "the code was flushed, or the class unloaded, meanwhile"
	BrokenEmpty        = "no registers"
)

// An Unwinder knows one JVM.
type Unwinder struct {
	l      *Layout
	mem    Memory
	native Native
	// Natives says that frames of native code and stubs are wanted as well.
	natives bool

	now                int64
	heaps              []heap
	interpreter        uint64 // an address in it
	callStubReturn     uint64
	continuationReturn uint64

	blobs     []*blob // by address
	blobNames map[uint64]string
	places    map[uint64]*place
	methods   map[uint64]*method
	names     map[stack.Method]*stack.Method
	pools     map[*stack.Method]uint64 // the constant pool of a method's class
	files     map[*stack.Method]string // source files
	kept      int                      // bytes of code and debug info
	reads     int
	behind    int64 // see Behind
	budget    int   // see spend

	spans []vmstructs.Span // used again by Anchors
	room  []byte

	entries  []codelet // of the interpreter, by which methods are entered; for arm64
	codelets bool      // they were looked for
	objects  objects
	monitors headers
	chunks   chunks

	w          walk
	walks      int
	rests      []rest
	oldBlobs   []*blob
	oldMethods []*method
}

// New makes an unwinder of a JVM. natives says that frames of native code and of stubs are
// wanted, not only passed through. native may be nil: then only a scan of the stack leads
// from native code to Java's.
func New(l *Layout, mem Memory, native Native, natives bool) *Unwinder {
	u := &Unwinder{
		l: l, mem: mem, native: native, natives: natives,
		blobNames: map[uint64]string{},
		places:    map[uint64]*place{},
		methods:   map[uint64]*method{},
		names:     map[stack.Method]*stack.Method{},
		pools:     map[*stack.Method]uint64{},
		budget:    walkBudget,
	}
	u.w.u = u
	u.findHeaps()
	return u
}

// Ready reports whether the JVM has a code cache yet; one that begins has not.
func (u *Unwinder) Ready() bool {
	if len(u.heaps) == 0 || u.interpreter == 0 || u.callStubReturn == 0 {
		u.findHeaps()
	}
	return len(u.heaps) > 0 && u.interpreter != 0 && u.callStubReturn != 0
}

// Java reports whether a thread that the JVM's list does not have may run Java code: it is in code of the JVM's, or its
// stack has the place where C++ calls Java. A thread that ends soon is gone before anybody has listed it.
func (u *Unwinder) Java(pc uint64, dump []byte) bool {
	if u.heapOf(pc) != nil {
		return true
	}
	if u.callStubReturn == 0 {
		return false
	}
	mask := ^uint64(0)
	if u.l.Arm64 {
		mask = addressBits
	}
	for at := 0; at+8 <= len(dump); at += 8 {
		if u64(dump[at:])&mask == u.callStubReturn {
			return true
		}
	}
	return false
}

// Begin says what time it is, in nanoseconds of a clock that never goes back, for the
// walks that follow.
func (u *Unwinder) Begin(now int64) { u.now, u.budget = now, walkBudget }

// Behind says how many nanoseconds ago the samples were taken whose walks follow. Frames in the heap
// are not looked for where that is too long.
func (u *Unwinder) Behind(ns int64) { u.behind = ns }

// Reads is how many calls have read the target's memory.
func (u *Unwinder) Reads() int { return u.reads }

// A place is what is known of one address of code.
type place struct {
	b       *blob
	ret     bool          // it can be a return address
	frames  []stack.Frame // of compiled code, innermost first
	decoded bool
	since   int64 // when b was not found
}

// placeOf returns what is known of an address, nil if it is in no code of the JVM's.
func (u *Unwinder) placeOf(pc uint64) *place {
	p := u.places[pc]
	if p != nil {
		if p.b != nil && !p.b.dead {
			return p
		}
		if p.b == nil && u.now-p.since < failedFor {
			return nil
		}
	}
	if u.heapOf(pc) == nil {
		return nil
	}
	if len(u.places) > maxPlaces {
		clear(u.places)
	}
	p = &place{b: u.blobOf(pc), since: u.now}
	u.places[pc] = p
	if p.b == nil {
		return nil
	}
	p.ret = u.isReturn(p.b, pc)
	return p
}

// framesOf decodes which methods a place of compiled code is in.
func (u *Unwinder) framesOf(p *place, pc uint64) []stack.Frame {
	if p.decoded {
		return p.frames
	}
	p.decoded = true
	b := p.b
	offset, known := int64(0), false
	var scopes, methods []byte
	if b.kind == compiled && u.load(b) {
		var descs []byte
		descs, scopes, methods = u.debugInfo(b)
		offset = u.scopeAt(b, descs, pc)
	}
	if p.frames, known = b.frames[offset]; known {
		return p.frames
	}
	found := decodeScopes(scopes, methods, offset, u.l.Excess)
	u.refresh(found)
	for _, s := range found {
		m := u.methodOf(s.method)
		if m == nil {
			p.frames = nil
			break
		}
		p.frames = append(p.frames, stack.Frame{Method: m.name, Kind: stack.Inlined, BCI: s.bci, Line: m.lineOf(s.bci)})
	}
	if len(p.frames) == 0 {
		name := unknown
		u.refresh([]scope{{method: b.nm.method}})
		if m := u.methodOf(b.nm.method); m != nil {
			name = m.name
		}
		p.frames = []stack.Frame{{Method: name, BCI: -1}}
	}
	outer := &p.frames[len(p.frames)-1]
	if outer.Kind = b.tier(); b.kind == nativeWrapper {
		outer.Kind = stack.JavaNative
	}
	if b.frames == nil {
		b.frames = map[int64][]stack.Frame{}
	}
	b.frames[offset] = p.frames
	return p.frames
}

// unknown is a method whose class or name could not be read.
var unknown = &stack.Method{Name: "[unknown]"}

// isReturn reports whether an address can be a return address.
func (u *Unwinder) isReturn(b *blob, pc uint64) bool {
	switch {
	case pc == u.callStubReturn, b.kind == interpreter, b.kind == adapter, b.continuation():
		return true
	case b.kind == compiled && (pc == b.nm.deopt || pc == b.nm.deoptMH):
		return true
	case !u.load(b):
		return false
	}
	behind := BehindCall
	if u.l.Arm64 {
		behind = behindCallArm
	}
	return behind(b.slice(max(b.codeBegin, pc-min(8, pc)), pc))
}

// BehindCall reports whether x86-64 code, of which the last 7 bytes matter, ends with a call: E8 rel32, or FF with
// 2 in the middle of the byte after (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, CALL).
// It may be called concurrently.
func BehindCall(code []byte) bool {
	n := len(code)
	if n >= 5 && code[n-5] == 0xE8 {
		return true
	}
	for _, k := range [...]int{2, 3, 4, 6, 7} {
		if n >= k && code[n-k] == 0xFF && code[n-k+1]>>3&7 == 2 {
			return true
		}
	}
	return false
}
