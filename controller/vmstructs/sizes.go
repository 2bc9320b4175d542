package vmstructs

import (
	"errors"
	"fmt"
)

// Ambiguous is the size of a class that differs from one loader to another.
const Ambiguous = -1

// Sizes are the bytes that an object of each loaded class takes, by the class's name in
// internal form, as its layout helper has them (klass.hpp): header and alignment
// included. It takes some 20 ms for 10,000 classes. Its errors are those of [Read].
func Sizes(pid int) (map[string]int64, error) {
	at, err := library(pid)
	if err != nil {
		return nil, err
	}
	return sizes(newMemory(Process(pid)), at)
}

func sizes(m *memory, at exported) (map[string]int64, error) {
	l, err := newLayout(m, at)
	if errors.Is(err, ErrUnknown) {
		return sizesByHierarchy(m, newTables(m, at))
	}
	if err != nil {
		return nil, err
	}
	out := map[string]int64{}
	l.eachClass(m, func(class uint64) { l.sizeOf(m, class, out) })
	return out, m.err
}

// sizeOf notes the size of a class's objects.
func (l *layout) sizeOf(m *memory, class uint64, out map[string]int64) {
	helper := int32(m.u32(class + l.offsets["Klass::_layout_helper"]))
	if helper <= 0 {
		return // an array's class, or an interface
	}
	name := l.symbol(m, m.u64(class+l.offsets["Klass::_name"]))
	size := int64(helper &^ 1) // the lowest bit says that the JVM has to look closer when it makes an object
	if old, ok := out[name]; ok && old != size {
		size = Ambiguous
	}
	out[name] = size
}

// sizesByHierarchy is for JDK 8, whose loaders have no lists of their classes: it goes
// through the subclasses of Object.
func sizesByHierarchy(m *memory, t *Tables) (map[string]int64, error) {
	l := &layout{t}
	var next [2]uint64
	for i, field := range []string{"Klass::_next_sibling", "Klass::_subklass"} {
		off, ok := t.Offset(field)
		if !ok {
			return nil, fmt.Errorf("%w: no %s", ErrUnknown, field)
		}
		next[i] = off
	}
	for _, names := range [][]string{{"Klass::_name"}, {"Klass::_layout_helper"}, {"Symbol::_length"}, {"Symbol::_body", "Symbol::_body[0]"}} {
		off, ok := t.Offset(names...)
		if !ok {
			return nil, fmt.Errorf("%w: no %s", ErrUnknown, names[0])
		}
		t.offsets[names[0]] = off
	}
	root, ok := t.Static("SystemDictionary::_well_known_klasses[SystemDictionary::Object_klass_knum]")
	if !ok {
		return nil, fmt.Errorf("%w: no class Object", ErrUnknown)
	}
	out := map[string]int64{}
	seen := map[uint64]bool{}
	for todo := []uint64{m.u64(root)}; len(todo) > 0 && len(seen) < mostClasses && m.err == nil; {
		class := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if class == 0 || seen[class] {
			continue
		}
		seen[class] = true
		l.sizeOf(m, class, out)
		for _, off := range next {
			todo = append(todo, m.u64(class+off))
		}
	}
	return out, m.err
}

// mostFlags bounds the table of flags; JDK 25 has some 1,400.
const mostFlags = 1 << 13

// Flags reads flags of a JVM that are bool or a number, by name; those that it doesn't
// have are left out. Its errors are those of [Read].
func Flags(pid int, names ...string) (map[string]int64, error) {
	at, err := library(pid)
	if err != nil {
		return nil, err
	}
	return flags(newMemory(Process(pid)), at, names)
}

func flags(m *memory, at exported, names []string) (map[string]int64, error) {
	t := newTables(m, at)
	table, ok := t.Static("JVMFlag::flags", "Flag::flags")
	number, numbered := t.Static("JVMFlag::numFlags", "Flag::numFlags")
	name, named := t.Offset("JVMFlag::_name", "Flag::_name")
	addr, addressed := t.Offset("JVMFlag::_addr", "Flag::_addr")
	size := max(t.sizes["JVMFlag"], t.sizes["Flag"])
	if m.err == nil && (!ok || !numbered || !named || !addressed || size == 0 || size > pageSize) {
		return nil, fmt.Errorf("%w: no table of flags", ErrUnknown)
	}
	wanted := map[string]bool{}
	for _, n := range names {
		wanted[n] = true
	}
	out := map[string]int64{}
	first := m.u64(table)
	for i := range min(m.u64(number), mostFlags) {
		flag := first + i*size
		n := m.name(m.u64(flag + name))
		if !wanted[n] {
			continue
		}
		value := m.u64(flag + addr)
		if v := m.bytes(value, 1); n[:3] == "Use" && v != nil { // a bool
			out[n] = int64(v[0])
		} else {
			out[n] = int64(int32(m.u32(value)))
		}
	}
	return out, m.err
}
