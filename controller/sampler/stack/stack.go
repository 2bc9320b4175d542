// Package stack is what a sampler sees of a thread at one moment: its state
// and its frames. The unwinder and the other sources make stacks; the partial
// calling context tree and the reports take them.
//
// All types are plain values. A [Method] is interned by its source: two frames
// of one source name the same method if and only if their pointers are equal.
package stack

// A Kind says how a frame's code runs.
type Kind uint8

// The kinds of frames.
const (
	Interpreted Kind = iota // by the bytecode interpreter
	C1                      // compiled by C1 (levels 1 to 3)
	C2                      // compiled by C2 or another top tier (level 4)
	Inlined                 // within the compiled code of the next frame that is not inlined
	JavaNative              // a native method of Java
	Native                  // a function of a shared library, the JVM included
	Kernel                  // a function of the kernel
	Stub                    // a stub or adapter of the JVM's
)

// A State is what a thread does when it is sampled.
type State uint8

// The states of threads.
const (
	Unknown  State = iota
	Running        // on a processor
	Runnable       // could run, waits for a processor
	Blocked        // waits to enter a monitor
	Waiting        // in Object.wait
	Parked         // in LockSupport.park
	Sleeping       // in Thread.sleep
	InIO           // in a system call that reads, writes, accepts, connects or polls
	InVM           // in the JVM's own code
)

// A Method is a Java method, or a function of native code (Class empty).
type Method struct {
	Class string // internal form, "java/util/List" (JVMS 4.2.1)
	Name  string
	Desc  string // JVMS 4.3.3
}

// A Frame is one activation, or one inlined method within it.
type Frame struct {
	Method *Method
	Kind   Kind
	BCI    int // bytecode index (JVMS 4.7.3); -1 if not known
	Line   int // source line; 0 if not known

	// What tells a new activation from an old one: the frame
	// at the same Slot with the same Return and Method in two successive
	// samples of a thread, and all its callers so, is the same activation if
	// Words of its caller is equal as well. Inlined frames have those of the
	// physical frame that they lie in.
	Slot   uint64 // address of the word that holds the return address; 0 if not known
	Return uint64 // the return address
	Words  uint64 // hash of the frame's words, from its stack pointer up to Slot
}

// A Stack is one sample of one thread.
type Stack struct {
	Time      int64  // nanoseconds, CLOCK_MONOTONIC
	Weight    int64  // nanoseconds that the sample stands for
	TID       int    // as the target's namespace of the sampler sees it
	Thread    string // name, as Java has it where known, else the kernel's
	Java      bool   // a Java thread
	State     State
	Monitor   string  // class of the object whose monitor it waits to enter, or to be notified at, internal form; empty if none, or not known
	Frames    []Frame // innermost first
	Kept      bool    // Frames were read once and are shared by the thread's samples for as long as they hold: nobody may change them
	Complete  bool    // the walk reached the thread's first frame
	Heuristic bool    // a frame was found by a guess that was checked
	Broken    string  // why the walk ended early; empty if Complete

	// Of samplers that were asked for locks.
	Lock   *Lock  // what it waits for; nil if nothing, or not known. Samples share it: nobody may change it
	Status uint32 // what java.lang.Thread says of a thread that waits (JVM TI, GetThreadState); 0 if not known
}

// A Lock is what a thread waits for: a monitor, or what it says that it is parked for.
type Lock struct {
	Address uint64 // of the object; 0 if not known. A collection may move it
	Class   string // of the object, internal form; of a class's own monitor that class; "" if not known
	Owner   int    // the thread that holds it, as TID; 0 if none does, or it is not known
}
