package cha_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rivulet-profiler/rivulet/cha"
	"github.com/rivulet-profiler/rivulet/cha/chatest"
)

const worlds = 300

// each runs a test on random worlds.
func each(t *testing.T, size int, test func(t *testing.T, r *rand.Rand, w *chatest.World)) {
	for seed := range uint64(worlds) {
		r := rand.New(rand.NewPCG(seed, 1))
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) { test(t, r, chatest.Random(r, size, false)) }) {
			return
		}
	}
}

func newHierarchy(w *chatest.World) *cha.Hierarchy {
	h := cha.New()
	for _, l := range w.Loaders {
		h.AddLoader(l)
	}
	return h
}

// A site is a call in a method of a world.
type site chatest.Site

func (s site) String() string { return fmt.Sprintf("%v/%d: %v", s.In.ID, s.In.ID.Loader, s.Call) }

func sites(w *chatest.World) (ss []site) {
	for _, s := range w.Sites() {
		ss = append(ss, site(s))
	}
	return ss
}

// truth is what the call can reach in a complete world, by receiver: the
// classes for which the method is found, none for calls without a receiver.
func truth(w *chatest.World, s site) map[*chatest.Method][]*chatest.Class {
	out := map[*chatest.Method][]*chatest.Class{}
	add := func(x *chatest.Class, ms ...*chatest.Method) {
		for _, m := range ms {
			switch {
			case m.Access&0x0500 != 0: // native or abstract
			case x == nil:
				out[m] = nil
			default:
				out[m] = append(out[m], x)
			}
		}
	}
	c := s.Call
	o := w.Find(s.In.ID.Loader, c.Owner)
	switch {
	case c.Name == "<init>":
		add(nil, o.Declared(c.Name, c.Desc))
		return out
	case c.How() == cha.Special:
		add(nil, w.Special(s.In, o, c.Name, c.Desc)...)
		return out
	}
	r := w.Resolve(o, c.Name, c.Desc)
	switch {
	case r == nil || r.Static() != (c.How() == cha.Static):
	case r.Static():
		add(nil, r)
	default:
		for _, x := range w.Classes {
			switch {
			case !x.Subtype(o):
			case !x.Interface():
				add(x, w.Select(x, r)...)
			case o.Interface() && r.Private():
				add(x, r)
			case o.Interface():
				add(x, w.SelectDefault(x, c.Name, c.Desc)...)
			}
		}
	}
	return out
}

func ids(ms map[*chatest.Method][]*chatest.Class) []cha.MethodID {
	var out []cha.MethodID
	for m := range ms {
		out = append(out, m.ID())
	}
	slices.SortFunc(out, cha.MethodID.Compare)
	return out
}

// TestExact compares with the brute-force reading of the JVMS when everything
// is known, whatever the order in which it became known.
func TestExact(t *testing.T) {
	total := 0
	each(t, 30, func(t *testing.T, r *rand.Rand, w *chatest.World) {
		h := newHierarchy(w)
		for _, i := range r.Perm(len(w.Classes)) {
			h.Add(w.Classes[i].Mirror())
		}
		for _, i := range r.Perm(len(w.Classes)) {
			h.Add(w.Classes[i].Exact())
		}
		if need := h.NeedBytes(); need != nil {
			t.Errorf("NeedBytes() = %v", need)
		}
		for _, s := range sites(w) {
			if o := w.Find(s.In.ID.Loader, s.Call.Owner); o.ID.Loader != s.In.ID.Loader && len(h.Named(o.ID.Name)) > 1 {
				continue // which class it means is in doubt: see TestSound
			}
			got, want := h.Targets(s.In.ID, s.Call), ids(truth(w, s))
			if !slices.Equal(got, want) {
				t.Errorf("%v: %v, want %v", s, got, want)
			}
			total += len(want)
		}
	})
	if total < worlds {
		t.Errorf("only %d targets in all", total)
	}
}

// TestSound looks at hierarchies that are not complete: with any part of the
// classes known, by name or exactly, Targets holds everything that the known
// classes' calls can reach in them.
func TestSound(t *testing.T) {
	each(t, 30, func(t *testing.T, r *rand.Rand, w *chatest.World) {
		h := newHierarchy(w)
		ss := sites(w)
		for _, i := range r.Perm(len(w.Classes)) {
			c := w.Classes[i]
			h.Add(c.Mirror())
			if r.IntN(3) == 0 {
				h.Add(c.Exact())
			}
		}
		gone := map[*chatest.Class]bool{}
		for _, c := range w.Classes[1:] {
			if r.IntN(3) == 0 {
				gone[c] = true
				h.Remove(c.ID)
			}
		}
		for _, s := range ss {
			got := h.Targets(s.In.ID, s.Call)
			for m, xs := range truth(w, s) {
				if gone[s.In] || gone[m.Class] || gone[w.Find(s.In.ID.Loader, s.Call.Owner)] {
					continue
				}
				some := slices.ContainsFunc(xs, func(x *chatest.Class) bool { return linked(w, x, gone) })
				if xs != nil && !some || xs == nil && !(linked(w, s.In, gone) && linked(w, w.Find(s.In.ID.Loader, s.Call.Owner), gone)) {
					continue
				}
				if !slices.Contains(got, m.ID()) {
					t.Errorf("%v: misses %v, has %v", s, m.ID(), got)
				}
			}
		}
	})
}

// linked reports whether all supertypes of x are there.
func linked(w *chatest.World, x *chatest.Class, gone map[*chatest.Class]bool) bool {
	for _, c := range w.Classes {
		if x.Subtype(c) && gone[c] {
			return false
		}
	}
	return true
}

// TestWatch announces classes in every order to a watch, and checks that it has
// heard of each target at the latest when the classes that make it one are all
// known; and of one that its own class selects when that class is announced,
// since its bytes pass the load hook only once.
func TestWatch(t *testing.T) {
	each(t, 25, func(t *testing.T, r *rand.Rand, w *chatest.World) {
		h := newHierarchy(w)
		watch := h.NewWatch()
		ss := sites(w)
		from := make([]int, len(ss)) // number of classes known when the call was watched
		order := r.Perm(len(w.Classes))
		heard := map[cha.MethodID]bool{}
		for i := range ss {
			from[i] = r.IntN(len(order))
		}
		known := map[*chatest.Class]bool{}
		for k, i := range order {
			c := w.Classes[i]
			hear := func(t cha.Hit) {
				if t.Method != nil {
					heard[t.ID()] = true
				}
			}
			h.Add(c.Mirror())
			known[c] = true
			watch.Reached(func(_ *cha.Call, t cha.Hit) { hear(t) }, c.ID)
			for j, s := range ss {
				if from[j] == k {
					watch.Call(s.In.ID, s.Call, hear)
				}
				if from[j] > k {
					continue
				}
				for m, xs := range truth(w, s) {
					if m.Class == c && slices.Contains(xs, c) && !heard[m.ID()] {
						t.Fatalf("%v: %v not heard of when it was announced", s, m.ID())
					}
					reached := xs == nil && all(w, s.In, known) && all(w, w.Find(s.In.ID.Loader, s.Call.Owner), known)
					for _, x := range xs {
						reached = reached || all(w, x, known)
					}
					if reached && !heard[m.ID()] {
						t.Fatalf("%v: %v not heard of", s, m.ID())
					}
				}
			}
		}
	})
}

// all reports whether x and all its supertypes are known.
func all(w *chatest.World, x *chatest.Class, known map[*chatest.Class]bool) bool {
	for _, c := range w.Classes {
		if x.Subtype(c) && !known[c] {
			return false
		}
	}
	return true
}
