package allocation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/hotswap"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// A Table has the types that a recording's probes count. A nil one is of a recording that
// counts no allocations. It belongs to the owner of the ledger and the hierarchy, and is not
// safe for concurrent use.
type Table struct {
	ledger *hotswap.Ledger
	h      *cha.Hierarchy
	layout Layout

	types  []*cct.Type      // by id; nil for methods. Readers have it, so it only grows, or is replaced
	sizes  map[string]int64 // of classes, by their names in internal form
	copied []int32          // types that Object.clone makes
	vague  bool             // the JVM does not say how large objects are
	all    map[string]int64 // sizes of all classes, as they were read last
}

// New makes the table of a recording, in a JVM that lays arrays out in that way.
func New(ledger *hotswap.Ledger, h *cha.Hierarchy, layout Layout) *Table {
	return &Table{ledger: ledger, h: h, layout: layout, sizes: map[string]int64{}}
}

// NoSizes notes that the JVM does not tell how large objects are.
func (a *Table) NoSizes() {
	if a != nil { // else another recording has begun
		a.vague = true
	}
}

// Sizes are those of all classes as [Table.Sized] got them last; nil of a nil table.
func (a *Table) Sizes() map[string]int64 {
	if a == nil {
		return nil
	}
	return a.all
}

// typeOf is a type of the ledger's.
func (a *Table) typeOf(text string) *cct.Type {
	switch text {
	case probe.ReflectedType:
		return &cct.Type{Name: cct.Reflected, Size: cct.NotKnown}
	case "[" + probe.ReflectedType:
		return &cct.Type{Name: cct.ReflectedArray, Array: true, Size: cct.NotKnown, Vague: true}
	}
	name, more, _ := strings.Cut(text, ":")
	t := &cct.Type{Name: cct.SourceType(name), Array: text[0] == '[', Size: cct.NotKnown}
	if size := a.sizes[name]; size > 0 {
		t.Size = size
	}
	switch suffix := text[len(name):]; {
	case suffix == probe.EstimatedType:
		t.Name += cct.Estimated
	case suffix == probe.CloneType && a.hasSubclass(name):
		t.Name, t.Size = t.Name+cct.OrSubclass, cct.NotKnown
	case suffix != "" && strings.HasSuffix(name, "$$Lambda"):
		t.Size = a.layout.instance(more)
	}
	return t
}

// hasSubclass tells whether a class of that name has a subclass among the loaded ones.
func (a *Table) hasSubclass(name string) (has bool) {
	a.h.Classes(func(m *cha.ClassMirror) bool {
		has = has || m.Super == name
		return !has
	})
	return has
}

// Types are what ids of the ledger stand for that are no methods', by id; nil for methods. Readers
// may keep the answer: it is never changed.
func (a *Table) Types() []*cct.Type {
	if a == nil {
		return nil
	}
	for id := int32(len(a.types)); id < a.ledger.Len(); id++ {
		var t *cct.Type
		if m := a.ledger.Method(id); m != nil && m.Type != "" {
			t = a.typeOf(m.Type)
			if strings.HasSuffix(m.Type, probe.CloneType) {
				a.copied = append(a.copied, id)
			}
		}
		a.types = append(a.types, t)
	}
	for _, id := range a.copied { // a subclass may have come
		if t := a.typeOf(a.ledger.Method(id).Type); t.Name != a.types[id].Name {
			a.types = slices.Clone(a.types)
			a.types[id] = t
		}
	}
	return slices.Clip(a.types)
}

// Unsized are the classes that are allocated and whose objects' size isn't known.
func (a *Table) Unsized() (names []string) {
	for id, t := range a.Types() {
		if t != nil && !t.Array && t.Size < 0 && t.Name != cct.Reflected && !strings.HasSuffix(t.Name, cct.OrSubclass) {
			if name, _, _ := strings.Cut(a.ledger.Method(int32(id)).Type, ":"); !strings.HasSuffix(name, "$$Lambda") {
				names = append(names, name)
			}
		}
	}
	return names
}

// Sized takes the sizes of classes, in bytes, by their names in internal form. It returns for how
// many types that had none there is one now.
func (a *Table) Sized(sizes map[string]int64) (found int) {
	if a == nil { // another recording has begun
		return 0
	}
	a.all = sizes
	a.types = slices.Clone(a.types)
	for _, name := range a.Unsized() {
		if n, ok := sizes[name]; ok && n > 0 {
			a.sizes[name] = n
			found++
		}
	}
	for id, t := range a.types {
		if t == nil || t.Array || t.Size >= 0 {
			continue
		}
		a.types[id] = a.typeOf(a.ledger.Method(int32(id)).Type)
	}
	return found
}

// Note says in a report what it doesn't know of allocations.
func (a *Table) Note(r *export.Report) {
	if a == nil {
		return
	}
	if a.vague {
		r.Notes = append(r.Notes, "This JVM does not say how large objects are, or its memory may not be read (ptrace_scope, CAP_SYS_PTRACE): bytes are those of arrays alone.")
	}
	if names := a.Unsized(); len(names) > 0 && !a.vague {
		slices.Sort(names)
		some := strings.ReplaceAll(strings.Join(names[:min(len(names), 3)], ", "), "/", ".")
		r.Notes = append(r.Notes, fmt.Sprintf("The JVM ended, or the recording, before the size of %s was read (%s%s): objects of these have no bytes, and sums of bytes are at least what is shown.",
			export.Plural(int64(len(names)), "class", "classes"), some, map[bool]string{true: " and others"}[len(names) > 3]))
	}
	if n := a.ledger.Typeless(); n > 0 {
		r.Notes = append(r.Notes, export.Plural(int64(n), "place allocates", "places allocate")+" a type for which there was no number left: these objects are not counted.")
	}
}

// NameReflected finds the types of what was created by reflection, as far as constructors
// tell. types and sizes are those of a table when the recording ended.
func NameReflected(r *export.Report, types []*cct.Type, sizes map[string]int64) {
	if !slices.ContainsFunc(types, func(t *cct.Type) bool { return t != nil && t.Name == cct.Reflected }) {
		return
	}
	named := map[string]*cct.Type{}
	r.Tree.NameReflected(func(method int32) (string, bool) {
		class, _, ok := strings.Cut(r.Method(method).Name, ".<init>(")
		return class, ok
	}, func(class string) *cct.Type {
		t := named[class]
		if t == nil {
			t = &cct.Type{Name: class, Size: cct.NotKnown}
			if n := sizes[strings.ReplaceAll(class, ".", "/")]; n > 0 {
				t.Size = n
			}
			named[class] = t
		}
		return t
	})
}
