package heap

import (
	"cmp"
	"slices"
)

// A ClassStat is what the instances of a class take.
type ClassStat struct {
	Class   string `json:"class"`
	Loader  string `json:"loader,omitempty"` // "": the JVM's own
	Objects int64  `json:"objects"`
	Shallow int64  `json:"shallow_bytes"`
	// Retained is what would be free if none of them were there, at the least: the sum
	// of what those retain that no other instance of the class dominates.
	Retained int64 `json:"retained_bytes"`
	// Allocated is nil without a recording beside the dump ([Report.Join]), and of classes that it has not seen.
	Allocated *Allocated `json:"allocated_by,omitempty"`
}

// A LoaderStat is the same for the instances of all classes of a loader.
type LoaderStat struct {
	Loader   string `json:"loader"`  // class of the loader, "": the JVM's own
	Loaders  int64  `json:"loaders"` // how many there are
	Classes  int64  `json:"classes"`
	Objects  int64  `json:"objects"`
	Shallow  int64  `json:"shallow_bytes"`
	Retained int64  `json:"retained_bytes"`
}

// A loader is a class loader of the dump.
type loader struct {
	ord   uint32 // none for the JVM's own
	label string
	alike uint32 // the first loader of the same label
}

// stats are the sums over all reachable objects.
type stats struct {
	classes  []ClassStat // by number
	loaders  []LoaderStat
	interest map[string][]uint32 // places of instances of some classes
}

// nameLoaders numbers the class loaders.
func (h *Heap) nameLoaders() {
	h.loaders = []loader{{ord: none}}
	number, labels := map[uint64]uint32{0: 0}, map[string]uint32{}
	for _, c := range h.t.all {
		if c.dump == nil {
			continue
		}
		n, ok := number[c.dump.Loader]
		if !ok {
			n = uint32(len(h.loaders))
			number[c.dump.Loader] = n
			l := loader{ord: none, label: "(loader not in the dump)"}
			if o, found := h.v.ids.find(c.dump.Loader); found {
				l.ord, l.label = o, h.class(o).name
			}
			l.alike = n
			if first, ok := labels[l.label]; ok {
				l.alike = first
			}
			labels[l.label] = l.alike
			h.loaders = append(h.loaders, l)
		}
		c.loader = n
	}
	type key struct {
		name  string
		alike uint32
	}
	first := map[key]uint32{}
	for n, c := range h.t.all {
		k := key{c.name, h.loaders[c.loader].alike}
		if _, ok := first[k]; !ok {
			first[k] = uint32(n)
		}
		c.alike = first[k]
	}
}

const (
	threadLocalMap = "java.lang.ThreadLocal$ThreadLocalMap"
	classLoader    = "java.lang.ClassLoader"
	maxInterest    = 100_000
)

// stats goes through the tree once. A subtree that hangs below an instance of the same
// class, or of a class of the same loader, counts as retained by that already.
func (h *Heap) stats() *stats {
	s := &stats{classes: make([]ClassStat, len(h.t.all)), loaders: make([]LoaderStat, len(h.loaders)), interest: map[string][]uint32{}}
	watch := make([]string, len(h.t.all))
	for n, c := range h.t.all {
		s.classes[n].Class = c.name
		s.classes[n].Loader = h.loaders[c.loader].label
		if c.dump != nil {
			s.loaders[h.loaders[c.loader].alike].Classes++
		}
		for _, name := range []string{threadLocalMap, classLoader} {
			if c.is(name) {
				watch[n] = name
			}
		}
	}
	openClass := make([]bool, len(h.t.all))
	openLoader := make([]bool, len(h.loaders))
	type open struct {
		end           uint32
		class, loader uint32 // none: it was open before
	}
	var path []open
	t := &h.tree
	obj, size, classes, units := t.obj.u32(), t.size.u32(), h.g.class.u32(), h.g.units.u32()
	for p := uint32(1); p < t.n; p++ {
		if p%tidyEvery == 0 {
			h.pool.tidy()
		}
		for len(path) > 0 && p >= path[len(path)-1].end {
			if last := path[len(path)-1]; last.class != none {
				openClass[last.class] = false
			}
			if last := path[len(path)-1]; last.loader != none {
				openLoader[last.loader] = false
			}
			path = path[:len(path)-1]
		}
		o := obj[p]
		c := h.t.all[classes[o]]
		n, l := c.alike, h.loaders[c.loader].alike
		bytes := int64(units[o]) * 8
		cs, ls := &s.classes[n], &s.loaders[l]
		cs.Objects++
		cs.Shallow += bytes
		ls.Objects++
		ls.Shallow += bytes
		entry := open{p + size[p], none, none}
		if !openClass[n] {
			cs.Retained += t.retained(p)
			entry.class = n
		}
		if !openLoader[l] {
			ls.Retained += t.retained(p)
			entry.loader = l
		}
		if size[p] > 1 && (entry.class != none || entry.loader != none) {
			path = append(path, entry)
			if entry.class != none {
				openClass[n] = true
			}
			if entry.loader != none {
				openLoader[l] = true
			}
		}
		if w := watch[n]; w != "" && len(s.interest[w]) < maxInterest {
			s.interest[w] = append(s.interest[w], p)
		}
	}
	for i, l := range h.loaders {
		s.loaders[i].Loader = l.label
		s.loaders[l.alike].Loaders++
	}
	return s
}

// byRetained are the statistics of the classes that have instances, what retains most first.
func (s *stats) byRetained() []ClassStat {
	out := slices.DeleteFunc(slices.Clone(s.classes), func(c ClassStat) bool { return c.Objects == 0 })
	slices.SortStableFunc(out, func(a, b ClassStat) int {
		return cmp.Or(cmp.Compare(b.Retained, a.Retained), cmp.Compare(a.Class, b.Class))
	})
	return out
}

// unreachable sums up what no root reaches, by class.
func (h *Heap) unreachable(top int) []ClassStat {
	if h.Unreachable.Objects == 0 {
		return nil
	}
	sums := make([]ClassStat, len(h.t.all))
	classes, units, place := h.g.class.u32(), h.g.units.u32(), h.tree.place.u32()
	for o, p := range place {
		if p == 0 {
			c := &sums[classes[o]]
			c.Objects++
			c.Shallow += int64(units[o]) * 8
		}
	}
	var out []ClassStat
	for n, c := range sums {
		if c.Objects > 0 {
			c.Class = h.t.all[n].name
			out = keepTop(out, c, top, func(a, b ClassStat) int { return cmp.Compare(b.Shallow, a.Shallow) })
		}
	}
	return out
}
