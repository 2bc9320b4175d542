package cct_test

import (
	"sync/atomic"
	"unicode/utf16"
	"unsafe"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// An image is a data file made by hand, as a target would have written it.
type image struct {
	mem      []byte
	nextNode uint32
	sides    uint32 // from here on nodes' sides lie, so that nodes have the numbers in which they are written
	nextRec  int
}

func newImage(nodes int) *image {
	words := make([]uint64, (wire.OffNodes+nodes<<wire.NodeShift)/8)
	m := &image{
		mem:      unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8),
		nextNode: 1, nextRec: 1, sides: uint32(nodes),
	}
	m.put64(wire.HMagic, wire.Magic)
	m.put32(wire.HVersion, wire.Version)
	m.put64(wire.HNodeLimit, int64(nodes))
	m.put64(wire.HNodeMax, int64(nodes))
	m.put64(wire.HNextNode, 1)
	m.put64(wire.HNextRecord, 1)
	return m
}

func (m *image) put64(off int, v int64) {
	atomic.StoreInt64((*int64)(unsafe.Pointer(&m.mem[off])), v)
}

func (m *image) put32(off int, v uint32) {
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&m.mem[off])), v)
}

func ptr(m *image, off int) unsafe.Pointer { return unsafe.Pointer(&m.mem[off]) }

func offRecord(rec int) int    { return wire.OffRecords + rec<<wire.RecordShift }
func offNode(index uint32) int { return wire.OffNodes + int(index)<<wire.NodeShift }

// tree writes a tree in the form that probes leave and returns its offset. The
// new node becomes its parent's first child.
func (m *image) tree(rec int, parent uint32, n *cct.Node) uint32 {
	top := m.node(rec, parent, n)
	type item struct {
		off  uint32
		node *cct.Node
	}
	stack := []item{{top, n}}
	for len(stack) > 0 {
		it := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for i := len(it.node.Children) - 1; i >= 0; i-- {
			c := it.node.Children[i]
			stack = append(stack, item{m.node(rec, it.off, c), c})
		}
	}
	return top
}

func (m *image) node(rec int, parent uint32, n *cct.Node) uint32 {
	index := m.nextNode
	m.nextNode++
	off := offNode(index)
	m.put32(off+wire.NMethod, uint32(n.Method))
	m.put32(off+wire.NParent, parent)
	m.put32(off+wire.NRecord, uint32(offRecord(rec)))
	m.put64(off+wire.NCalls, n.Calls)
	if n.Method == wire.MethodHandover {
		m.put64(off+wire.NCount, n.Thrown) // of the longest wait
	} else if n.Thrown != 0 {
		m.sides -= 2
		side := offNode(m.sides)
		m.put64(side+wire.XThrown, n.Thrown)
		m.put32(off+wire.NFlags, uint32(side))
	}
	m.put64(off+wire.NSelf, n.Self)
	if n.Incomplete {
		m.put32(off+wire.NFlags, *(*uint32)(ptr(m, off+wire.NFlags))|wire.NIncomplete)
	}
	if parent != 0 {
		head := *(*uint32)(unsafe.Pointer(&m.mem[int(parent)+wire.NChild]))
		m.put32(off+wire.NSibling, head)
		m.put32(int(parent)+wire.NChild, uint32(off))
	}
	m.put64(wire.HNextNode, int64(m.nextNode))
	return uint32(off)
}

// thread writes a record with its tree.
func (m *image) thread(t *cct.Thread) (rec int) {
	rec = m.nextRec
	m.nextRec++
	off := offRecord(rec)
	m.put64(off+wire.RTid, t.ID)
	m.put64(off+wire.REntries, t.RootEntries)
	m.put64(off+wire.RReturns, t.RootReturns)
	m.put64(off+wire.RSuspended, t.Suspended)
	flags := uint32(0)
	if t.Virtual {
		flags |= wire.RVirtual
	}
	if t.Shared {
		flags |= wire.RShared
	}
	m.put32(off+wire.RFlags, flags)
	name := utf16.Encode([]rune(t.Name))
	m.put32(off+wire.RNameLength, uint32(len(name)))
	for i, u := range name[:min(len(name), wire.NameMax)] {
		*(*uint16)(unsafe.Pointer(&m.mem[off+wire.RName+2*i])) = u
	}
	top := m.tree(rec, 0, &cct.Node{Method: -1, Children: t.Roots})
	m.put32(off+wire.RTop, top)
	m.put64(wire.HNextRecord, int64(m.nextRec))
	return rec
}
