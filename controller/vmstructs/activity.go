package vmstructs

import "fmt"

// Levels of compiled code (compilationPolicy.hpp). Code of level 2 and 3 counts
// invocations; code of level 1 and 4 does not.
const (
	levelSimple  = 1
	levelCounted = 2
	levelProfile = 3
	levelFull    = 4
)

// Bounds of compiled code that is followed.
const (
	mostInlined = 1 << 14 // metadata of one nmethod
	mostOSR     = 1 << 10 // nmethods of one class
)

// A Key names a method in all loaders: class in internal form, then name and
// descriptor without a space (JVMS 4.2.1, 4.3.3).
type Key struct{ Class, Method string }

// KeyOf returns the key of a method.
func KeyOf(class, name, desc string) Key { return Key{class, name + desc} }

// An Observer tells which methods of a JVM are active: those that were invoked after
// [Observe], by the counters of the interpreter and of compiled code that counts, and
// those that may run without being counted: compiled at level 1 or 4, or inlined into
// such code, or into the code of an active method of level 2. Code of level 3 counts what
// it inlines, except accessors (GraphBuilder::try_inline_full,
// LIRGenerator::do_ProfileInvoke).
//
// Each method that is not active is certain to move a counter when it is invoked next,
// with one exception: compiled code that is made later may inline a method that was never
// invoked. [Observer.Look] finds such a method by the metadata of that code.
//
// An Observer reads the target's memory, which changes meanwhile: a wrong answer is
// possible where classes are unloaded or redefined during a reading. It is not safe for
// concurrent use.
type Observer struct {
	from    reader
	l       *layout
	fields  fields
	methods map[uint64]*method // by Method*
	entries map[Key]*entry
	actives int      // entries that are active
	moved   bool     // some counter moved between two readings
	spare   [][]byte // chunks that were read into
	looks   int
	classes int  // of the last reading
	shift   uint // of a counter's value
	watched map[*entry]struct{}
}

// A state is what tells whether a method was invoked.
type state struct {
	counters, profile uint64 // pointers: MethodCounters, MethodData
	calls             uint32 // in MethodCounters, as it stands there
	profiled          uint32 // in MethodData
	code              uint64
}

// A method is what is known of a Method*. The ConstMethod* tells whether the address has
// been used again.
type method struct {
	fixed uint64
	entry *entry
	first state // as it was when it was first seen; zero of one that came after the first reading
	now   state // as of the last reading
	look  int   // number of the last reading that it was in
	fresh bool  // first is not known yet
}

// Observe takes the first reading. It wraps [ErrUnknown] where the JVM doesn't say where
// it counts, os.ErrPermission where its memory may not be read.
func Observe(pid int) (*Observer, error) {
	at, err := library(pid)
	if err != nil {
		return nil, err
	}
	return observe(Process(pid), at)
}

func observe(from reader, at exported) (*Observer, error) {
	m := newMemory(from)
	l, err := newLayout(m, at)
	if err != nil {
		return nil, err
	}
	f, err := l.fields()
	if err != nil {
		return nil, err
	}
	o := newObserver(from, l, f)
	if err := o.Look(); err != nil {
		return nil, err
	}
	o.setShift()
	return o, nil
}

func newObserver(from reader, l *layout, f fields) *Observer {
	return &Observer{
		from: from, l: l, fields: f,
		methods: map[uint64]*method{}, entries: map[Key]*entry{}, watched: map[*entry]struct{}{},
	}
}

// setShift finds how far the number of invocations is shifted in a counter, which the
// tables don't tell: below it are a carry bit and, up to JDK 13, two bits of state
// (invocationCounter.hpp), which are 0 nearly always.
func (o *Observer) setShift() {
	counted, low := 0, 0
	for _, x := range o.methods {
		if s := x.now; s.counters != 0 && s.calls != 0 {
			counted++
			if s.calls&6 != 0 {
				low++
			}
		}
	}
	if o.shift = 1; 4*low < counted {
		o.shift = 3
	}
}

// Look takes a further reading of all methods. It reads some tens of megabytes: 50 ms
// for 30,000 methods. Its errors are those of [Observe].
func (o *Observer) Look() error {
	r, err := o.read()
	if err != nil {
		return err
	}
	for _, x := range o.methods {
		if x.fresh && x.look == r.number {
			if x.fresh = false; r.number == 1 {
				x.first = x.now
			} // else loaded or redefined since: nothing had invoked it
		}
	}
	if len(o.methods) > 2*r.methods+forgetFrom { // most of them are of old versions of classes
		o.forget(r.number)
	}
	o.looks = r.number
	r.decide()
	o.spare = r.m.buffers()
	return r.m.err
}

// forgetFrom is how many methods that are not there any more are kept.
const forgetFrom = 1 << 18

// read goes through all classes. A list that changes meanwhile may end early: when a
// class loader is unloaded, say, it becomes a part of another list. A reading that found
// hardly as many classes as the one before is taken again.
func (o *Observer) read() (*reading, error) {
	for range mostReadings {
		for e := range o.watched {
			e.where = e.where[:0]
		}
		r := &reading{o: o, m: newMemory(o.from), number: o.looks + 1, seen: map[uint64]bool{}}
		r.m.spare, o.spare = o.spare, nil
		o.l.eachClass(r.m, r.class)
		if r.m.err != nil {
			return nil, r.m.err
		}
		before := o.classes
		o.classes = r.classes
		if before > 0 && 100*r.classes >= 99*before {
			return r, nil
		}
		o.spare = r.m.buffers()
	}
	return nil, fmt.Errorf("%w: the classes change too fast to be read", ErrUnknown)
}

// mostReadings is how often a reading is taken again. The first is always taken twice.
const mostReadings = 8

// A reading is all methods at one moment.
type reading struct {
	o                *Observer
	m                *memory
	number           int // from 1 on
	classes, methods int
	code             []uint64        // nmethods, OSR ones included
	seen             map[uint64]bool // of code
}

func (r *reading) class(class uint64) {
	o, m := r.o, r.m
	r.classes++
	methods := m.u64(class + o.l.offsets["InstanceKlass::_methods"])
	n := int(m.u32(methods + o.l.offsets["Array<int>::_length"]))
	if n <= 0 || n > mostMethods {
		return
	}
	name := ""
	first := methods + o.l.offsets["Array<Method*>::_data"]
	for i := range uint64(n) {
		at := m.u64(first + 8*i)
		if at == 0 {
			continue
		}
		fixed := m.u64(at + o.fields.constMethod)
		x := o.methods[at]
		if x == nil || x.fixed != fixed {
			if name == "" {
				name = o.l.symbol(m, m.u64(class+o.l.offsets["Klass::_name"]))
			}
			k := Key{name, o.l.method(m, fixed)}
			if k.Method == "" {
				continue
			}
			x = &method{fixed: fixed, entry: o.entry(k), fresh: true}
			o.methods[at] = x
		}
		x.now, x.look = o.state(m, at), r.number
		r.methods++
		if x.now.code != 0 {
			r.addCode(x.now.code)
		}
		if e := x.entry; e.watched {
			e.where = append(e.where, at)
		}
	}
	osr := m.u64(class + o.fields.osrHead)
	for n := 0; osr != 0 && n < mostOSR; n++ {
		r.addCode(osr)
		osr = m.u64(osr + o.fields.osrLink)
	}
}

func (r *reading) addCode(nmethod uint64) {
	if !r.seen[nmethod] {
		r.seen[nmethod] = true
		r.code = append(r.code, nmethod)
	}
}

// state reads one method.
func (o *Observer) state(m *memory, method uint64) (s state) {
	s.counters, s.profile, s.code = m.u64(method+o.fields.counters), m.u64(method+o.fields.profile), m.u64(method+o.fields.code)
	if s.counters != 0 {
		s.calls = m.u32(s.counters + o.fields.calls)
	}
	if s.profile != 0 {
		s.profiled = m.u32(s.profile + o.fields.profiled)
	}
	return s
}

// invoked reports whether a method was invoked between two states.
func (s state) invoked(since state) bool {
	return s.counters != 0 && s.calls != since.calls || s.profile != 0 && s.profiled != since.profiled
}

// decide finds the methods that are active: those that were invoked, and what code that
// runs has inlined.
func (r *reading) decide() {
	o := r.o
	for _, x := range o.methods {
		if x.look == r.number && x.now.invoked(x.first) {
			o.moved = true
			o.activate(x.entry)
		}
	}
	for _, n := range r.code {
		owner := o.methods[r.m.u64(n+o.fields.nmMethod)]
		if owner == nil {
			continue // freed meanwhile
		}
		level := byte(r.m.u32(n + o.fields.level))
		runs := owner.entry.active
		if level != levelCounted && level != levelProfile {
			runs = true
			o.activate(owner.entry)
		}
		if !runs {
			continue
		}
		from, to := o.fields.metadata(r.m, n)
		if to < from || to-from > 8*mostInlined {
			continue
		}
		for at := from; at+8 <= to; at += 8 {
			if in := o.methods[r.m.u64(at)]; in != nil && (level != levelProfile || r.accessor(in.fixed)) {
				o.activate(in.entry)
			}
		}
	}
}

// Bytecodes that an accessor can't have where it has the access to the field (JVMS 6.5).
const (
	invokevirtual   = 0xb6
	invokeinterface = 0xb9
)

// accessor reports whether a method may be one for the JVM: aload_0, getfield, a return;
// or aload_0, a load of one byte, putfield, return. The interpreter may have put other
// bytecodes in their places.
func (r *reading) accessor(fixed uint64) bool {
	at := 0
	switch size := r.m.u16(fixed + r.o.fields.codeSize); size {
	case 5:
		at = 1
	case 6:
		at = 2
	default:
		return false
	}
	b := r.m.bytes(fixed+r.o.l.sizes["ConstMethod"]+uint64(at), 1)
	return len(b) == 1 && (b[0] < invokevirtual || b[0] > invokeinterface)
}

// Moved reports whether the JVM's counters moved at all since Observe. A JVM without a
// compiler (-Xint) does not count.
func (o *Observer) Moved() bool { return o.moved }

// Active reports whether a method was active at one of the looks, in any loader.
func (o *Observer) Active(k Key) bool {
	e := o.entries[k]
	return e != nil && e.active
}

// Calls is how often a method was invoked between the first look and the last one, in all
// loaders. It is -1 where that was not counted: the method has compiled code that doesn't
// count.
func (o *Observer) Calls(k Key) (n int64) {
	e := o.entries[k]
	for _, x := range o.methods {
		if x.entry != e || x.look != o.looks {
			continue
		}
		if x.now.code != 0 && !x.now.invoked(x.first) {
			return -1
		}
		n += int64(x.now.calls>>o.shift) - int64(x.first.calls>>o.shift)
		n += int64(x.now.profiled>>o.shift) - int64(x.first.profiled>>o.shift)
	}
	return n
}

// Compiled is how many methods had compiled code at the last look.
func (o *Observer) Compiled() (n int) {
	for _, x := range o.methods {
		if x.look == o.looks && x.now.code != 0 {
			n++
		}
	}
	return n
}

// ActiveMethods is how many methods Active tells of. They only become more.
func (o *Observer) ActiveMethods() int { return o.actives }

// Actives are the methods that Active tells of, a copy.
func (o *Observer) Actives() map[Key]struct{} {
	out := make(map[Key]struct{}, o.actives)
	for k, e := range o.entries {
		if e.active {
			out[k] = struct{}{}
		}
	}
	return out
}
