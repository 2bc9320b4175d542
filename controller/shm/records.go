package shm

import "github.com/rivulet-profiler/rivulet/jvmside/wire"

// cutOff says in each record with a root invocation that an earlier part's end cut off
// when that was: whoever has the record next charges it up to there. A thread that
// comes in later than it looks was stopped in between, and finds the gate shut.
func (d *File) cutOff() {
	if len(d.closed) == 0 {
		return
	}
	n := min(d.load(wire.HNextRecord), wire.Records)
	for i := int64(1); i < n; i++ {
		r := wire.OffRecords + i<<wire.RecordShift
		if d.load(r+wire.RCursor) == 0 {
			continue
		}
		if at, ok := d.closed[d.load(r+wire.RKey)>>wire.IndexBits<<wire.IndexBits]; ok {
			d.store(r+wire.RClosed, at)
		}
	}
}

// Roots sums the root invocations of the recording that have begun and ended.
func (d *File) Roots() (entries, returns int64) {
	n := min(d.load(wire.HNextRecord), wire.Records)
	for i := int64(1); i < n; i++ {
		r := int64(wire.OffRecords) + i<<wire.RecordShift
		if d.load32(r+wire.REpoch) != d.load32(wire.HEpoch) {
			continue
		}
		returns += d.load(r + wire.RReturns)
		entries += d.load(r + wire.REntries)
	}
	return entries, returns
}

// An Inside is a thread that is in a root invocation. Thread is its number in
// the part of the recording that is on, Cursor the index of the node where it
// is. For a virtual thread, Thread is its carrier's.
type Inside struct {
	Thread  int64
	Cursor  uint32
	Virtual bool

	record int64
	d      *File
}

// Began is when the root invocation did that the thread is in, or was in last, on the target's
// nanoTime.
func (i Inside) Began() int64 { return i.d.load(i.record + wire.RBegan) }

// Still tells whether the thread has not left the subgraph since.
func (i Inside) Still() bool { return i.d.load(i.record+wire.RCursor) != 0 }

// EachInside calls f for each thread that is in a root invocation of the part
// that is on. Threads go on meanwhile: one may have left when f sees it.
func (d *File) EachInside(f func(Inside)) {
	tag, epoch := d.load(wire.HTag), d.load32(wire.HEpoch)
	if tag == 0 {
		return
	}
	n := min(d.load(wire.HNextRecord), wire.Records)
	for i := int64(1); i < n; i++ {
		r := int64(wire.OffRecords) + i<<wire.RecordShift
		cursor, key := d.load(r+wire.RCursor), d.load(r+wire.RKey)
		if cursor == 0 || (key^tag)>>wire.IndexBits != 0 || d.load32(r+wire.REpoch) != epoch {
			continue
		}
		f(Inside{
			Thread: key & (1<<wire.IndexBits - 1), Cursor: uint32(cursor),
			Virtual: d.load32(r+wire.RFlags)&wire.RVirtual != 0,
			record:  r, d: d,
		})
	}
}

// MethodAt is the method of the node at an offset of the file, as the target has it; -1 if no node can lie there.
func (d *File) MethodAt(node uint32) int32 {
	if i := (int64(node) - wire.OffNodes) >> wire.NodeShift; int64(node) < wire.OffNodes || i >= min(d.load(wire.HNodeLimit), d.nodes()) {
		return -1
	}
	return int32(d.load32(int64(node)+wire.NMethod) &^ wire.MethodFold)
}

// SuspendedAt is how many ns the profiler has made the threads wait that had the record of the node at an offset; false if
// no node can lie there, or its record is of no one thread.
func (d *File) SuspendedAt(node uint32) (ns int64, record uint32, ok bool) {
	if d.MethodAt(node) < 0 {
		return 0, 0, false
	}
	record = d.load32(int64(node) + wire.NRecord)
	at := int64(record) - wire.OffRecords
	if at < 0 || at >= wire.Records<<wire.RecordShift || at%(1<<wire.RecordShift) != 0 || d.load32(int64(record)+wire.RFlags)&wire.RVirtual != 0 {
		return 0, 0, false
	}
	return d.load(int64(record) + wire.RSuspended), record, true
}

// HoldRecords keeps threads from all records, the free ones included, until
// release is called. It is for tests.
func (d *File) HoldRecords() (release func()) {
	n := d.load(wire.HNextRecord)
	restore := d.keep(wire.HRecordLimit, wire.HRecordMax)
	d.store(wire.HRecordLimit, n)
	d.store(wire.HRecordMax, n)
	var held []int64
	for i := int64(1); i < n; i++ {
		lease := wire.OffRecords + i<<wire.RecordShift + wire.RLease
		moving := int32(wire.LeaseMoving)
		if d.swap32(lease, 0, uint32(moving)) {
			held = append(held, lease)
		}
	}
	return func() {
		for _, lease := range held {
			d.store32(lease, 0)
		}
		restore()
	}
}

// EachNode calls f for the method of each node of all trees so far, with
// whether recursion is folded there. It is for tests.
func (d *File) EachNode(f func(method uint32, folded bool)) {
	for i := range min(d.load(wire.HNodeLimit), d.nodes()) {
		m := d.load32(wire.OffNodes + i<<wire.NodeShift + wire.NMethod)
		f(m&^wire.MethodFold, m&wire.MethodFold != 0)
	}
}
