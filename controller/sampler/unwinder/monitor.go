package unwinder

import "strings"

// MonitorClass is the name of the class of the object whose monitor it is, internal form; "" where
// that can't be read. The object may be moved meanwhile, so what is read is checked: it has to
// be a class's name.
func (u *Unwinder) MonitorClass(monitor uint64) string {
	u.budget = walkBudget
	_, name := u.monitorObject(monitor)
	return name
}

// monitorObject finds the object whose monitor it is, and the name of its class; "" if it can't be read.
func (u *Unwinder) monitorObject(monitor uint64) (object uint64, class string) {
	l := u.l
	if monitor == 0 || l.MonitorObject == none || l.KlassName == none {
		return 0, ""
	}
	m := u.headersOf()
	if !m.ok {
		return 0, ""
	}
	first, ok := u.u64(monitor + l.MonitorObject)
	if !ok {
		return 0, ""
	}
	// The object itself (8, 11), or where a reference to it lies.
	if second, ok := u.u64(first); ok {
		second = u.objectsOf().plain(second)
		if name := u.classOf(m, second); name != "" {
			return second, name
		}
	}
	return first, u.classOf(m, first)
}

// Headers say where objects have their classes.
type headers struct {
	known, ok  bool // it was tried; it is known
	compressed bool
	compact    bool // the class is in the word of marks
	base       uint64
	shift      uint64
}

func (u *Unwinder) findHeaders(m *headers) bool {
	m.compact, _ = u.Flag("UseCompactObjectHeaders")
	if m.compressed, _ = u.Flag("UseCompressedClassPointers"); !m.compressed {
		return true
	}
	l := u.l
	if l.KlassBase == none || l.KlassShift == none {
		return false
	}
	m.base, _ = u.u64(l.KlassBase)
	p := u.bytes(l.KlassShift, 4)
	if p == nil || u32(p) > 16 {
		return false
	}
	m.shift = uint64(u32(p))
	return true
}

// headersOf is how objects of this JVM begin.
func (u *Unwinder) headersOf() *headers {
	m := &u.monitors
	if !m.known {
		m.known = true
		m.ok = u.findHeaders(m)
	}
	return m
}

// classOf reads an object's class's name.
func (u *Unwinder) classOf(m *headers, oop uint64) string { return u.klassName(u.klassOf(m, oop)) }

// klassOf reads an object's class; 0 if that is no address of one.
func (u *Unwinder) klassOf(m *headers, oop uint64) uint64 {
	const (
		klass        = 8  // behind the word of marks
		compactShift = 42 // in it
	)
	if oop%8 != 0 || oop < minAddress || oop > maxAddress {
		return 0
	}
	at := uint64(0)
	if m.compact {
		marks, _ := u.u64(oop)
		at = m.base + marks>>compactShift<<m.shift
	} else {
		p := u.bytes(oop+klass, 8)
		if p == nil {
			return 0
		}
		if at = u64(p); m.compressed {
			at = m.base + uint64(u32(p))<<m.shift
		}
	}
	if at%8 != 0 || at < minAddress || at > maxAddress {
		return 0
	}
	return at
}

// klassName reads a class's name; "" if what is there is no name.
func (u *Unwinder) klassName(at uint64) string {
	if at == 0 {
		return ""
	}
	symbol, ok := u.u64(at + u.l.KlassName)
	if !ok || symbol%8 != 0 || symbol < minAddress || symbol > maxAddress {
		return ""
	}
	name := u.symbols(symbol)[0]
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == 0xfffd || r == '.' || r == '(' }) {
		return ""
	}
	return className(name)
}
