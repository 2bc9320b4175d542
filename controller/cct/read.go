package cct

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"unicode/utf16"
	"unsafe"

	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// ErrFormat marks memory that is not a data file of this version.
var ErrFormat = errors.New("not a data file of this version")

// ErrGone marks a data file whose pages went away while they were read: the
// target, or somebody else, has truncated it. What was read before stands.
var ErrGone = errors.New("the data file was truncated")

// Read copies the trees out of a mapped data file while the target writes it.
// mem must begin at a multiple of 8, as mappings do.
//
// now is the target's System.nanoTime, taken before the call; with it, a
// thread that is inside has the time since its last boundary charged to the
// method in which it is, so that long invocations show before they end. With
// 0 nothing is charged.
//
// Only the recording that is on (H_EPOCH) is read: trees of earlier ones may
// still be there.
//
// Whatever the target writes, Read ends, touches nothing outside mem, and
// needs memory in proportion to the nodes that H_NODE_LIMIT admits. Links
// that lead nowhere, or to a node already seen, are counted in Snapshot.Bad
// and not followed.
func Read(mem []byte, now int64) (*Snapshot, error) { return ReadWith(mem, Options{Now: now}) }

// Options say more about what is read than is in the file.
type Options struct {
	Now int64 // the target's System.nanoTime, see [Read]
	// Closed is when each part of the recording that has ended did, by its tag as
	// H_TAG had it. What was open then is charged up to there.
	Closed map[int64]int64
	// Samples is what was found at nodes, by their offset in the file.
	Samples map[uint32]Sample
	// InPlace leaves executions of tasks where their threads were, and tells them
	// apart by where they were handed over: as streams of events have them.
	InPlace bool
	// Sample reads the trees of what the probes' cost is measured with, and no
	// others.
	Sample bool
	// Types are what the numbers of nodes stand for that are no methods', by these; nil
	// where nobody counts allocations.
	Types []*Type
	// Metrics are read beside calls, thrown and time; nil for none.
	Metrics *metric.Table
	// Loads are the classes that were loaded at nodes, by their offset in the file.
	Loads map[uint32]*Loads
}

// ReadWith is [Read] with options, and fails as that does.
func ReadWith(mem []byte, o Options) (s *Snapshot, err error) {
	err = reading(mem, func(r *reader) {
		r.Options, r.executors = o, map[*Thread]*Node{}
		s = r.snapshot()
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// reading calls f with the mapped data file, once that looks like one. It fails as [Read] does.
func reading(mem []byte, f func(r *reader)) (err error) {
	if len(mem) < wire.OffNodes {
		return fmt.Errorf("%w: %d bytes, its fixed part alone has %d", ErrFormat, len(mem), wire.OffNodes)
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(mem)))%8 != 0 {
		return errors.New("data file mapped at an address that is no multiple of 8")
	}
	// A mapping may be longer than its file has become. Touching what is
	// missing is a fault, which the runtime turns into a panic on request.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			if _, fault := p.(interface{ Addr() uintptr }); !fault {
				panic(p)
			}
			err = ErrGone
		}
	}()
	r := &reader{mem: mem[:len(mem)&^7]}
	if magic, version := r.word(wire.HMagic), r.half(wire.HVersion); magic != wire.Magic || version != wire.Version {
		return fmt.Errorf("%w: magic %#x, version %d instead of %d", ErrFormat, uint64(magic), version, wire.Version)
	}
	f(r)
	return nil
}

// snapshot reads all trees of the recording.
func (r *reader) snapshot() *Snapshot {
	r.grow()
	r.tag, r.epoch = r.word(wire.HTag), r.half(wire.HEpoch)
	if r.Sample {
		r.epoch = ^r.epoch
	}
	r.follow = r.half(wire.HFollow) != 0
	s := &Snapshot{Metrics: r.Metrics}
	records := min(max(r.word(wire.HNextRecord), 1), wire.Records)
	for rec := int64(1); rec < records; rec++ {
		if t := r.thread(wire.OffRecords + int(rec)<<wire.RecordShift); t != nil {
			s.Threads = append(s.Threads, t)
		}
	}
	s.Overflow = count(r.word(wire.HOverflow))
	s.Uncounted = count(r.word(wire.HUncounted))
	s.Lost = count(r.word(wire.HLost))
	s.Refused = count(r.word(wire.HRefused))
	s.Incomplete = count(r.word(wire.HIncomplete))
	s.Unfollowed = count(r.word(wire.HUnfollowed))
	if r.follow {
		s.Detached = r.attach()
		for _, t := range s.Threads {
			if above := r.executors[t]; above != nil {
				t.Roots = above.Children
			}
		}
		s.Threads = slices.DeleteFunc(s.Threads, func(t *Thread) bool {
			only := r.executors[t] != nil && len(t.Roots) == 0 && t.RootEntries == 0
			if only {
				s.Executors = append(s.Executors, &Thread{ID: t.ID, Name: t.Name, Virtual: t.Virtual})
			}
			return only
		})
		for _, t := range s.Threads {
			computeTotals(t.Roots)
		}
	}
	s.Unthrown = count(r.word(wire.HSideless))
	s.Bad = r.bad
	return s
}

// count is a counter as the target wrote it; damaged ones read as 0.
func count(v int64) int64 { return max(v, 0) }

// A reader is one pass over the data file.
type reader struct {
	Options
	mem   []byte // whole 8-byte words only
	tag   int64  // of the part that is on, 0 for none
	epoch uint32
	limit uint32 // nodes from here on are not there
	seen  []uint64
	bad   int64
	nodes slab
	refs  []*Node // slab from which lists of children are cut

	values    []metric.Values     // slab
	open      map[uint32]struct{} // places of the invocations that the record's thread is in; only with metrics
	follow    bool                // tasks are followed
	executed  []*executed
	executors map[*Thread]*Node // those that have executed tasks, and what their roots are children of
	places    []place           // of nodes, by index; only where tasks are followed
}

// word and half read one word in one piece. The offsets come from wire's
// tables or from indices below limit; the slice expression checks them again.
func (r *reader) word(off int) int64 {
	return atomic.LoadInt64((*int64)(unsafe.Pointer(&r.mem[off&^7])))
}

func (r *reader) half(off int) uint32 {
	return atomic.LoadUint32((*uint32)(unsafe.Pointer(&r.mem[off&^3])))
}

// grow admits the nodes whose pages are allocated by now.
func (r *reader) grow() {
	room := int64(len(r.mem)-wire.OffNodes) >> wire.NodeShift
	limit := min(max(r.word(wire.HNodeLimit), 0), room, 1<<32-1)
	if limit <= int64(r.limit) {
		return
	}
	r.limit = uint32(limit)
	if need := int(limit+63) / 64; need > len(r.seen) {
		seen := make([]uint64, need)
		copy(seen, r.seen)
		r.seen = seen
	}
}

// take says whether the walk may go on to the node at this offset, which is
// once.
func (r *reader) take(off uint32) bool {
	index := index(off)
	if index >= r.limit {
		r.grow() // a record may have taken nodes that were allocated meanwhile
	}
	if index == 0 || index >= r.limit || r.seen[index/64]>>(index%64)&1 != 0 {
		r.bad++
		return false
	}
	r.seen[index/64] |= 1 << (index % 64)
	return true
}

// index numbers the node at an offset in the file; 0, where there is never
// one, if no node can lie there.
func index(off uint32) uint32 {
	if off < wire.OffNodes || off%(1<<wire.NodeShift) != 0 {
		return 0
	}
	return (off - wire.OffNodes) >> wire.NodeShift
}

// thread reads one record and the tree that hangs on it; nil if the record
// was never inside the subgraph.
func (r *reader) thread(rec int) *Thread {
	if r.half(rec+wire.REpoch) != r.epoch {
		return nil
	}
	top, entries := r.half(rec+wire.RTop), r.word(rec+wire.REntries)
	if top == 0 && entries <= 0 {
		return nil
	}
	flags := r.half(rec + wire.RFlags)
	t := &Thread{
		ID:          r.word(rec + wire.RTid),
		Name:        r.name(rec),
		Virtual:     flags&wire.RVirtual != 0,
		Shared:      flags&wire.RShared != 0,
		RootReturns: count(r.word(rec + wire.RReturns)),
	}
	// The thread charges self, then moves R_LAST. If R_LAST is the same before
	// and after the walk, what lies between it and now is in no node; if it has
	// moved, it has moved past now, or to the last tick, and nothing is missing. A
	// thread that is just between the two has that time twice, or on arm64 not at
	// all, in this snapshot (docs/memory-model.md).
	last, cursor, carry := r.word(rec+wire.RLast), r.word(rec+wire.RCursor), r.word(rec+wire.RCarry)
	var inside, above *Node
	before := len(r.executed)
	r.path(cursor)
	if top != 0 && r.take(top) {
		above, inside = r.tree(top, cursor)
		t.Roots = above.Children
		if len(r.executed) > before {
			r.executors[t] = above
		}
		for _, e := range r.executed[before:] {
			task := e.above.Async()
			for _, c := range e.above.Children {
				if task != nil {
					c.Details().Async = task
				}
				c.Self += e.above.Self
			}
		}
	}
	t.Suspended = count(r.word(rec + wire.RSuspended))
	t.Open = cursor != 0
	still := r.word(rec+wire.RLast) == last && r.word(rec+wire.RCursor) == cursor
	now := r.Now
	if tag := r.word(rec+wire.RKey) >> wire.IndexBits << wire.IndexBits; tag != r.tag {
		now = r.Closed[tag]
	}
	if elapsed := now - last; now > 0 && last > 0 && elapsed > 0 && still && inside != nil {
		if r.half(rec+wire.RBusy) != 0 {
			t.Suspended += elapsed // it waits for the profiler
		} else {
			inside.Self += elapsed
		}
	}
	// What root invocations had left over waits for a tick that is noticed.
	if carry > 0 && r.word(rec+wire.RCarry) == carry {
		outermost := slices.Clone(t.Roots)
		for _, e := range r.executed[before:] { // tasks that the thread began with
			if e.in == above {
				outermost = append(outermost, e.above.Children...)
			}
		}
		if at := cmp.Or(inside, Busiest(outermost)); at != nil {
			at.Self += carry
		}
	}
	// Read after the returns, so that there are never more of those.
	t.RootEntries = max(count(r.word(rec+wire.REntries)), t.RootReturns)
	computeTotals(t.Roots)
	return t
}

// Busiest is the node with the most self time, of several the one with the lowest
// [Node.Key]; nil if there is none.
func Busiest(nodes []*Node) (most *Node) {
	for _, n := range nodes {
		if most == nil || n.Self > most.Self || n.Self == most.Self && n.Key() < most.Key() {
			most = n
		}
	}
	return most
}

// tree reads what hangs below the node at top, and also returns the node at
// cursor, if that is among it.
func (r *reader) tree(top uint32, cursor int64) (above, inside *Node) {
	type item struct {
		off  int
		node *Node
		in   int32 // the execution that it belongs to, from 1; 0 a root call
	}
	above = &Node{}
	stack := []item{{int(top), above, 0}}
	var found []*Node
	for len(stack) > 0 {
		it := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		found = found[:0]
		for next := r.half(it.off + wire.NChild); next != 0 && r.take(next); {
			off := int(next)
			method := r.half(off + wire.NMethod)
			if int32(method) >= 0 {
				method &^= wire.MethodFold
			}
			switch {
			case method&^wire.MethodBack < wire.MaxMethods && method&wire.MethodBack != 0:
				it.node.Details().Back = &Back{int32(method &^ wire.MethodBack), count(r.word(off + wire.NCalls)), it.node.Back()}
			case r.typeOf(method) != nil:
				r.allocated(it.node, off, r.typeOf(method))
			case method < wire.MaxMethods, int32(method) == Unplaced:
				n := r.nodes.cut()
				n.Method = int32(method)
				n.Calls = count(r.word(off + wire.NCalls))
				n.Self = count(r.word(off + wire.NSelf))
				flags := r.half(off + wire.NFlags)
				r.side(n, next, flags)
				n.Incomplete, n.Folded = flags&wire.NIncomplete != 0, flags&wire.NFolded != 0
				if k, ok := r.Samples[next]; ok {
					n.Details().Sample = &k
				}
				n.Loaded(r.Loads[next])
				found = append(found, n)
				stack = append(stack, item{off, n, it.in})
				r.put(next, n, it.in)
				if int64(next) == cursor {
					inside = n
				}
			case int32(method) == wire.MethodHandover && r.follow:
				e := r.handover(off, it.node)
				stack = append(stack, item{off, &e.above, int32(len(r.executed))})
			default:
				r.bad++
			}
			next = r.half(off + wire.NSibling)
		}
		it.node.Children = r.list(found)
	}
	return above, inside
}

func (r *reader) list(nodes []*Node) []*Node {
	k := len(nodes)
	if k == 0 {
		return nil
	}
	if len(r.refs) < k {
		r.refs = make([]*Node, max(k, 1<<10))
	}
	l := r.refs[:k:k]
	r.refs = r.refs[k:]
	copy(l, nodes)
	return l
}

// name reads a thread's name, two UTF-16 units at a time.
func (r *reader) name(rec int) string {
	length := min(r.half(rec+wire.RNameLength), wire.NameMax)
	units := make([]uint16, 0, length+1)
	for i := uint32(0); i < length; i += 2 {
		var pair [4]byte
		binary.NativeEndian.PutUint32(pair[:], r.half(rec+wire.RName+int(2*i)))
		units = append(units, binary.NativeEndian.Uint16(pair[:2]), binary.NativeEndian.Uint16(pair[2:]))
	}
	return string(utf16.Decode(units[:length]))
}
