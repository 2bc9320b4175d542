package wire_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// TestLayout checks what would corrupt a data file: words that overlap within
// a structure, or reach beyond it, and areas that overlap.
func TestLayout(t *testing.T) {
	for _, s := range []struct {
		prefix string
		size   int64
	}{
		{"H_", wire.OffSlots},
		{"S_", 1 << wire.SlotShift},
		{"R_", 1 << wire.RecordShift},
		{"B_", wire.BoxHeader},
		{"N_", 1 << wire.NodeShift},
		{"E_", wire.RingHeader},
		{"K_", wire.TrackNodes << wire.NodeShift},
	} {
		used := map[int64]string{}
		for _, c := range slices.Concat(wire.Layout, wire.Events, wire.RootTimes, wire.Survivors) {
			width := int64(8)
			switch {
			case !strings.HasPrefix(c.Name, s.prefix) || strings.HasPrefix(c.Doc, "flag"):
				continue
			case strings.HasPrefix(c.Doc, "u32"), strings.HasPrefix(c.Doc, "i32"):
				width = 4
			case strings.HasPrefix(c.Doc, "i64[6]"):
				width = 8 * wire.RingSizes
			case strings.HasPrefix(c.Doc, "u16[]"):
				width = 2 * wire.NameMax
			}
			if c.Value%min(width, 8) != 0 && !strings.HasPrefix(c.Doc, "u16[]") {
				t.Errorf("%s at %d is not aligned", c.Name, c.Value)
			}
			for i := c.Value; i < c.Value+width; i++ {
				if other := used[i]; other != "" {
					t.Errorf("%s and %s overlap at %d", c.Name, other, i)
					break
				}
				used[i] = c.Name
			}
			if c.Value+width > s.size {
				t.Errorf("%s ends at %d, beyond %d", c.Name, c.Value+width, s.size)
			}
		}
		if len(used) == 0 {
			t.Errorf("no word begins with %s", s.prefix)
		}
	}
	areas := []int64{0, wire.OffSlots, wire.OffModes, wire.OffRecords, wire.OffBoxes, wire.OffNodes}
	if !slices.IsSorted(areas) {
		t.Errorf("areas %v", areas)
	}
}

// TestMessages checks that no number is given twice.
func TestMessages(t *testing.T) {
	seen := map[uint32]string{}
	for _, m := range wire.Messages {
		if other := seen[m.Type]; other != "" {
			t.Errorf("%s and %s are both %d", m.Name, other, m.Type)
		}
		seen[m.Type] = m.Name
	}
}

func TestCodec(t *testing.T) {
	var w wire.Writer
	w.U8(7)
	w.U32(1 << 31)
	w.U64(1 << 63)
	w.Str("pkg/Klasse\xc0\x80")
	w.Block([]byte{1, 2, 3})
	r := wire.NewReader(w.Bytes())
	if r.U8() != 7 || r.U32() != 1<<31 || r.U64() != 1<<63 || r.Str() != "pkg/Klasse\xc0\x80" || !slices.Equal(r.Bytes(), []byte{1, 2, 3}) || r.Err() != nil {
		t.Errorf("read back differs: %v", r.Err())
	}
	for n := range w.Bytes() {
		r := wire.NewReader(w.Bytes()[:n])
		r.U8()
		r.U32()
		r.U64()
		r.Str()
		r.Bytes()
		if !errors.Is(r.Err(), wire.ErrTruncated) {
			t.Errorf("%d bytes: %v", n, r.Err())
		}
	}
	r = wire.NewReader([]byte{0xff, 0xff, 0xff, 0xff, 1})
	if n := r.Count(4); n != 0 || r.Err() == nil {
		t.Errorf("%d entries in one byte: %v", n, r.Err())
	}
}

// FuzzReader reads arbitrary bytes as every kind of field.
func FuzzReader(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 2, 0, 1, 'x'}, []byte{0, 1, 2, 3, 4, 5})
	f.Fuzz(func(t *testing.T, msg, fields []byte) {
		r := wire.NewReader(msg)
		total := 0
		for _, k := range fields {
			switch k % 6 {
			case 0:
				r.U8()
			case 1:
				r.U32()
			case 2:
				r.U64()
			case 3:
				total += len(r.Str())
			case 4:
				total += len(r.Bytes())
			case 5:
				total += r.Count(1)
			}
		}
		if total > (len(fields)+1)*len(msg) {
			t.Errorf("%d bytes yield %d", len(msg), total)
		}
	})
}
