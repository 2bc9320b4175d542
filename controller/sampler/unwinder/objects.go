package unwinder

import (
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Objects say where Java objects have what. It is worked out when first asked for.
type objects struct {
	known      bool // it was tried
	ok         bool
	thread     uint64 // offset of java.lang.Thread's field name
	number     uint64 // of its field tid; none where it isn't found
	blocker    uint64 // of its field parkBlocker; none where it isn't found
	holder     uint64 // of the field that has its state; none before JDK 19
	daemon     uint64 // of the field daemon, as status
	status     uint64 // of the field threadStatus, there or in the thread itself; none if not known
	value      uint64 // of java.lang.String's
	coder      uint64 // none before JDK 9
	compressed bool   // references are 32 bits
	coloured   bool   // generational ZGC: addresses are shifted by what their low bits say
	base       uint64
	shift      uint64
	length     uint64 // of arrays
	elements   uint64

	exclusive map[uint64]uint64 // by class: where its objects have the thread that owns them; none where they don't
}

const maxName = 1 << 10 // characters of a thread's name

// ThreadName reads the name that a thread has in Java; empty where it can't be read. While a collection moves objects it may
// be another object's text ([Unwinder.Unmoved]).
func (u *Unwinder) ThreadName(t Thread) string {
	u.budget = walkBudget
	o := u.objectsOf()
	oop := u.threadObject(t)
	if oop == 0 {
		return ""
	}
	name := u.reference(o, oop+o.thread)
	value := u.reference(o, name+o.value)
	if name == 0 || value == 0 {
		return ""
	}
	n := u.bytes(value+o.length, 4)
	if n == nil || u32(n) == 0 || u32(n) > maxName {
		return ""
	}
	size, wide := int(u32(n)), true
	if o.coder == none {
		size *= 2
	} else {
		c := u.bytes(name+o.coder, 1)
		if c == nil || c[0] > 1 {
			return ""
		}
		wide = c[0] == 1
	}
	p := u.bytes(value+o.elements, size)
	if p == nil {
		return ""
	}
	return text(p, wide)
}

// ThreadNumber reads the number that a thread has in Java; 0 where it can't be read. It is as uncertain as [Unwinder.ThreadName].
func (u *Unwinder) ThreadNumber(t Thread) int64 {
	u.budget = walkBudget
	oop := u.threadObject(t)
	if oop == 0 || u.objects.number == none {
		return 0
	}
	n, _ := u.u64(oop + u.objects.number)
	return int64(n)
}

// threadObject is the address of a thread's object; 0 where it can't be read.
func (u *Unwinder) threadObject(t Thread) uint64 {
	if o := u.objectsOf(); !o.ok || t.At == 0 {
		return 0
	}
	oop, _ := u.u64(t.At + u.l.ThreadObject)
	if u.l.HandleObject != none {
		oop, _ = u.u64(oop + u.l.HandleObject)
		oop = u.objects.plain(oop)
	}
	return oop
}

// plain is the address that a reference of 64 bits has.
func (o *objects) plain(reference uint64) uint64 {
	if !o.coloured {
		return reference
	}
	const first, mask = 12, 0xf // of the bits that say how far it is shifted, one of which is set
	where := reference >> first & mask
	if bits.OnesCount64(where) != 1 {
		return 0
	}
	return reference >> (first + bits.TrailingZeros64(where) + 1)
}

// objectsOf is where objects of this JVM have what.
func (u *Unwinder) objectsOf() *objects {
	o := &u.objects
	if !o.known {
		o.known = true
		o.ok = u.findObjects(o)
	}
	return o
}

// text decodes UTF-16, or Latin-1. Control characters mean that it is no name.
func text(p []byte, wide bool) string {
	var units []uint16
	for i := 0; i < len(p); i++ {
		if wide {
			if i+1 >= len(p) {
				break
			}
			units = append(units, u16(p[i:]))
			i++
		} else {
			units = append(units, uint16(p[i]))
		}
	}
	out := make([]byte, 0, len(units))
	for _, r := range utf16.Decode(units) {
		if r < ' ' || r == utf8.RuneError {
			return ""
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// reference reads a reference to an object.
func (u *Unwinder) reference(o *objects, at uint64) uint64 {
	if !o.compressed {
		v, _ := u.u64(at)
		return o.plain(v)
	}
	p := u.bytes(at, 4)
	if p == nil || u32(p) == 0 {
		return 0
	}
	return o.base + uint64(u32(p))<<o.shift
}

func (u *Unwinder) findObjects(o *objects) bool {
	l := u.l
	if l.ThreadObject == none || l.ThreadKlass == none || l.StringKlass == none {
		return false
	}
	o.compressed, _ = u.Flag("UseCompressedOops")
	if o.compressed {
		if l.OopBase == none || l.OopShift == none {
			return false
		}
		o.base, _ = u.u64(l.OopBase)
		p := u.bytes(l.OopShift, 4)
		if p == nil || u32(p) > 8 {
			return false
		}
		o.shift = uint64(u32(p))
	}
	if z, _ := u.Flag("UseZGC"); z {
		generational, known := u.Flag("ZGenerational")
		o.coloured = generational || !known && l.BlobKind != none // since 24 it is always
	}
	// An object begins with a word of marks and its class; an array has its length next.
	classes, _ := u.Flag("UseCompressedClassPointers")
	compact, _ := u.Flag("UseCompactObjectHeaders")
	switch {
	case compact:
		o.length, o.elements = 8, 12
	case classes:
		o.length, o.elements = 12, 16
	case l.BlobKind != none: // since 23 they begin right behind
		o.length, o.elements = 16, 20
	default:
		o.length, o.elements = 16, 24
	}
	thread, _ := u.u64(l.ThreadKlass)
	str, _ := u.u64(l.StringKlass)
	var ok1, ok2 bool
	o.thread, ok1 = u.field(thread, "name")
	o.number, _ = u.field(thread, "tid")
	o.blocker, _ = u.field(thread, "parkBlocker")
	o.holder, _ = u.field(thread, "holder")
	o.status, _ = u.field(thread, "threadStatus")
	o.daemon, _ = u.field(thread, "daemon")
	o.value, ok2 = u.field(str, "value")
	o.coder, _ = u.field(str, "coder")
	return ok1 && ok2
}

// field finds where the objects of a class have a field.
func (u *Unwinder) field(klass uint64, name string) (offset uint64, ok bool) {
	l := u.l
	pool, ok1 := u.u64(klass + l.KlassConstants)
	if l.KlassConstants == none || !ok1 {
		return none, false
	}
	is := func(index uint64) bool {
		at, _ := u.u64(pool + l.PoolSize + 8*index)
		return u.symbols(at &^ 1)[0] == name
	}
	if l.FieldStream != none {
		return u.streamed(klass+l.FieldStream, is)
	}
	if l.Fields == none || l.FieldCount == none {
		return none, false
	}
	// For each field six numbers: flags, name, descriptor, value, and the offset, shifted by
	// two, in the last two.
	const slots, nameSlot, low, high, data = 6, 1, 4, 5, 4
	list, _ := u.u64(klass + l.Fields)
	count := u.bytes(klass+l.FieldCount, 2)
	if count == nil {
		return none, false
	}
	p := u.bytes(list+data, int(u16(count))*slots*2)
	for ; len(p) >= slots*2; p = p[slots*2:] {
		if is(uint64(u16(p[2*nameSlot:]))) {
			return uint64(u16(p[2*low:]))>>2 | uint64(u16(p[2*high:]))<<14, true
		}
	}
	return none, false
}

// streamed finds a field in the form that there is since JDK 21, a stream of numbers.
func (u *Unwinder) streamed(at uint64, is func(name uint64) bool) (offset uint64, ok bool) {
	const data, most = 4, 1 << 16
	list, _ := u.u64(at)
	n := u.bytes(list, 4)
	if n == nil || u32(n) > most {
		return none, false
	}
	r := numbers{u.bytes(list+data, int(u32(n))), u.l.Excess, false}
	count := r.next()
	r.next() // of those that the JVM adds
	for ; count > 0 && !r.bad; count-- {
		name := uint64(r.next())
		r.next() // descriptor
		offset := uint64(r.next())
		r.next() // access
		flags := r.next()
		for _, bit := range []uint{0, 2, 4} { // a value, a generic signature, a group follow
			if flags>>bit&1 != 0 {
				r.next()
			}
		}
		if is(name) && !r.bad {
			return offset, true
		}
	}
	return none, false
}
