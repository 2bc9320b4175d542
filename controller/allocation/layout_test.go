package allocation

import "testing"

// TestLayout lays arrays and objects out as HotSpot does, by its flags.
func TestLayout(t *testing.T) {
	const compressed, classes, compact = "UseCompressedOops", "UseCompressedClassPointers", "UseCompactObjectHeaders"
	for _, c := range []struct {
		name                 string
		flags                []string
		major                int
		bytes, longs, points int64 // from where on the elements of byte[], long[] and Object[] lie
		pair                 int64 // an object of two int
	}{
		{"usual", []string{compressed, classes}, 17, 16, 16, 16, 24},
		{"large heap", []string{classes}, 17, 16, 16, 16, 24},
		{"no compressed classes", nil, 17, 24, 24, 24, 24},
		{"compact headers", []string{compressed, classes, compact}, 25, 12, 16, 12, 16},
	} {
		flags := map[string]int64{"ObjectAlignmentInBytes": 8}
		for _, f := range c.flags {
			flags[f] = 1
		}
		at, ok := LayoutOf(flags, c.major)
		if !ok {
			t.Fatalf("%s: no layout", c.name)
		}
		for desc, want := range map[string]int64{"[B": c.bytes, "[J": c.longs, "[Ljava/lang/Object;": c.points} {
			if got := int64(at.Shape(desc) & 0xff); got != want {
				t.Errorf("%s: elements of %s begin at %d, want %d", c.name, desc, got, want)
			}
		}
		if got := at.instance("II"); got != c.pair {
			t.Errorf("%s: an object of two int has %d bytes, want %d", c.name, got, c.pair)
		}
	}
	if _, ok := LayoutOf(map[string]int64{}, 17); ok {
		t.Error("flags that say nothing have a layout")
	}
}

// TestNone: the table of a recording that counts no allocations has nothing, and takes what comes late for the one before.
func TestNone(t *testing.T) {
	var none *Table
	none.NoSizes()
	if n := none.Sized(map[string]int64{"a/B": 16}); n != 0 || len(none.Types())+len(none.Unsized())+len(none.Sizes()) != 0 {
		t.Errorf("%d types have sizes: %v", n, none.Types())
	}
}
