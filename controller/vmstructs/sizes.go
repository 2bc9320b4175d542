package vmstructs

import "fmt"

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
	if err != nil {
		return nil, err
	}
	out := map[string]int64{}
	l.eachClass(m, func(class uint64) {
		name := l.symbol(m, m.u64(class+l.offsets["Klass::_name"]))
		// The lowest bit says that the JVM has to look closer when it makes an object.
		size := int64(m.u32(class+l.offsets["Klass::_layout_helper"]) &^ 1)
		if old, ok := out[name]; ok && old != size {
			size = Ambiguous
		}
		out[name] = size
	})
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
