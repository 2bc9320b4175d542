package vmstructs

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ErrUnknown reports a JVM that lacks some of the tables, or of what should be in them.
var ErrUnknown = errors.New("this JVM does not say where it has its methods")

// mostEntries bounds a table; JDK 25 has some 1,000 fields.
const mostEntries = 1 << 14

// exported are the addresses of the variables that lead to the tables.
type exported map[string]uint64

// library finds libjvm.so in a process, and what it exports.
func library(pid int) (exported, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		line, deleted := strings.CutSuffix(s.Text(), " (deleted)")
		w := strings.Fields(line)
		if len(w) < 6 || !strings.HasSuffix(line, "/libjvm.so") || w[2] != "00000000" {
			continue
		}
		begin, _, _ := strings.Cut(w[0], "-")
		base, err := strconv.ParseUint(begin, 16, 64)
		if err != nil {
			return nil, err
		}
		// The file itself, whatever mount namespace it is in; where that is not allowed, by its name.
		lib, err := elf.Open(fmt.Sprintf("/proc/%d/map_files/%s", pid, w[0]))
		if err != nil && !deleted { // else there is another now
			lib, err = elf.Open(fmt.Sprintf("/proc/%d/root%s", pid, line[strings.IndexByte(line, '/'):]))
		}
		if err != nil {
			return nil, err
		}
		defer lib.Close()
		symbols, err := lib.DynamicSymbols()
		if err != nil {
			return nil, err
		}
		out := exported{}
		for _, s := range symbols {
			if strings.HasPrefix(s.Name, "gHotSpotVM") {
				out[s.Name] = base + s.Value
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("no libjvm.so: %w", ErrUnknown)
}

// Tables are where the structures of one JVM have what. They don't change, so they are
// safe for concurrent use.
type Tables struct {
	offsets   map[string]uint64 // by "Type::_field"
	statics   map[string]uint64 // addresses
	sizes     map[string]uint64 // of types
	constants map[string]int64
}

// ReadTables reads all tables that a process's JVM exports. It wraps [ErrUnknown] if it
// has none, os.ErrPermission if its memory may not be read.
func ReadTables(pid int) (*Tables, error) {
	at, err := library(pid)
	if err != nil {
		return nil, err
	}
	m := newMemory(Process(pid))
	t := newTables(m, at)
	if m.err != nil {
		return nil, m.err
	}
	if len(t.offsets) == 0 || len(t.sizes) == 0 {
		return nil, fmt.Errorf("empty tables: %w", ErrUnknown)
	}
	return t, nil
}

// Offset is where in its structure a field is, named "Type::_field"; of several names
// that it had in different JVMs it is the first which this one has. It is below 64 KB.
func (t *Tables) Offset(names ...string) (uint64, bool) {
	for _, n := range names {
		if off, ok := t.offsets[n]; ok && off < chunkSize {
			return off, true
		}
	}
	return 0, false
}

// Static is the address of a static field, named as for [Tables.Offset].
func (t *Tables) Static(names ...string) (uint64, bool) {
	for _, n := range names {
		if at, ok := t.statics[n]; ok && at != 0 {
			return at, true
		}
	}
	return 0, false
}

// Size is the size of a type in bytes, below 64 KB.
func (t *Tables) Size(name string) (uint64, bool) {
	n, ok := t.sizes[name]
	return n, ok && n < chunkSize
}

// Constant is the value of a constant.
func (t *Tables) Constant(name string) (int64, bool) {
	v, ok := t.constants[name]
	return v, ok
}

// newTables reads the tables.
func newTables(m *memory, at exported) *Tables {
	l := &Tables{offsets: map[string]uint64{}, statics: map[string]uint64{}, sizes: map[string]uint64{}, constants: map[string]int64{}}
	at.each(m, "gHotSpotVMStructs", "gHotSpotVMStructEntry", func(entry uint64, value func(string) uint64) bool {
		typ := m.name(m.u64(entry + value("TypeNameOffset")))
		field := typ + "::" + m.name(m.u64(entry+value("FieldNameOffset")))
		if m.u32(entry+value("IsStaticOffset")) != 0 {
			l.statics[field] = m.u64(entry + value("AddressOffset"))
		} else {
			l.offsets[field] = m.u64(entry + value("OffsetOffset"))
		}
		return typ != ""
	})
	at.each(m, "gHotSpotVMTypes", "gHotSpotVMTypeEntry", func(entry uint64, value func(string) uint64) bool {
		typ := m.name(m.u64(entry + value("TypeNameOffset")))
		l.sizes[typ] = m.u64(entry + value("SizeOffset"))
		return typ != ""
	})
	at.each(m, "gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntry", func(entry uint64, value func(string) uint64) bool {
		name := m.name(m.u64(entry + value("NameOffset")))
		l.constants[name] = int64(int32(m.u32(entry + value("ValueOffset"))))
		return name != ""
	})
	at.each(m, "gHotSpotVMLongConstants", "gHotSpotVMLongConstantEntry", func(entry uint64, value func(string) uint64) bool {
		name := m.name(m.u64(entry + value("NameOffset")))
		l.constants[name] = int64(m.u64(entry + value("ValueOffset")))
		return name != ""
	})
	return l
}

// A layout is where those structures have what that lead to methods.
type layout struct {
	*Tables
}

// wanted are the fields that are read, with the names that they had in other versions.
var wanted = [][]string{
	{"ClassLoaderData::_next"},
	{"ClassLoaderData::_klasses"},
	{"Klass::_next_link"},
	{"Klass::_name"},
	{"Klass::_layout_helper"},
	{"InstanceKlass::_methods"},
	{"Array<int>::_length"},
	{"Array<Method*>::_data", "Array<Method*>::_data[0]"},
	{"Method::_constMethod"},
	{"Method::_method_counters"},
	{"ConstMethod::_constants"},
	{"ConstMethod::_name_index"},
	{"ConstMethod::_signature_index"},
	{"Symbol::_length"},
	{"Symbol::_body", "Symbol::_body[0]"},
}

// graphHead is where all class loaders are.
const graphHead = "ClassLoaderDataGraph::_head"

// newLayout reads the tables, and sees that they have what is wanted.
func newLayout(m *memory, at exported) (*layout, error) {
	l := &layout{newTables(m, at)}
	if m.err != nil {
		return nil, m.err
	}
	for _, names := range wanted {
		found := false
		for _, n := range names {
			off, ok := l.offsets[n]
			if ok && off < pageSize && !found {
				l.offsets[names[0]], found = off, true
			}
		}
		if !found {
			return nil, fmt.Errorf("%w: no %s", ErrUnknown, names[0])
		}
	}
	if pool := l.sizes["ConstantPool"]; l.statics[graphHead] == 0 || pool == 0 || pool > pageSize {
		return nil, fmt.Errorf("%w: no %s", ErrUnknown, graphHead)
	}
	return l, nil
}

// each calls f for the entries of a table, until it has had the last one.
func (at exported) each(m *memory, table, entries string, f func(entry uint64, value func(string) uint64) bool) {
	value := func(name string) uint64 { return m.u64(at[entries+name]) }
	stride := value("ArrayStride")
	if at[table] == 0 || stride == 0 || stride > pageSize {
		return
	}
	entry := m.u64(at[table])
	for range mostEntries {
		if !f(entry, value) {
			return
		}
		entry += stride
	}
}
