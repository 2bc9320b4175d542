package heap

import (
	"context"
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/rivulet-profiler/rivulet/controller/hprof"
)

// A reader reads the dump for the second time: all cores share it.
type reader struct {
	f     *hprof.File
	v     *survey
	t     *classTable
	g     *graph
	ctx   context.Context
	roots bitset // objects that are roots: references to them change nothing
	next  atomic.Int64
	done  atomic.Int64
	twice bool // some identifiers occur twice: the first object holds
}

// unorderedShare: if one object in so many has a lower address than the one before it, the
// dump is in no order. Dumps that several threads have written change it at borders of
// regions, once in some thousands.
const unorderedShare = 1000

// readGraph reads all references.
func readGraph(ctx context.Context, f *hprof.File, v *survey, t *classTable, roots bitset, p *pool, o Options) (*graph, *evidence, error) {
	n := int(v.ids.count)
	g := &graph{n: n, weak: newBitset(n), text: newBitset(n)}
	// In most dumps objects lie in the order of their addresses. Then the place of one in
	// many suffices to find the others.
	if g.every = 6; v.unordered*unorderedShare > int64(n) || v.twice > 0 {
		g.every = 0
	}
	groups := int64(n)>>g.every + 1
	// What the lists take at the most: five bytes for a reference of four or eight,
	// and what is left over at the ends of stretches. Only what is written becomes memory.
	virtual := 2*f.Size + f.Size/2 + int64(n)*48 + int64(o.Workers+1)*4*stretch
	high := virtual >= 1<<32
	for _, b := range []struct {
		to    **block
		bytes int64
		cold  bool
	}{{&g.at, int64(n) * 4, false}, {&g.class, int64(n) * 4, true}, {&g.units, int64(n) * 4, true}, {&g.where, groups * 8, true}} {
		var err error
		if *b.to, err = p.get(b.bytes, b.bytes, b.cold); err != nil {
			return nil, nil, err
		}
	}
	var err error
	if g.edges, err = p.get(virtual, f.Size/8, false); err != nil {
		return nil, nil, err
	}
	if g.collections, err = p.get(int64(n)*12, int64(n), true); err != nil {
		return nil, nil, err
	}
	if high {
		if g.high, err = p.get(int64(n), int64(n), false); err != nil {
			return nil, nil, err
		}
	}
	g.used.Store(8) // 0 is no list
	r := &reader{f: f, v: v, t: t, g: g, ctx: ctx, roots: roots, twice: v.twice > 0}
	workers := o.Workers
	if r.twice {
		workers = 1
	}
	parts := make([]*evidence, workers)
	var wg sync.WaitGroup
	for i := range workers {
		parts[i] = newEvidence(len(t.all))
		wg.Go(func() { r.work(parts[i], o) })
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	p.settle(g.edges, g.used.Load())
	all := parts[0]
	for _, e := range parts[1:] {
		all.merge(e)
	}
	runtime.GC() // the scanners' buffers
	return g, all, nil
}

// work reads one chunk after another.
func (r *reader) work(e *evidence, o Options) {
	w := &worker{reader: r, lists: listWriter{g: r.g}, e: e, group: none}
	for r.ctx.Err() == nil {
		i := int(r.next.Add(1)) - 1
		if i >= len(r.v.marks) {
			return
		}
		end := r.v.end
		if i+1 < len(r.v.marks) {
			end = r.v.marks[i+1].Offset
		}
		s := r.f.Scan().From(r.v.marks[i])
		for s.Mark().Offset < end {
			rec, err := s.Next()
			if err != nil {
				break // the first pass has noted it
			}
			w.record(s, rec)
		}
		o.progress("reading references", r.done.Add(end-r.v.marks[i].Offset), r.f.Size)
	}
}

// A worker is one core's part of reading.
type worker struct {
	*reader
	lists listWriter
	e     *evidence

	group     uint32 // of the object before
	lastID    uint64 // a class that was looked up
	lastClass uint32
}

// lower makes a word the least of all values that were not 0.
func lower(at *uint64, v uint64) {
	for {
		old := atomic.LoadUint64(at)
		if old != 0 && old <= v || atomic.CompareAndSwapUint64(at, old, v) {
			return
		}
	}
}

func (w *worker) classOf(id uint64) uint32 {
	if id != w.lastID || w.lastClass == 0 {
		w.lastID, w.lastClass = id, w.t.byID[id]
	}
	return w.lastClass
}

func (w *worker) record(s *hprof.Scanner, r *hprof.Record) {
	switch r.Kind {
	case hprof.KindInstance, hprof.KindObjectArray, hprof.KindPrimArray, hprof.KindClass:
	default:
		return
	}
	o, ok := w.v.ids.find(r.ID)
	if !ok || w.twice && w.g.where.u64()[o] != 0 {
		return
	}
	// Classes have a part of the dump to themselves.
	if g := o >> w.g.every; w.g.every == 0 {
		w.g.where.u64()[o] = uint64(r.Offset)
	} else if g != w.group && r.Kind != hprof.KindClass {
		w.group = g
		lower(&w.g.where.u64()[g], uint64(r.Offset))
	}
	switch r.Kind {
	case hprof.KindInstance:
		w.instance(o, r)
	case hprof.KindObjectArray:
		w.objects(o, s, r)
	case hprof.KindPrimArray:
		n := w.t.prim[r.Elem]
		w.g.class.u32()[o] = n
		w.g.units.u32()[o] = uint32(r.Length)
		w.e.array(w.v.ids.gap(r.ID), r.Length, r.Elem)
	default:
		w.classObject(o, r.Dump)
	}
}

// to writes a reference, unless it is null, refers to nothing in the dump, or to a root.
func (w *worker) to(id uint64) {
	if id == 0 {
		return
	}
	if t, ok := w.v.ids.find(id); ok && !w.roots.has(t) {
		w.lists.add(t)
	}
}

func (w *worker) id(b []byte) uint64 {
	if w.v.idSize == 4 {
		return uint64(binary.BigEndian.Uint32(b))
	}
	return binary.BigEndian.Uint64(b)
}

func (w *worker) instance(o uint32, r *hprof.Record) {
	n := w.classOf(r.Class)
	c := w.t.all[n]
	w.g.class.u32()[o] = n
	w.e.instance(n, w.v.ids.gap(r.ID))
	start := w.lists.begin(o, int64(min(len(c.refs), len(r.Body)/w.v.idSize)+2))
	size := w.v.idSize
	if c.weak >= 0 && c.weak+size <= len(r.Body) {
		t, ok := w.v.ids.find(w.id(r.Body[c.weak:]))
		if !ok {
			t = none
		}
		w.g.weak.setAtomic(o)
		w.lists.referent(t)
	}
	w.to(r.Class)
	for _, at := range c.refs {
		if at+size <= len(r.Body) {
			w.to(w.id(r.Body[at:]))
		}
	}
	w.lists.finish(o, start)
	w.contents(n, c, r)
}

func (w *worker) objects(o uint32, s *hprof.Scanner, r *hprof.Record) {
	n := w.classOf(r.Class)
	w.g.class.u32()[o] = n
	w.g.units.u32()[o] = uint32(r.Length)
	w.e.array(w.v.ids.gap(r.ID), r.Length, hprof.Object)
	start := w.lists.begin(o, r.Length+1)
	w.to(r.Class)
	for {
		b, err := s.Elements()
		if err != nil || b == nil {
			break
		}
		for ; len(b) >= w.v.idSize; b = b[w.v.idSize:] {
			w.to(w.id(b))
		}
	}
	w.lists.finish(o, start)
}

func (w *worker) classObject(o uint32, d *hprof.Class) {
	w.g.class.u32()[o] = w.t.class
	// Not the length of an array: what the class adds to an instance of Class.
	w.g.units.u32()[o] = uint32(d.StaticBytes)
	start := w.lists.begin(o, int64(len(d.Statics)+4))
	for _, id := range []uint64{d.Super, d.Loader, d.Signers, d.Domain} {
		w.to(id)
	}
	for _, f := range d.Statics {
		if f.Type == hprof.Object {
			w.to(f.Value)
		}
	}
	w.lists.finish(o, start)
}
