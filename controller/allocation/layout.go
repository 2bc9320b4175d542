package allocation

import (
	"math/bits"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/hotswap/classfile"
)

// A Layout is how a JVM lays arrays out (arrayOop.hpp), in bytes.
type Layout struct {
	header    int64 // mark, class and length
	align     int64 // of the elements of all types; 0: only of long and double
	reference int64
	object    int64 // alignment of objects
}

// Usual is the layout of 64-bit JVMs with heaps below 32 GB.
var Usual = Layout{header: 16, align: 8, reference: 4, object: 8}

// Flags are the flags that say how a JVM lays arrays out.
var Flags = []string{"UseCompressedOops", "UseCompressedClassPointers", "UseCompactObjectHeaders", "ObjectAlignmentInBytes"}

// LayoutOf is the layout by values of [Flags] of a JVM of that version. false: they do not say.
func LayoutOf(flags map[string]int64, major int) (Layout, bool) {
	if flags["ObjectAlignmentInBytes"] == 0 {
		return Layout{}, false
	}
	at := Layout{header: 20, align: 8, reference: 8, object: flags["ObjectAlignmentInBytes"]}
	if flags["UseCompressedClassPointers"] != 0 {
		at.header = 16
	}
	if flags["UseCompactObjectHeaders"] != 0 {
		at.header = 12
	}
	if flags["UseCompressedOops"] != 0 {
		at.reference = 4
	}
	if major >= 23 { // JDK-8139457
		at.align = 0
	}
	return at, true
}

// Shape is what the probe needs to know of an array (class Allocated in the target).
func (a Layout) Shape(desc string) int32 {
	size := a.size(desc[1:])
	align := max(a.align, size&8, 1)
	header := (a.header + align - 1) &^ (align - 1)
	log := func(n int64) int32 { return int32(bits.TrailingZeros64(uint64(max(n, 1)))) }
	return int32(header) | log(size)<<8 | log(a.object)<<16
}

// size is that of a field or element of a type, by its descriptor.
func (a Layout) size(desc string) int64 {
	switch desc[0] {
	case 'Z', 'B':
		return 1
	case 'C', 'S':
		return 2
	case 'I', 'F':
		return 4
	case 'J', 'D':
		return 8
	}
	return a.reference
}

// instance is the size of an object whose fields have these descriptors, of a
// class whose superclass is Object. HotSpot puts the largest fields first, and small
// ones into what that leaves behind the header.
func (a Layout) instance(descs string) int64 {
	header := a.header - 4
	if a.header == 20 {
		header = 16
	}
	var small, large int64
	params, _, err := classfile.Params("("+descs+")V", nil)
	if err != nil {
		return cct.NotKnown
	}
	for _, d := range params {
		switch size := a.size(d); size {
		case 8:
			large += 8
		default:
			small += size
		}
	}
	size := max(header+small+large, (header+7)&^7+large)
	return (size + a.object - 1) &^ (a.object - 1)
}
