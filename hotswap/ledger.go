// Package hotswap keeps account of what is instrumented in a target: which
// methods of which classes are to have probes, under which ids, what the JVM
// has accepted, and what was left alone and why.
//
// The Ledger is the one truth about it: whenever bytes of a class pass by, at
// loading or at a retransformation whoever asked for it, the Ledger rewrites
// them to what is wanted at that moment. Taking probes out again is the same
// operation with nothing wanted. The package does no I/O and is not safe for
// concurrent use: a session's one goroutine owns it.
//
// Errors are those of packages classfile and probe, for bytes that they can't read and
// programs that they can't inject.
package hotswap

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile/verify"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// A ClassID names a loaded class; see cha.ClassID.
type ClassID struct {
	Loader uint32
	Name   string
}

// A Method is a row of the ledger.
type Method struct {
	ID     int32 // its number in the target, from 1
	Class  ClassID
	Key    probe.MethodKey
	Reason string // why it has no probes; "" when it has, or will have
	Sites  bool   // it has its probes where it is called: native, or an intrinsic of the JVM's
	Leaf   bool   // its probe is that of leaf methods (LeavesBy)
	Type   string // it is no method, but what is allocated (AllocateBy): a class in internal form, or an array's descriptor; else ""

	// Of a ledger that has methods count what they execute (CountBy): what there
	// is to know of the method, and why it does not count; "" when it does.
	Count     probe.Count
	Uncounted string
	Missed    []string // calls of its that allocate what can't be counted (AllocateBy)
}

// A Ledger is empty at first. Create it with [NewLedger].
type Ledger struct {
	hooks     probe.Hooks
	program   *probe.Injector // nil for token probes
	starts    []probe.Start
	rewriting ClassID
	max       int32
	methods   []*Method // by id; 0 unused
	classes   map[ClassID]*class
	sites     map[ClassID]map[probe.MethodKey]*Method
	types     map[string]*Method
	notes     []probe.Skipped
	over      []Method // found no id
	typeless  int
	known     func(ClassID) verify.Hierarchy
}

type class struct {
	want    map[probe.MethodKey]*Method
	refused string
}

// NewLedger makes a ledger that hands out ids below max.
func NewLedger(hooks probe.Hooks, max int32) *Ledger {
	return &Ledger{hooks: hooks, max: max, methods: make([]*Method, 1), classes: map[ClassID]*class{}, sites: map[ClassID]map[probe.MethodKey]*Method{}}
}

// VerifyBy makes the ledger verify what it rewrites. known returns the classes
// as the loader of a class sees them, nil if that can't be told; then the class
// goes unverified. The JVM does not verify classes of the boot loader when they
// are redefined, so what is wrong with them crashes the target.
func (l *Ledger) VerifyBy(known func(ClassID) verify.Hierarchy) { l.known = known }

// InjectBy makes the ledger put another program than that of the token probes
// into the methods; it must come before the first [Ledger.Rewrite].
func (l *Ledger) InjectBy(in *probe.Injector) { l.program = in }

// SitesBy makes the ledger put probes around calls, too, by the program of
// [probe.TokenSites]; hooks replace those of [NewLedger]. at is asked about each call in a method of a class that
// gets probes, and answers as its At does. It must come before the first
// [Ledger.Rewrite].
func (l *Ledger) SitesBy(hooks probe.Hooks, at func(ClassID, *probe.Point) (which int, arg int32)) {
	l.hooks, l.starts = hooks, nil
	in := probe.TokenSites(hooks)
	in.At = func(p *probe.Point) (int, int32) { return at(l.rewriting, p) }
	l.program = in
}

// A Start is a [probe.Start]; Is is told the class, too.
type Start struct {
	Call probe.Call
	This bool
	Is   func(ClassID, probe.MethodKey) bool
}

// StartsBy makes the ledger put other calls into some methods; those of a later
// call are asked about first. It must come after [Ledger.SitesBy] and before
// those methods' classes are rewritten.
func (l *Ledger) StartsBy(starts ...Start) error {
	var all []probe.Start
	for _, s := range starts {
		all = append(all, probe.Start{Call: s.Call, This: s.This, Is: func(k probe.MethodKey) bool { return s.Is(l.rewriting, k) }})
	}
	all = append(all, l.starts...)
	in, err := l.program.WithStarts(all...)
	if err != nil {
		return err
	}
	l.program, l.starts = in, all
	return nil
}

// LeavesBy makes the ledger put the probes of leaf methods, the static methods
// entry and thrown (I)V of a class, into those for which is says so. It must
// come after [Ledger.SitesBy] and before the first [Ledger.Rewrite].
func (l *Ledger) LeavesBy(class, entry, thrown string, is func(ClassID, probe.MethodKey) bool) error {
	in, err := l.program.WithLeaves(class, entry, thrown, func(k probe.MethodKey) bool { return is(l.rewriting, k) })
	if err != nil {
		return err
	}
	l.program = in
	return nil
}

// CountBy makes the ledger have methods count the bytecode instructions that they
// execute. It must come after [Ledger.LeavesBy] and before the first [Ledger.Rewrite].
func (l *Ledger) CountBy(x probe.Executed) error {
	in, err := l.program.WithExecuted(x)
	if err != nil {
		return err
	}
	l.program = in
	return nil
}

// AllocateBy makes the ledger have methods count what they allocate. Type of x is the
// ledger's own: each type gets an id of its own, see [Method].Type. It must come after
// [Ledger.LeavesBy] and before the first [Ledger.Rewrite].
func (l *Ledger) AllocateBy(x probe.Allocated) error {
	l.types = map[string]*Method{}
	x.Type = l.typeID
	x.Foreign = func(class string) bool { return !l.Wants(ClassID{Name: class}) }
	x.Missed = func(k probe.MethodKey, callee string) {
		if m := l.Lookup(l.rewriting, k); m != nil && !slices.Contains(m.Missed, callee) {
			m.Missed = append(m.Missed, callee)
		}
	}
	in, err := l.program.WithAllocated(x)
	if err != nil {
		return err
	}
	l.program = in
	return nil
}

// Reflects tells whether methods create objects by reflection.
func (l *Ledger) Reflects() bool { return l.types[probe.ReflectedType] != nil }

// typeID is the id of a type; ok is false if there is none left.
func (l *Ledger) typeID(name string) (id int32, ok bool) {
	m := l.types[name]
	if m == nil {
		if len(l.methods) >= int(l.max) {
			l.typeless++
			return 0, false
		}
		m = &Method{ID: int32(len(l.methods)), Type: name, Sites: true}
		l.methods = append(l.methods, m)
		l.types[name] = m
	}
	return m.ID, true
}

// Typeless is how many allocations in code are not counted for want of an id.
func (l *Ledger) Typeless() int { return l.typeless }

// Want says that a method is to have probes from now on. added is false if
// that was said before, or can't be granted; then the method's row says why.
func (l *Ledger) Want(id ClassID, key probe.MethodKey) (m *Method, added bool) {
	c := l.classes[id]
	if c == nil {
		c = &class{want: map[probe.MethodKey]*Method{}}
		l.classes[id] = c
	}
	if m := c.want[key]; m != nil {
		return m, false
	}
	m = &Method{Class: id, Key: key, Reason: c.refused}
	if len(l.methods) >= int(l.max) {
		m.Reason = fmt.Sprintf("more than %d methods", l.max-1)
		l.over = append(l.over, *m)
		return m, false
	}
	m.ID = int32(len(l.methods))
	l.methods = append(l.methods, m)
	c.want[key] = m
	return m, m.Reason == ""
}

// Half reports whether half of the ids have been given out: no time to be generous.
func (l *Ledger) Half() bool { return len(l.methods) >= int(l.max)/2 }

// Site returns the row of a method that gets its probes where it is called
// (SitesBy), nil if there is no id left for it. added says that it is new.
func (l *Ledger) Site(id ClassID, key probe.MethodKey) (m *Method, added bool) {
	if m := l.sites[id][key]; m != nil {
		return m, false
	}
	if len(l.methods) >= int(l.max) {
		return nil, false
	}
	m = &Method{ID: int32(len(l.methods)), Class: id, Key: key, Sites: true}
	l.methods = append(l.methods, m)
	if l.sites[id] == nil {
		l.sites[id] = map[probe.MethodKey]*Method{}
	}
	l.sites[id][key] = m
	return m, true
}

// Door returns the row of a method that somebody else gives its probes, nil if
// there is no id left for it. It is among neither the instrumented nor the
// skipped ones.
func (l *Ledger) Door(id ClassID, key probe.MethodKey) *Method {
	if len(l.methods) >= int(l.max) {
		return nil
	}
	m := &Method{ID: int32(len(l.methods)), Class: id, Key: key, Sites: true}
	l.methods = append(l.methods, m)
	return m
}

// Sites counts the methods that got probes where they are called.
func (l *Ledger) Sites() (n int) {
	for _, c := range l.sites {
		n += len(c)
	}
	return n
}

// HasSite tells whether a method got probes where it is called.
func (l *Ledger) HasSite(id ClassID, key probe.MethodKey) bool { return l.sites[id][key] != nil }

// Method is the row of an id, nil if there is none.
func (l *Ledger) Method(id int32) *Method {
	if id <= 0 || int(id) >= len(l.methods) {
		return nil
	}
	return l.methods[id]
}

// Rows calls f for each method of a class that was ever wanted.
func (l *Ledger) Rows(id ClassID, f func(*Method)) {
	if c := l.classes[id]; c != nil {
		for _, m := range c.want {
			f(m)
		}
	}
}

// Lookup is the row of a method, nil if it was never wanted.
func (l *Ledger) Lookup(id ClassID, key probe.MethodKey) *Method {
	if c := l.classes[id]; c != nil {
		return c.want[key]
	}
	return nil
}

// Len is the number of ids given out, plus one: every id is below it.
func (l *Ledger) Len() int32 { return int32(len(l.methods)) }

// Wants tells whether some method of the class is to have probes.
func (l *Ledger) Wants(id ClassID) bool {
	c := l.classes[id]
	if c == nil || c.refused != "" {
		return false
	}
	for _, m := range c.want {
		if m.Reason == "" {
			return true
		}
	}
	return false
}

// Refuse records that the JVM did not take a class's new version.
func (l *Ledger) Refuse(id ClassID, reason string) {
	c := l.classes[id]
	if c == nil {
		return
	}
	c.refused = reason
	for _, m := range c.want {
		if m.Reason == "" {
			m.Reason = reason
		}
	}
}

// Instrumented are the methods that have probes of their own, by id.
func (l *Ledger) Instrumented() []*Method {
	return l.filter(func(m *Method) bool { return m.Reason == "" && !m.Sites })
}

// Skipped are the methods that were wanted and have no probes, by id.
func (l *Ledger) Skipped() []*Method {
	s := l.filter(func(m *Method) bool { return m.Reason != "" })
	for i := range l.over {
		s = append(s, &l.over[i])
	}
	return s
}

func (l *Ledger) filter(keep func(*Method) bool) []*Method {
	var s []*Method
	for _, m := range l.methods[1:] {
		if keep(m) {
			s = append(s, m)
		}
	}
	slices.SortFunc(s, func(a, b *Method) int { return cmp.Compare(a.ID, b.ID) })
	return s
}

// Original yields what restoring a class has to yield where the JVM would
// lose something: before JDK 19 it hands on a class for retransformation
// without its MethodParameters (JDK-8240908), and would leave it so. file is
// the class file. When nothing is lost the result is nil.
func Original(b, file []byte) ([]byte, error) {
	f, err := classfile.Parse(file)
	if err != nil {
		return nil, err
	}
	if !classfile.HasMethodParameters(f) {
		return nil, nil
	}
	return classfile.CarryMethodParameters(b, file)
}
