package heap

import (
	"github.com/rivulet-profiler/rivulet/controller/hprof"
)

// A rootSet has the objects at which the collector begins.
type rootSet struct {
	bits  bitset
	order []uint32 // each once
	kinds map[uint32]root
	// local has, for a thread and an object, the root that says that a local variable of
	// the thread refers to it.
	local map[[2]uint32]root
}

// rank puts the kinds in order: of an object that is a root twice the first one is told.
var rank = map[hprof.RootKind]int{
	hprof.RootThread: 1, hprof.RootStickyClass: 2, hprof.RootJNIGlobal: 3, hprof.RootMonitor: 4,
	hprof.RootJavaFrame: 5, hprof.RootJNILocal: 6, hprof.RootNativeStack: 7, hprof.RootThreadBlock: 8, hprof.RootUnknown: 9,
}

func newRootSet(v *survey, t *classTable) *rootSet {
	s := &rootSet{bits: newBitset(int(v.ids.count)), kinds: map[uint32]root{}, local: map[[2]uint32]root{}}
	add := func(o uint32, r root) {
		if !s.bits.has(o) {
			s.bits.set(o)
			s.order = append(s.order, o)
			s.kinds[o] = r
		} else if rank[r.kind] < rank[s.kinds[o].kind] {
			s.kinds[o] = r
		}
	}
	for _, r := range v.roots {
		o, ok := v.ids.find(r.id)
		if !ok {
			continue
		}
		if th, ok := v.threadOf(r); ok && th != o {
			s.local[[2]uint32{th, o}] = r
			continue
		}
		add(o, r)
	}
	for _, c := range t.all {
		if c.ord != none && v.builtin[c.dump.Loader] {
			add(c.ord, root{id: c.dump.ID, kind: hprof.RootStickyClass})
		}
	}
	return s
}

// threadOf returns the thread whose stack a root is on, if the dump has it.
func (v *survey) threadOf(r root) (uint32, bool) {
	switch r.kind {
	case hprof.RootJavaFrame, hprof.RootJNILocal, hprof.RootNativeStack, hprof.RootThreadBlock:
		if th, ok := v.threads[r.thread]; ok {
			return v.ids.find(th.object)
		}
	}
	return 0, false
}

// addLocals writes the lists of threads anew, with what their locals refer to.
func (s *rootSet) addLocals(v *survey, g *graph) {
	of := map[uint32][]uint32{}
	for _, r := range v.roots { // in the order of the dump
		o, ok := v.ids.find(r.id)
		if !ok || s.bits.has(o) {
			continue
		}
		if th, ok := v.threadOf(r); ok && th != o {
			of[th] = append(of[th], o)
		}
	}
	w := listWriter{g: g}
	for th, locals := range of {
		var old []uint32
		it, referent := g.refs(th)
		for o, ok := it.next(); ok; o, ok = it.next() {
			old = append(old, o)
		}
		start := w.begin(th, int64(len(old)+len(locals)+1))
		if g.weak.has(th) {
			w.referent(referent)
		}
		for _, o := range append(old, locals...) {
			w.add(o)
		}
		w.finish(th, start)
	}
}
