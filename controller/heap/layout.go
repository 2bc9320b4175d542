package heap

import "github.com/rivulet-profiler/rivulet/controller/hprof"

// A Layout is how the JVM laid its objects out. A dump doesn't say it: it writes all
// references in the size of an identifier and leaves headers and padding out. But it
// has addresses, and no object is larger than the distance to its neighbour. The widest
// layout that contradicts no distance is the right one in a heap that is full enough
// to have neighbours side by side.
type Layout struct {
	Reference int `json:"reference_bytes"` // in a field or an element
	Header    int `json:"header_bytes"`    // of an object
	Array     int `json:"array_bytes"`     // header of an array, its length included
}

// layouts are HotSpot's, the widest first. Array headers: JDK-8139457 (JDK 23) lets
// elements begin at byte 20 or 12 where they began at 24 or 16.
var layouts = []Layout{
	{8, 16, 24},
	{8, 16, 20}, // no compressed class pointers
	{8, 12, 16}, // no compressed oops: heaps of 32 GB and more, ZGC
	{8, 8, 12},
	{4, 16, 24},
	{4, 16, 20},
	{4, 12, 16}, // the usual one
	{4, 8, 12},  // compact object headers, JEP 450; 32-bit JVMs
}

// arrayBytes is the size of an array.
func (l Layout) arrayBytes(length int64, elem hprof.Type) int64 {
	size := int64(elem.Size(l.Reference))
	head := int64(l.Array)
	if size == 8 {
		head = align(head)
	}
	return align(head + length*size)
}

// instanceBytes is the size of an instance, without what padding of fields may add.
func (l Layout) instanceBytes(c *class) int64 {
	n := int64(l.Header + len(c.refs)*l.Reference)
	if c.weak >= 0 {
		n += int64(l.Reference)
	}
	return align(n + int64(c.prims[0]+2*c.prims[1]+4*c.prims[2]+8*c.prims[3]))
}

func align(n int64) int64 { return (n + 7) &^ 7 }

// evidence is what one core has seen.
type evidence struct {
	classes []gaps
	arrays  int64 // that have a neighbour
	tooWide [8]int64
	boxes   map[uint32]*boxCount
}

// gaps are the distances of a class's instances to their neighbours.
type gaps struct{ instances, least, leastCount uint64 }

// A boxCount counts boxed values of a class.
type boxCount struct{ n, cached int64 }

func newEvidence(classes int) *evidence {
	return &evidence{classes: make([]gaps, classes), boxes: map[uint32]*boxCount{}}
}

func (g *gaps) add(least, count uint64) {
	switch {
	case least == 0 || count == 0:
	case g.least == 0 || least < g.least:
		g.least, g.leastCount = least, count
	case least == g.least:
		g.leastCount += count
	}
}

func (e *evidence) instance(n uint32, gap uint64) {
	g := &e.classes[n]
	g.instances++
	g.add(gap, 1)
}

func (e *evidence) array(gap uint64, length int64, elem hprof.Type) {
	if gap == 0 {
		return
	}
	e.arrays++
	for i, l := range layouts {
		if l.arrayBytes(length, elem) > int64(gap) {
			e.tooWide[i]++
		}
	}
}

// box counts a boxed value. cached are those that valueOf would have shared.
func (e *evidence) box(n uint32, v int64, t hprof.Type) {
	b := e.boxes[n]
	if b == nil {
		b = &boxCount{}
		e.boxes[n] = b
	}
	b.n++
	switch t {
	case hprof.Float, hprof.Double:
	case hprof.Char:
		if v <= 127 {
			b.cached++
		}
	default:
		if v >= -128 && v <= 127 {
			b.cached++
		}
	}
}

func (e *evidence) merge(o *evidence) {
	for i := range e.classes {
		e.classes[i].instances += o.classes[i].instances
		e.classes[i].add(o.classes[i].least, o.classes[i].leastCount)
	}
	e.arrays += o.arrays
	for i := range e.tooWide {
		e.tooWide[i] += o.tooWide[i]
	}
	for n, b := range o.boxes {
		if have := e.boxes[n]; have != nil {
			have.n += b.n
			have.cached += b.cached
		} else {
			e.boxes[n] = b
		}
	}
}

// layout chooses the widest layout that next to nothing contradicts.
func (e *evidence) layout(t *classTable, idSize int) Layout {
	const few = 1000 // one in so many may be a damaged one
	for i, l := range layouts {
		if l.Reference > idSize || idSize == 4 && l.Header > 8 || e.tooWide[i]*few > e.arrays {
			continue
		}
		against, all := uint64(0), uint64(0)
		for n, c := range t.all {
			if g := e.classes[n]; g.least != 0 && !c.isArray() {
				all += g.instances
				if l.instanceBytes(c) > int64(g.least) {
					against += g.instances
				}
			}
		}
		if against*few <= all {
			return l
		}
	}
	return layouts[len(layouts)-1]
}

const (
	// A class's padding is believed if so many instances have a neighbour at the least
	// distance, and these are one in so many.
	padInstances = 16
	padShare     = 4
	padMost      = 16 // bytes
)

// sizes works out all shallow sizes.
func (g *graph) sizes(l Layout, e *evidence, t *classTable) {
	for n, c := range t.all {
		size := l.instanceBytes(c)
		gap := e.classes[n]
		if least := int64(gap.least); gap.leastCount >= padInstances && gap.leastCount*padShare >= gap.instances && least > size && least <= size+padMost {
			size = least
		}
		c.units = uint32(size / 8)
	}
	mirror := int64(t.all[t.class].units) * 8
	units, classes := g.units.u32(), g.class.u32()
	for o := range units {
		c := t.all[classes[o]]
		switch {
		case c.isArray():
			units[o] = uint32(min(l.arrayBytes(int64(units[o]), c.elem)/8, 1<<32-1))
		case classes[o] == t.class && units[o] != 0:
			units[o] = uint32(align(mirror+int64(units[o])) / 8)
		default:
			units[o] = c.units
		}
	}
}
