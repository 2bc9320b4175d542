package unwinder

import (
	"encoding/binary"
	"testing"
)

// TestUnloaded follows a Method whose memory is there still while that of its class, which was
// unloaded, is another class's: it is a method of neither.
func TestUnloaded(t *testing.T) {
	const (
		base                           = 0x10000 // of the memory; the others are from there
		constant, pool, methods, other = 0x100, 0x200, 0x300, 0x400
		klass, at                      = 0x500, 0x600
		name, desc, class              = 0x700, 0x720, 0x740
	)
	l := &Layout{
		ConstMethod: 8, Constants: 8, NameIndex: 16, SignatureIndex: 18, CodeSize: 20, ConstFlags: 24, ConstMethodSize: 48,
		PoolHolder: 8, PoolLength: 16, PoolSize: 32, KlassName: 8, KlassConstants: 16, KlassMethods: 24,
		MethodsLength: 0, MethodsData: 8, SymbolLength: 0, SymbolAt: 2,
		Heap: none, Heaps: none, ContinuationReturn: none,
	}
	for _, c := range []struct {
		name   string
		class  string
		change func(put func(at, v uint64))
		found  bool
	}{
		{"a method of its class", "A", func(func(at, v uint64)) {}, true},
		{"one of before its class was redefined", "A", func(put func(at, v uint64)) { put(klass+16, other) }, true},
		{"the class is another", "A", func(put func(at, v uint64)) {
			put(klass+16, other)
			put(pool+32+3*8, name)
		}, false},
		{"the class and its pool are another's", "A", func(put func(at, v uint64)) { put(methods+8, other) }, false},
		{"one that calls a method handle", "java/lang/invoke/MethodHandle", func(put func(at, v uint64)) {
			put(klass+16, other)
			put(pool+32+3*8, name)
		}, true},
	} {
		p := make([]byte, 0x1000)
		put := func(at, to uint64) { binary.LittleEndian.PutUint64(p[at:], base+to) }
		symbol := func(at uint64, s string) {
			binary.LittleEndian.PutUint16(p[at:], uint16(len(s)))
			copy(p[at+2:], s)
		}
		put(at+8, constant)
		put(constant+8, pool)
		copy(p[constant+16:], []byte{1, 0, 2, 0, 4}) // its name, its descriptor, the size of its code
		put(pool+8, klass)
		p[pool+16] = 4
		for i, s := range []uint64{name, desc, class} {
			put(pool+32+8*uint64(i+1), s)
		}
		put(klass+8, class)
		put(klass+16, pool)
		put(klass+24, methods)
		p[methods] = 1
		put(methods+8, at)
		symbol(name, "a")
		symbol(desc, "()V")
		symbol(class, c.class)
		c.change(put)
		u := New(l, image{base: p}, nil, false)
		u.Begin(0)
		m := u.methodOf(base + at)
		if (m != nil) != c.found || m != nil && (m.name.Class != c.class || m.name.Name != "a" || m.name.Desc != "()V") {
			t.Errorf("%s: %+v", c.name, m)
		}
	}
}
