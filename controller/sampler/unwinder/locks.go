package unwinder

import (
	"sort"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// A Lock is what a thread waits for.
type Lock struct {
	Object uint64 // its address; a collection may move it. 0 if it can't be read
	Class  string // of the object, internal form; of a class's own monitor that class. "" if it can't be read
	Owned  bool   // it is of a kind that keeps its owner
	owner  uint64 // what says who that is
}

// Monitor reads whose monitor it is that a thread waits to enter, or to be notified at.
func (u *Unwinder) Monitor(monitor uint64) Lock {
	u.budget = walkBudget
	var out Lock
	out.Object, out.Class = u.monitorObject(monitor)
	if out.Class == "" {
		out.Object = 0
	}
	if out.Class == classClass {
		if name := u.mirrored(out.Object); name != "" {
			out.Class = name
		}
	}
	if out.Owned = u.l.MonitorOwner != none; out.Owned {
		out.owner, _ = u.u64(monitor + u.l.MonitorOwner)
	}
	return out
}

const (
	classClass   = "java/lang/Class"
	synchronizer = "java/util/concurrent/locks/AbstractOwnableSynchronizer"
	mostSupers   = 64
)

// mirrored is the name of the class that a java.lang.Class is of; "" if it can't be read.
func (u *Unwinder) mirrored(oop uint64) string {
	if u.l.MirrorKlass == none {
		return ""
	}
	p := u.bytes(u.l.MirrorKlass, 4)
	if p == nil || u32(p) == 0 || u32(p) > 1<<10 {
		return ""
	}
	klass, _ := u.u64(oop + uint64(u32(p)))
	if klass%8 != 0 || klass < minAddress || klass > maxAddress {
		return ""
	}
	return u.klassName(klass)
}

// Blocker reads what a parked thread says that it waits for (Thread.parkBlocker): a lock of
// java.util.concurrent, a condition, a queue. It has no Class if it says nothing, or it can't be read.
func (u *Unwinder) Blocker(t Thread) Lock {
	u.budget = walkBudget
	o, m := u.objectsOf(), u.headersOf()
	oop := u.threadObject(t)
	if oop == 0 || o.blocker == none || !m.ok {
		return Lock{}
	}
	object := u.reference(o, oop+o.blocker)
	klass := u.klassOf(m, object)
	name := u.klassName(klass)
	if name == "" {
		return Lock{}
	}
	out := Lock{Object: object, Class: name}
	if at := u.exclusive(o, klass); at != none {
		out.Owned = true
		out.owner = u.reference(o, object+at)
	}
	return out
}

// exclusive is where objects of a class have the thread that owns them exclusively; none if they don't.
func (u *Unwinder) exclusive(o *objects, klass uint64) uint64 {
	const most = 1 << 12
	if at, ok := o.exclusive[klass]; ok {
		return at
	}
	if len(o.exclusive) >= most {
		clear(o.exclusive)
	}
	if o.exclusive == nil {
		o.exclusive = map[uint64]uint64{}
	}
	at := uint64(none)
	for k, n := klass, 0; k != 0 && n < mostSupers && u.l.Super != none; n++ {
		if u.klassName(k) == synchronizer {
			at, _ = u.field(k, "exclusiveOwnerThread")
			break
		}
		k, _ = u.u64(k + u.l.Super)
	}
	o.exclusive[klass] = at
	return at
}

// Status is the state that a thread's object says it has, in bits as those of JVM TI's GetThreadState; 0 where that can't
// be read. It is right for threads that wait.
func (u *Unwinder) Status(t Thread) uint32 {
	oop := u.stateOf(t)
	if oop == 0 || u.objects.status == none {
		return 0
	}
	p := u.bytes(oop+u.objects.status, 4)
	if p == nil {
		return 0
	}
	const alive, most = 1, 1 << 12
	if u32(p)&alive == 0 || u32(p) > most {
		return 0
	}
	return u32(p)
}

// Daemon tells whether a thread does not keep the program from ending; ok is false where that can't be read now.
func (u *Unwinder) Daemon(t Thread) (daemon, ok bool) {
	oop := u.stateOf(t)
	if oop == 0 || u.objects.daemon == none {
		return false, false
	}
	p := u.bytes(oop+u.objects.daemon, 1)
	return p != nil && p[0] == 1, p != nil
}

// stateOf is the object that has a thread's state: its own, or since JDK 19 one of its; 0 where it can't be read.
func (u *Unwinder) stateOf(t Thread) uint64 {
	u.budget = walkBudget
	o := u.objectsOf()
	oop := u.threadObject(t)
	if oop == 0 || o.holder == none {
		return oop
	}
	if oop = u.reference(o, oop+o.holder); oop != 0 && o.status == none {
		klass := u.klassOf(u.headersOf(), oop)
		o.status, _ = u.field(klass, "threadStatus")
		o.daemon, _ = u.field(klass, "daemon")
	}
	return oop
}

// Virtual reports whether the program has begun to use virtual threads: their class was initialized.
func (u *Unwinder) Virtual() bool {
	u.budget = walkBudget
	l := u.l
	if l.ThreadKlass == none || l.Subclass == none || l.Sibling == none || l.InitState == none {
		return false
	}
	klass, _ := u.u64(l.ThreadKlass)
	for _, name := range []string{"java/lang/BaseVirtualThread", "java/lang/VirtualThread"} {
		if klass = u.subclass(klass, name); klass == 0 {
			return false
		}
	}
	const beingInitialized = 3
	p := u.bytes(klass+l.InitState, 1)
	return p != nil && p[0] >= beingInitialized
}

// subclass finds a direct subclass; 0 if there is none of that name.
func (u *Unwinder) subclass(klass uint64, name string) uint64 {
	const most = 1 << 12
	at, _ := u.u64(klass + u.l.Subclass)
	for n := 0; at != 0 && n < most; n++ {
		if u.klassName(at) == name {
			return at
		}
		at, _ = u.u64(at + u.l.Sibling)
	}
	return 0
}

// Collections says how many collections have begun, and whether one moves objects now, while threads stand still for it.
type Collections struct {
	known, collecting bool
	collections       uint32
}

// Collections reads what the JVM counts of its collections; the zero value where that can't be read.
func (u *Unwinder) Collections() Collections {
	u.budget = walkBudget
	l := u.l
	if l.JavaHeap == none || l.Collecting == none || l.Collections == none {
		return Collections{}
	}
	heap, _ := u.u64(l.JavaHeap)
	first := min(l.Collecting, l.Collections)
	p := u.bytes(heap+first, int(max(l.Collecting, l.Collections)+4-first))
	if p == nil {
		return Collections{}
	}
	return Collections{true, p[l.Collecting-first] != 0, half(p, l.Collections-first)}
}

// NoneSince reports whether no collection has moved objects since another moment, as far as that is known.
func (c Collections) NoneSince(before Collections) bool { return c == before && !c.collecting }

// Unmoved calls read, unless a collection moves objects now, and reports whether none has moved objects until read
// returned, as far as that is known. Otherwise what read has found may be another object's.
func (u *Unwinder) Unmoved(read func()) bool {
	before := u.Collections()
	if before.collecting {
		return false
	}
	read()
	return u.Collections().NoneSince(before)
}

// Objects reports whether Java objects can be read at any time, without which locks may have neither a class nor, those of
// java.util.concurrent, an owner. Collectors that move objects while threads run forbid it: for a while references to where
// an object was are left.
func (u *Unwinder) Objects() bool {
	for _, name := range []string{"UseZGC", "UseShenandoahGC"} {
		if on, _ := u.Flag(name); on {
			return false
		}
	}
	return u.objectsOf().ok && u.headersOf().ok
}

// File is the name of the source file of a method's class, "Cart.java"; "" if it is not known. The method is one
// of the unwinder's own frames.
func (u *Unwinder) File(name *stack.Method) string {
	pool := u.pools[name]
	if pool == 0 {
		return ""
	}
	if file, ok := u.files[name]; ok {
		return file
	}
	u.budget = walkBudget
	l := u.l
	if len(u.files) >= maxMethods || u.files == nil {
		u.files = map[*stack.Method]string{}
	}
	at := pool + l.PoolSourceFile
	if l.PoolSourceFile == none {
		klass, _ := u.u64(pool + l.PoolHolder)
		at = klass + l.SourceFile
	}
	file := ""
	if p := u.bytes(at, 2); p != nil && u16(p) != 0 && (l.PoolSourceFile != none || l.SourceFile != none) {
		symbol, _ := u.u64(pool + l.PoolSize + 8*uint64(u16(p)))
		if file = u.symbols(symbol &^ 1)[0]; len(file) > maxName || text([]byte(file), false) == "" {
			file = ""
		}
	}
	u.files[name] = file
	return file
}

// Holders tells which of some threads holds a lock. It holds for one moment, since objects move.
type Holders struct {
	u       *Unwinder
	threads []Thread
	at      map[uint64]int // by JavaThread*
	bases   []int          // by StackBase
	numbers map[uint64]int // what ObjectMonitor::_owner has of a thread, 24 and later
	objects map[uint64]int // by the thread's object
	locked  map[uint64]int // by the objects of their lock stacks
}

// Holders prepares to look among threads.
func (u *Unwinder) Holders(threads []Thread) *Holders { return &Holders{u: u, threads: threads} }

// Of is the index of the thread that holds a lock; -1 if nobody does, or it is none of these threads.
func (h *Holders) Of(l Lock, monitor uint64) int {
	u := h.u
	u.budget = walkBudget
	const anonymous, deflater = 1, 2
	switch {
	case !l.Owned || l.owner == 0:
		return -1
	case monitor == 0: // of java.util.concurrent
		return find(h.byObject(), l.owner)
	case l.owner == deflater:
		return -1
	case l.owner == anonymous:
		if u.l.MonitorStack != none {
			if at, _ := u.u64(monitor + u.l.MonitorStack); at != 0 {
				return h.onStack(at)
			}
		}
		return find(h.byLocked(), l.Object)
	case u.l.OwnerNumber != none:
		return find(h.byNumber(), l.owner)
	}
	if h.at == nil {
		h.at = map[uint64]int{}
		for i, t := range h.threads {
			h.at[t.At] = i
		}
	}
	if i, ok := h.at[l.owner]; ok {
		return i
	}
	return h.onStack(l.owner)
}

func find(in map[uint64]int, key uint64) int {
	if i, ok := in[key]; ok && key != 0 {
		return i
	}
	return -1
}

// onStack is the thread on whose stack an address is.
func (h *Holders) onStack(at uint64) int {
	if h.bases == nil {
		h.bases = make([]int, len(h.threads))
		for i := range h.bases {
			h.bases[i] = i
		}
		sort.Slice(h.bases, func(a, b int) bool { return h.threads[h.bases[a]].StackBase < h.threads[h.bases[b]].StackBase })
	}
	k := sort.Search(len(h.bases), func(k int) bool { return h.threads[h.bases[k]].StackBase > at })
	if k == len(h.bases) {
		return -1
	}
	t := h.threads[h.bases[k]]
	if size, ok := h.u.u64(t.At + h.u.l.StackSize); !ok || size > maxStack || t.StackBase-at > size {
		return -1
	}
	return h.bases[k]
}

// words reads a word of each thread's record.
func (h *Holders) words(offset uint64) map[uint64]int {
	h.u.budget = maxThreads * walkBudget / 1024
	at, sizes := make([]uint64, len(h.threads)), make([]int, len(h.threads))
	for i, t := range h.threads {
		at[i], sizes[i] = t.At+offset, 8
	}
	out := map[uint64]int{}
	for i, p := range h.u.many(at, sizes) {
		if v := word(p, 0); v != 0 {
			out[v] = i
		}
	}
	return out
}

func (h *Holders) byNumber() map[uint64]int {
	if h.numbers == nil {
		h.numbers = h.words(h.u.l.OwnerNumber)
	}
	return h.numbers
}

func (h *Holders) byObject() map[uint64]int {
	if h.objects == nil {
		if h.objects = h.words(h.u.l.ThreadObject); h.u.l.HandleObject != none {
			handles := h.objects
			h.objects = map[uint64]int{}
			at, sizes := make([]uint64, 0, len(handles)), make([]int, 0, len(handles))
			for a := range handles {
				at, sizes = append(at, a+h.u.l.HandleObject), append(sizes, 8)
			}
			for k, p := range h.u.many(at, sizes) {
				h.objects[h.u.objectsOf().plain(word(p, 0))] = handles[at[k]-h.u.l.HandleObject]
			}
		}
	}
	return h.objects
}

// byLocked reads the lock stacks.
func (h *Holders) byLocked() map[uint64]int {
	if h.locked != nil {
		return h.locked
	}
	h.locked = map[uint64]int{}
	const entries = 8 // that a lock stack has, at the most
	l := h.u.l
	if l.LockStack == none || l.LockTop == none || l.LockBase == none {
		return h.locked
	}
	h.u.budget = maxThreads * walkBudget / 1024
	at, sizes := make([]uint64, len(h.threads)), make([]int, len(h.threads))
	size := max(l.LockBase+8*entries, l.LockTop+4)
	for i, t := range h.threads {
		at[i], sizes[i] = t.At+l.LockStack, int(size)
	}
	for i, p := range h.u.many(at, sizes) {
		end := uint64(half(p, l.LockTop)) // in bytes, from the thread on
		for k := uint64(0); k < entries && l.LockStack+l.LockBase+8*k < end; k++ {
			h.locked[word(p, l.LockBase+8*k)] = i
		}
	}
	return h.locked
}
