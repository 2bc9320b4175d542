package vmstructs

import (
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A fake is a memory that has some bytes from fakeBase on, and nothing elsewhere.
type fake struct {
	data  []byte
	reads int
}

const fakeBase = 1 << 20

func (f *fake) Read(p []byte, at uint64) error {
	f.reads++
	if at < fakeBase || at+uint64(len(p)) > fakeBase+uint64(len(f.data)) {
		return unix.EFAULT
	}
	copy(p, f.data[at-fakeBase:])
	return nil
}

// image is a memory with tables that have all fields but one, each at an offset, and
// then what the fuzzer makes of the structures.
func image(structures []byte, lacking string) (*fake, exported) {
	f := &fake{data: make([]byte, 4*chunkSize)}
	at, next := exported{}, uint64(0)
	put := func(v uint64) uint64 {
		binary.NativeEndian.PutUint64(f.data[next:], v)
		next += 8
		return fakeBase + next - 8
	}
	text := func(s string) uint64 {
		copy(f.data[next:], s)
		next += uint64(len(s)/8+1) * 8
		return fakeBase + next - uint64(len(s)/8+1)*8
	}
	offsets := []string{"TypeNameOffset", "FieldNameOffset", "IsStaticOffset", "OffsetOffset", "AddressOffset"}
	for i, n := range offsets {
		at["gHotSpotVMStructEntry"+n] = put(uint64(8 * i))
	}
	at["gHotSpotVMStructEntryArrayStride"] = put(40)
	at["gHotSpotVMTypeEntryTypeNameOffset"], at["gHotSpotVMTypeEntrySizeOffset"], at["gHotSpotVMTypeEntryArrayStride"] = put(0), put(8), put(16)
	head := put(fakeBase + 2*chunkSize)
	var rows [][5]uint64
	for i, names := range wanted {
		typ, field, _ := strings.Cut(names[0], "::")
		if names[0] == lacking {
			field = "_another"
		}
		rows = append(rows, [5]uint64{text(typ), text(field), 0, uint64(8 * (i % 5)), 0})
	}
	graph, field, _ := strings.Cut(graphHead, "::")
	if lacking == graphHead {
		field = "_another"
	}
	rows = append(rows, [5]uint64{text(graph), text(field), 1, 0, head}, [5]uint64{})
	at["gHotSpotVMStructs"] = put(0)
	binary.NativeEndian.PutUint64(f.data[at["gHotSpotVMStructs"]-fakeBase:], fakeBase+next)
	for _, r := range rows {
		for _, v := range r {
			put(v)
		}
	}
	pool := text("ConstantPool")
	at["gHotSpotVMTypes"] = put(0)
	binary.NativeEndian.PutUint64(f.data[at["gHotSpotVMTypes"]-fakeBase:], fakeBase+next)
	put(pool)
	put(64)
	put(0)
	put(0)
	// Every eight bytes of the structures are a pointer to some of them, or a number.
	for i := 0; i+1 < len(structures) && 2*chunkSize+8*i+8 <= len(f.data); i++ {
		v := uint64(structures[i])
		if structures[i]&1 == 0 {
			v = fakeBase + 2*chunkSize + uint64(structures[i+1])*8
		}
		binary.NativeEndian.PutUint64(f.data[2*chunkSize+8*i:], v)
	}
	return f, at
}

// FuzzGather walks structures that make no sense: it ends, and what it read and found is
// bounded by what there is.
func FuzzGather(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0})
	f.Add([]byte{0, 8, 1, 16, 0, 3, 4, 200, 1, 7, 9, 11, 0, 0, 0, 2})
	f.Fuzz(func(t *testing.T, structures []byte) {
		if len(structures) > 4096 {
			t.Skip()
		}
		mem, at := image(structures, "")
		v, err := gather(newMemory(mem), at)
		if err != nil {
			t.Fatal(err)
		}
		if mem.reads > 10000 || v.Len() > mostClasses {
			t.Errorf("%d reads, %d methods", mem.reads, v.Len())
		}
	})
}

// FuzzObserver does the same with the counters of methods, and with what code has inlined.
func FuzzObserver(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0})
	f.Add([]byte{0, 8, 1, 16, 0, 3, 4, 200, 1, 7, 9, 11, 0, 0, 0, 2})
	f.Fuzz(func(t *testing.T, structures []byte) {
		if len(structures) > 4096 {
			t.Skip()
		}
		mem, at := image(structures, "")
		l, err := newLayout(newMemory(mem), at)
		if err != nil {
			t.Fatal(err)
		}
		o := newObserver(mem, l, fields{
			code: 32, counters: 8, profile: 16, calls: 8, profiled: 24, level: 16, osrHead: 24, osrLink: 8, nmMethod: 16, methodSize: 40, codeSize: 16,
			metadata: func(m *memory, n uint64) (uint64, uint64) { return m.u64(n + 8), m.u64(n + 24) },
		})
		for range 2 {
			if err := o.Look(); err != nil && !errors.Is(err, ErrUnknown) {
				t.Fatal(err)
			}
			for _, x := range o.methods {
				o.Watch([]Key{x.entry.key})
			}
			if _, err := o.Woken(); err != nil {
				t.Fatal(err)
			}
			o.Rest()
		}
		if mem.reads > 200_000 || len(o.methods) > mostClasses {
			t.Errorf("%d reads, %d methods", mem.reads, len(o.methods))
		}
	})
}

// TestLayoutLacks takes tables that have everything, and none that lacks something.
func TestLayoutLacks(t *testing.T) {
	mem, at := image(nil, "")
	if _, err := newLayout(newMemory(mem), at); err != nil {
		t.Error(err)
	}
	for _, names := range append([][]string{{graphHead}}, wanted...) {
		mem, at := image(nil, names[0])
		if _, err := newLayout(newMemory(mem), at); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), names[0]) {
			t.Errorf("without %s: %v", names[0], err)
		}
	}
}

// A forbidden memory may not be read.
type forbidden struct{}

func (forbidden) Read([]byte, uint64) error { return unix.EPERM }

// TestForbidden says that it may not read.
func TestForbidden(t *testing.T) {
	_, at := image(nil, "")
	if _, err := gather(newMemory(forbidden{}), at); !errors.Is(err, os.ErrPermission) {
		t.Errorf("error %v", err)
	}
}

// TestMemoryBound keeps so many chunks and no more, and gives up after so many reads.
func TestMemoryBound(t *testing.T) {
	m := newMemory(&fake{data: make([]byte, chunkSize)})
	for i := range uint64(mostChunks) {
		m.bytes((i+1)*chunkSize, 8)
		if len(m.chunks) > keptChunks {
			t.Fatalf("%d chunks are kept", len(m.chunks))
		}
	}
	if m.err != nil {
		t.Fatal(m.err)
	}
	if m.bytes(fakeBase*fakeBase, 8) != nil || !errors.Is(m.err, errMemory) {
		t.Errorf("error %v", m.err)
	}
}

// FuzzClasses does the same with the list of classes, their loaders and methods.
func FuzzClasses(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0}, false)
	f.Add([]byte{0, 8, 1, 16, 0, 3, 4, 200, 1, 7, 9, 11, 0, 0, 0, 2}, true)
	f.Fuzz(func(t *testing.T, structures []byte, narrow bool) {
		if len(structures) > 4096 {
			t.Skip()
		}
		mem, at := image(structures, "")
		m := newMemory(mem)
		l, err := newLayout(m, at)
		if err != nil {
			t.Fatal(err)
		}
		m.looks = mostLooks - 1<<20 // the rest would take seconds
		c := &classReader{layout: l, m: m, loaders: map[uint64]Loader{}, narrow: narrow, base: fakeBase, loader: 8, class: 16, access: 24, code: 32}
		out, err := c.all()
		if err != nil && !errors.Is(err, ErrUnknown) && !errors.Is(err, errMemory) {
			t.Fatal(err)
		}
		methods := 0
		for _, c := range out {
			methods += len(c.Methods)
		}
		if mem.reads > 200_000 || len(out) > mostClasses {
			t.Errorf("%d reads, %d classes, %d methods", mem.reads, len(out), methods)
		}
	})
}

// TestEndless: a reading ends, with an error, where lists lead back to themselves, before it has filled the memory.
func TestEndless(t *testing.T) {
	m := newMemory(&fake{})
	m.looks = mostLooks - 1
	m.chunk(1)
	if m.err != nil {
		t.Fatalf("too early: %v", m.err)
	}
	if m.chunk(1); !errors.Is(m.err, errMemory) {
		t.Errorf("error %v", m.err)
	}
	m = newMemory(&fake{})
	m.keep(mostKept)
	if m.err != nil {
		t.Fatalf("too early: %v", m.err)
	}
	if m.keep(1); !errors.Is(m.err, errMemory) {
		t.Errorf("error %v", m.err)
	}
}
