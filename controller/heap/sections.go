package heap

import (
	"cmp"
	"slices"
)

// A CollectionStat is how full collections of a class are.
type CollectionStat struct {
	Class  string `json:"class"`
	Count  int64  `json:"collections"`
	Empty  int64  `json:"empty"`        // without an element, but with an array
	Half   int64  `json:"half_empty"`   // whose array has room for twice as much as is in it; the empty ones included
	Wasted int64  `json:"wasted_bytes"` // of all arrays, what their elements don't need
}

// collections sums up what the second pass has seen of collections.
func (h *Heap) collections() []CollectionStat {
	seen := h.g.collections.u32()[:3*h.g.seen.Load()]
	units, place := h.g.units.u32(), h.tree.place.u32()
	sums := map[uint32]*CollectionStat{}
	for e := range slices.Chunk(seen, 3) {
		c := h.t.all[e[0]]
		s := sums[e[0]]
		if s == nil {
			s = &CollectionStat{Class: c.name}
			sums[e[0]] = s
		}
		if a := e[2]; a == none {
			s.Count++
			continue
		} else if place[a] == 0 {
			continue // the collection is not reachable either
		}
		s.Count++
		has := int64(units[e[2]]) * 8
		needs := h.Layout.arrayBytes(int64(e[1])*int64(c.held.per), 2)
		if has <= needs {
			continue
		}
		s.Wasted += has - needs
		if e[1] == 0 {
			s.Empty++
		}
		if head := int64(h.Layout.Array); has-head >= 2*(needs-head) {
			s.Half++
		}
	}
	var out []CollectionStat
	for _, s := range sums {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b CollectionStat) int {
		return cmp.Or(cmp.Compare(b.Wasted, a.Wasted), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Class, b.Class))
	})
	return out
}

// A BoxStat is what boxed values of a class take.
type BoxStat struct {
	Class string `json:"class"`
	Count int64  `json:"objects"`
	Bytes int64  `json:"bytes"`
	// Cacheable have a value that valueOf would have shared; the JDK's own caches are
	// among them.
	Cacheable int64 `json:"cacheable"`
}

func (h *Heap) boxed() []BoxStat {
	var out []BoxStat
	for n, b := range h.boxes {
		c := h.t.all[n]
		out = append(out, BoxStat{c.name, b.n, b.n * int64(c.units) * 8, b.cached})
	}
	slices.SortFunc(out, func(a, b BoxStat) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Class, b.Class)) })
	return out
}

// A ThreadLocalStat is what the thread locals of a thread retain.
type ThreadLocalStat struct {
	Thread   string `json:"thread"`
	Retained int64  `json:"retained_bytes"`
	Largest  string `json:"largest"` // class of the value that retains most
	Value    int64  `json:"largest_bytes"`
}

// threadLocals finds the threads whose thread locals retain most.
func (h *Heap) threadLocals(s *stats, top int) []ThreadLocalStat {
	var out []ThreadLocalStat
	for _, p := range s.interest[threadLocalMap] {
		t := ThreadLocalStat{Retained: h.tree.retained(p)}
		if len(out) == top && out[top-1].Retained >= t.Retained {
			continue
		}
		t.Thread = "(shared)"
		if up := h.tree.dominator(p); up != 0 {
			t.Thread = h.describe(h.tree.object(up))
		}
		for table := range h.tree.children(p) {
			for entry := range h.tree.children(table) {
				for value := range h.tree.children(entry) {
					if r := h.tree.retained(value); r > t.Value {
						t.Value, t.Largest = r, h.describe(h.tree.object(value))
					}
				}
			}
		}
		out = keepTop(out, t, top, func(t ThreadLocalStat) int64 { return t.Retained })
	}
	return out
}

// A LoaderLeak is a class that several loaders of one class have loaded, each for itself.
type LoaderLeak struct {
	Loader   string   `json:"loader"`
	Loaders  int64    `json:"loaders"`
	Class    string   `json:"class"`
	Retained int64    `json:"retained_bytes"` // by the loaders
	Path     []string `json:"path"`           // to the one that retains most
}

// loaderLeaks finds loaders that were made again and again for the same classes.
func (h *Heap) loaderLeaks() []LoaderLeak {
	type key struct{ class, loader string }
	loadersOf := map[key][]uint32{}
	for _, c := range h.t.all {
		l := h.loaders[c.loader].ord
		if l == none || h.v.builtin[h.v.ids.id(l)] {
			continue
		}
		k := key{c.name, h.loaders[c.loader].label}
		if p := h.tree.placeOf(l); p != 0 && !slices.Contains(loadersOf[k], p) {
			loadersOf[k] = append(loadersOf[k], p)
		}
	}
	best := map[string]LoaderLeak{}
	for k, places := range loadersOf {
		if len(places) < 2 {
			continue
		}
		l := LoaderLeak{Loader: k.loader, Loaders: int64(len(places)), Class: k.class}
		if b, ok := best[k.loader]; ok && (b.Loaders > l.Loaders || b.Loaders == l.Loaders && b.Class <= l.Class) {
			continue
		}
		most := places[0]
		for _, p := range places {
			l.Retained += h.tree.retained(p)
			if h.tree.retained(p) > h.tree.retained(most) {
				most = p
			}
		}
		l.Path = h.path(h.tree.object(most))
		best[k.loader] = l
	}
	var out []LoaderLeak
	for _, l := range best {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b LoaderLeak) int {
		return cmp.Or(cmp.Compare(b.Retained, a.Retained), cmp.Compare(a.Loader, b.Loader))
	})
	return out
}
