package heap

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/rivulet-profiler/rivulet/controller/hprof"
	"github.com/rivulet-profiler/rivulet/controller/hprof/hproftest"
)

// A model is a heap as a test made it up.
type model struct {
	refs  map[uint64][]uint64 // strong references
	weak  map[uint64]uint64   // referents
	roots []uint64
	all   []uint64
}

// Identifiers of classes that each model has.
const (
	idObject = 0x1000 + 8*iota
	idClass
	idReference
	idWeak
	idArray
	idThread
	idNode0 // with as many fields as its number says
	idNode1
	idNode2
	idNode3
	idLoaded // its loader is idLoader
	idLoader
	firstID
)

// randomModel writes a dump of about n objects.
func randomModel(r *rand.Rand, n, idSize, segment int) (*model, []byte) {
	m := &model{refs: map[uint64][]uint64{}, weak: map[uint64]uint64{}}
	w := hproftest.New(idSize)
	w.Segment = segment
	add := func(id uint64, refs ...uint64) {
		m.all = append(m.all, id)
		m.refs[id] = refs
	}
	class := func(id uint64, name string, super, loader uint64, statics []uint64, fields ...string) {
		var st, fs []hproftest.Field
		for i, s := range statics {
			st = append(st, hproftest.Of(fmt.Sprintf("s%d", i), hprof.Object, s))
		}
		for _, f := range fields {
			fs = append(fs, hproftest.Of(f, hprof.Object, 0))
		}
		w.Class(id, name, super, loader, st, fs, 0)
		add(id, append([]uint64{super, loader}, statics...)...)
		if loader == 0 {
			m.roots = append(m.roots, id)
		}
	}
	ids := make([]uint64, n)
	for i, k := range r.Perm(n) { // not in the order of addresses
		ids[i] = firstID + 8*uint64(k)
	}
	some := func() uint64 {
		switch {
		case r.IntN(6) == 0:
			return 0
		case r.IntN(8) == 0:
			return idLoader
		}
		return ids[r.IntN(n)]
	}
	class(idObject, "java/lang/Object", 0, 0, nil)
	class(idClass, "java/lang/Class", idObject, 0, nil)
	class(idReference, "java/lang/ref/Reference", idObject, 0, nil, "referent", "queue")
	class(idWeak, "java/lang/ref/WeakReference", idReference, 0, nil)
	class(idArray, "[Ljava/lang/Object;", idObject, 0, nil)
	class(idThread, "java/lang/Thread", idObject, 0, nil, "target")
	class(idNode0, "p/N0", idObject, 0, nil)
	class(idNode1, "p/N1", idNode0, 0, nil, "a")
	class(idNode2, "p/N2", idNode1, 0, []uint64{some()}, "b")
	class(idNode3, "p/N3", idNode2, 0, nil, "c")
	class(idLoaded, "p/Loaded", idNode1, idLoader, []uint64{some()}, "l")
	instance := func(id, class uint64, refs ...uint64) {
		w.Instance(id, class, hproftest.Refs(refs...))
		add(id, append([]uint64{class}, refs...)...)
	}
	instance(idLoader, idNode1, some())
	for i, id := range ids {
		switch k := r.IntN(9); k {
		case 0, 1, 2, 3:
			var refs []uint64
			for range k {
				refs = append(refs, some())
			}
			instance(id, idNode0+8*uint64(k), refs...)
		case 4:
			instance(id, idLoaded, some(), some())
		case 5:
			referent, queue := some(), some()
			w.Instance(id, idWeak, hproftest.Refs(referent, queue))
			add(id, idWeak, queue)
			m.weak[id] = referent
		case 6:
			w.Prims(id, hprof.Int, make([]byte, 4*r.IntN(5)))
			add(id)
		case 7:
			instance(id, idThread, some())
			w.Root(hprof.RootThread, id, uint32(i+1), 0)
			m.roots = append(m.roots, id)
			local := ids[r.IntN(n)]
			w.Root(hprof.RootJavaFrame, local, uint32(i+1), 0)
			m.refs[id] = append(m.refs[id], local)
		default:
			var refs []uint64
			for range r.IntN(6) {
				refs = append(refs, some())
			}
			w.Objects(id, idArray, refs...)
			add(id, append([]uint64{idArray}, refs...)...)
		}
	}
	for range r.IntN(3) {
		o := ids[r.IntN(n)]
		w.Root(hprof.RootJNIGlobal, o)
		m.roots = append(m.roots, o)
	}
	return m, w.Bytes()
}

// reach returns what the roots reach without one object.
func (m *model) reach(without uint64, follow func(from, to uint64) bool) map[uint64]bool {
	seen := map[uint64]bool{0: true, without: true}
	var visit func(o uint64)
	visit = func(o uint64) {
		if seen[o] {
			return
		}
		seen[o] = true
		for _, to := range m.refs[o] {
			visit(to)
		}
		if to := m.weak[o]; to != 0 && follow(o, to) {
			visit(to)
		}
	}
	for _, o := range m.roots {
		visit(o)
	}
	delete(seen, 0)
	if without != 0 {
		delete(seen, without)
	}
	return seen
}

func openBytes(t testing.TB, dump []byte, o Options) (*Heap, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "heap.hprof")
	if err := os.WriteFile(path, dump, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := hprof.Open(t.Context(), path, t.TempDir(), nil)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { f.Close() })
	o.Temp = t.TempDir()
	h, err := Open(t.Context(), f, o)
	if err == nil {
		t.Cleanup(h.Close)
	}
	return h, err
}

// TestRandom compares retained sizes, reachability and lengths of paths with what the
// definitions say, on random heaps.
func TestRandom(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 29))
		m, dump := randomModel(r, 1+r.IntN(40), []int{4, 8}[r.IntN(2)], r.IntN(300))
		h, err := openBytes(t, dump, Options{Workers: 1 + r.IntN(3), spill: seed%4 == 0})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		m.check(t, h, fmt.Sprintf("seed %d", seed))
		if t.Failed() {
			return
		}
	}
}

func (m *model) check(t *testing.T, h *Heap, where string) {
	t.Helper()
	size := func(id uint64) int64 {
		o, ok := h.v.ids.find(id)
		if !ok || h.v.ids.id(o) != id {
			t.Fatalf("%s: %x is not found", where, id)
		}
		return int64(h.g.units.u32()[o]) * 8
	}
	never := func(uint64, uint64) bool { return false }
	hard := m.reach(0, never)
	follow := func(_, to uint64) bool { return !hard[to] }
	live := m.reach(0, follow)
	total := int64(0)
	for id := range live {
		total += size(id)
	}
	if h.Objects != int64(len(live)) || h.Bytes != total {
		t.Errorf("%s: %d objects, %d bytes, want %d, %d", where, h.Objects, h.Bytes, len(live), total)
	}
	if h.Unreachable.Objects != int64(len(m.all)-len(live)) || h.Weak.Objects != int64(len(live)-len(hard)) {
		t.Errorf("%s: %d unreachable, %d weakly reachable", where, h.Unreachable.Objects, h.Weak.Objects)
	}
	for _, id := range m.all {
		o, _ := h.v.ids.find(id)
		p := h.tree.placeOf(o)
		if live[id] != (p != 0) {
			t.Errorf("%s: %x reachable: %v", where, id, p != 0)
			continue
		}
		if p == 0 {
			continue
		}
		want := total
		for id := range m.reach(id, follow) {
			want -= size(id)
		}
		if got := h.tree.retained(p); got != want {
			t.Errorf("%s: %x retains %d, want %d", where, id, got, want)
		}
		if by := h.by.u32()[o]; hard[id] != (by != 0) {
			t.Errorf("%s: %x strongly reachable: %v", where, id, by != 0)
		}
	}
}
