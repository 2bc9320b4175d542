package unwinder

import (
	"bytes"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
	"github.com/rivulet-profiler/rivulet/controller/vmstructs"
)

// A method is what a Method* of the target leads to.
type method struct {
	at       uint64
	name     *stack.Method // nil: not a method
	constant uint64        // ConstMethod
	codeSize int           // bytes of bytecode; 0: native or abstract
	lines    []line
	proof    []vmstructs.Span // what was read, to compare it again
	checked  int64
	pending  bool
	dead     bool
}

const (
	methodSize   = 64
	constantSize = 72
	proofs       = 5    // pieces by which a method is recognised
	proofText    = 16   // bytes of its class's name among them, the last ones
	attempts     = 3    // to read a method while its memory changes
	failedFor    = 20e6 // ns that something is not tried again which was no method
)

// methodOf resolves a Method*; nil if it isn't one.
func (u *Unwinder) methodOf(at uint64) *method {
	if m := u.methods[at]; m != nil && !m.dead {
		if m.name != nil {
			return m
		}
		if u.now-m.checked < failedFor {
			return nil
		}
	}
	if at%8 != 0 || at < minAddress || at > maxAddress {
		return nil
	}
	if len(u.methods) > maxMethods {
		clear(u.methods)
	}
	m := u.readMethod(at)
	u.methods[at] = m
	if m.name == nil {
		return nil
	}
	return m
}

// refresh compares those of some methods with the target that were not compared for
// [Recheck]: what is resolved of compiled code is kept as long as the code.
func (u *Unwinder) refresh(scopes []scope) {
	var old []*method
	for _, s := range scopes {
		if m := u.methods[s.method]; m != nil && m.name != nil && !m.dead && u.now-m.checked >= Recheck {
			old = append(old, m)
			m.checked = u.now // once, if it is there twice
		}
	}
	u.compare(nil, old)
}

// readMethod resolves a Method*. The target runs on meanwhile, and may give its classes'
// memory to others: what was read counts if it is there still when the last of it was read.
func (u *Unwinder) readMethod(at uint64) *method {
	for range attempts {
		m, seen := u.follow(at)
		if m.name == nil || u.unchanged(seen) {
			return m
		}
	}
	return &method{at: at, checked: u.now}
}

// follow goes Method -> ConstMethod -> ConstantPool -> Klass and Symbols, and says what it
// saw on its way.
func (u *Unwinder) follow(at uint64) (m *method, seen []vmstructs.Span) {
	l := u.l
	m = &method{at: at, checked: u.now}
	head := u.bytes(at, int(l.ConstMethod)+8)
	m.constant = word(head, l.ConstMethod)
	if m.constant%8 != 0 {
		return m, nil
	}
	constant := u.bytes(m.constant, constantSize)
	if constant == nil {
		return m, nil
	}
	pool := word(constant, l.Constants)
	name := pool + l.PoolSize + 8*uint64(quarter(constant, l.NameIndex))
	desc := pool + l.PoolSize + 8*uint64(quarter(constant, l.SignatureIndex))
	if pool%8 != 0 || pool < minAddress || pool > maxAddress {
		return m, nil
	}
	m.codeSize = int(quarter(constant, l.CodeSize))
	p := u.many([]uint64{pool + l.PoolHolder, name, desc, m.constant + l.ConstMethodSize + uint64(m.codeSize)}, []int{8, 8, 8, 512})
	if p[0] == nil || p[1] == nil || p[2] == nil {
		return m, nil
	}
	klass := u64(p[0])
	q := u.bytes(klass+l.KlassName, 8)
	if klass%8 != 0 || q == nil {
		return m, nil
	}
	texts := []uint64{u64(q), u64(p[1]) &^ 1, u64(p[2]) &^ 1} // of the class, the method and its descriptor
	symbols := u.symbols(texts...)
	if symbols[0] == "" || symbols[1] == "" || !strings.HasPrefix(symbols[2], "(") {
		return m, nil
	}
	if !u.belongs(at, pool, klass, texts[0], symbols[0]) {
		return m, nil
	}
	m.name = u.intern(stack.Method{Class: className(symbols[0]), Name: symbols[1], Desc: symbols[2]})
	u.pools[m.name] = pool
	if half(constant, l.ConstFlags)&1 != 0 { // has a line number table
		m.lines = u.readLines(m, p[3])
	}
	fixed := min(max(l.Constants+8, l.NameIndex+2, l.SignatureIndex+2), constantSize)
	from := max(0, len(symbols[0])-proofText)
	m.proof = []vmstructs.Span{
		{At: at + l.ConstMethod, P: word8(m.constant)},
		{At: m.constant + min(l.Constants, fixed), P: constant[min(l.Constants, fixed):fixed]},
		{At: pool + l.PoolHolder, P: p[0]},
		{At: klass + l.KlassName, P: q},
		{At: texts[0] + l.SymbolAt + uint64(from), P: []byte(symbols[0][from:])},
	}
	seen = append(slices.Clone(m.proof), vmstructs.Span{At: name, P: p[1]}, vmstructs.Span{At: desc, P: p[2]})
	for i, s := range symbols {
		seen = append(seen, vmstructs.Span{At: texts[i] + l.SymbolAt, P: []byte(s)})
	}
	return m, seen
}

// belongs reports whether a Method that leads to a constant pool and a class is a method of
// that class. What an unloaded class had in memory stays there until the memory is given to
// other classes, piece by piece: its Method and its constant pool may be there still when its
// Klass is another class's already. name is the address of the class's name, text the name.
func (u *Unwinder) belongs(at, pool, klass, name uint64, text string) bool {
	l := u.l
	if l.KlassMethods == 0 || max(l.KlassConstants, l.KlassMethods, l.MethodsLength, l.MethodsData, l.PoolLength) == none {
		return true // what a class has is not known here
	}
	p := u.many([]uint64{klass + l.KlassConstants, klass + l.KlassMethods}, []int{8, 8})
	if p[0] == nil || p[1] == nil {
		return false
	}
	if u64(p[0]) == pool {
		methods := u64(p[1])
		return u.has(methods+l.MethodsData, half(u.bytes(methods+l.MethodsLength, 4), 0), at)
	}
	// A method of the time before its class was redefined keeps its pool, which has the name
	// of the class. Those by which the JVM calls method handles have pools without it.
	return text == "java/lang/invoke/MethodHandle" ||
		u.has(pool+l.PoolSize, half(u.bytes(pool+l.PoolLength, 4), 0), name)
}

// has reports whether a pointer is among n at an address.
func (u *Unwinder) has(from uint64, n uint32, pointer uint64) bool {
	if n > maxSymbol {
		return false
	}
	p := u.bytes(from, 8*int(n))
	for i := 0; i+8 <= len(p); i += 8 {
		if u64(p[i:])&^1 == pointer {
			return true
		}
	}
	return false
}

// unchanged compares what was seen with what is there.
func (u *Unwinder) unchanged(seen []vmstructs.Span) bool {
	at, sizes := make([]uint64, len(seen)), make([]int, len(seen))
	for i, s := range seen {
		at[i], sizes[i] = s.At, len(s.P)
	}
	for i, p := range u.many(at, sizes) {
		if !bytes.Equal(p, seen[i].P) {
			return false
		}
	}
	return true
}

func word8(v uint64) []byte {
	p := make([]byte, 8)
	for i := range p {
		p[i] = byte(v >> (8 * i))
	}
	return p
}

// readLines reads a method's line table, whose length nothing says.
func (u *Unwinder) readLines(m *method, p []byte) []line {
	at := m.constant + u.l.ConstMethodSize + uint64(m.codeSize)
	for n := 128; p == nil && n >= 16; n /= 2 { // the end of what is mapped
		p = u.bytes(at, n)
	}
	for n := 2048; p != nil && bytes.IndexByte(p, 0) < 0 && n <= maxLineTable; n *= 4 {
		q := u.bytes(at, n)
		if q == nil {
			break
		}
		p = q
	}
	return decodeLines(p, u.l.Excess)
}

// symbols reads names, with one call if they are short.
func (u *Unwinder) symbols(at ...uint64) []string {
	const short = 128
	sizes := make([]int, len(at))
	for i := range sizes {
		sizes[i] = short
	}
	out := make([]string, len(at))
	for i, p := range u.many(at, sizes) {
		if p == nil { // the end of what is mapped
			if p = u.bytes(at[i], 32); p == nil {
				continue
			}
		}
		n := uint64(0)
		if u.l.SymbolLength != none {
			n = uint64(quarter(p, u.l.SymbolLength))
		} else {
			n = uint64(half(p, u.l.SymbolRefLength) >> 16)
		}
		if u.l.SymbolAt+n > uint64(len(p)) {
			if p = u.bytes(at[i], int(u.l.SymbolAt+n)); p == nil {
				continue
			}
		}
		out[i] = string(p[u.l.SymbolAt : u.l.SymbolAt+n])
	}
	return out
}

// className leaves out what is appended to the name of a hidden class, which differs from
// run to run: "a/B$$Lambda$13+0x00007f20100bfc58" is "a/B$$Lambda$13".
func className(s string) string {
	if i := strings.LastIndex(s, "+0x"); i > 0 {
		return s[:i]
	}
	return s
}

// intern gives each name one pointer.
func (u *Unwinder) intern(m stack.Method) *stack.Method {
	if p := u.names[m]; p != nil {
		return p
	}
	p := &m
	u.names[m] = p
	return p
}
