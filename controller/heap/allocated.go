package heap

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// A Site is a context that has allocated objects of a type while a recording was on.
type Site struct {
	Method  string   `json:"method"`  // that allocates
	Context []string `json:"context"` // from the root to that method
	Objects int64    `json:"objects"`
	Bytes   *int64   `json:"bytes"` // null where the type's size is not known
}

// Sites are the contexts of a recording that allocate, by the names of types.
type Sites map[string][]Site

// Allocated says who has allocated objects of a class, by a recording. Objects that were allocated
// before it, outside of its roots, or in methods without probes are not among them.
type Allocated struct {
	Objects  int64  `json:"objects"`  // while it was on, dead ones included
	Contexts int64  `json:"contexts"` // that have allocated them
	Top      []Site `json:"top"`      // those that have allocated most
}

// A Part are the objects of a class among what a suspect retains.
type Part struct {
	Class     string     `json:"class"`
	Objects   int64      `json:"objects"`
	Shallow   int64      `json:"shallow_bytes"`
	Allocated *Allocated `json:"allocated_by,omitempty"`
}

const (
	mostParts = 8 // of a suspect
	mostSites = 5 // of a class
)

// parts are the classes of what places retain that take most.
func (h *Heap) parts(places []uint32) []Part {
	sorted := slices.Sorted(slices.Values(places))
	sums := map[uint32]*Part{}
	size, end := h.tree.size.u32(), uint32(0)
	for _, p := range sorted {
		if p < end {
			continue // inside of the one before
		}
		end = p + size[p]
		for q := p; q < end; q++ {
			c := h.class(h.tree.object(q))
			s := sums[c.alike]
			if s == nil {
				s = &Part{Class: c.name}
				sums[c.alike] = s
			}
			s.Objects++
			s.Shallow += h.tree.shallow(q)
		}
	}
	out := make([]Part, 0, len(sums))
	for _, s := range sums {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Shallow, a.Shallow), cmp.Compare(b.Objects, a.Objects), cmp.Compare(a.Class, b.Class))
	})
	return out[:min(len(out), mostParts)]
}

// Join says of each class, and of what each suspect retains, who has allocated it.
func (r *Report) Join(recording string, sites Sites) {
	r.Allocations = recording
	for i := range r.Classes {
		r.Classes[i].Allocated = sites.of(r.Classes[i].Class)
	}
	for i := range r.Suspects {
		for k := range r.Suspects[i].Parts {
			p := &r.Suspects[i].Parts[k]
			p.Allocated = sites.of(p.Class)
		}
	}
}

// lambda is what the names of a method's lambdas have in common, in recordings and in dumps.
const lambda = "$$Lambda"

// of is who has allocated objects of a class; nil if nobody has.
func (s Sites) of(class string) *Allocated {
	list := s[class]
	if i := strings.Index(class, lambda); list == nil && i >= 0 {
		list = s[class[:i+len(lambda)]]
	}
	if len(list) == 0 {
		return nil
	}
	a := &Allocated{Contexts: int64(len(list)), Top: slices.Clone(list)}
	for _, k := range list {
		a.Objects += k.Objects
	}
	slices.SortStableFunc(a.Top, func(a, b Site) int { return cmp.Compare(b.Objects, a.Objects) })
	a.Top = a.Top[:min(len(a.Top), mostSites)]
	return a
}

// textAllocated writes who has allocated objects of a class, below a line about it.
func (w *writer) textAllocated(indent string, a *Allocated) {
	if a == nil {
		return
	}
	w.line("%s%s allocated while recorded, in %s", indent, export.Count(a.Objects), export.Plural(a.Contexts, "context", "contexts"))
	for _, k := range a.Top[:min(len(a.Top), 3)] {
		w.line("%s  %s by %s", indent, export.Count(k.Objects), calledBy(k.Context))
	}
}

// mostCallers are those that a line of text names.
const mostCallers = 4

// calledBy is the end of a context in a line, without descriptors.
func calledBy(context []string) string {
	var names []string
	for _, m := range slices.Backward(context) {
		if len(names) > mostCallers {
			names = append(names, "...")
			break
		}
		name, _, _ := strings.Cut(m, "(")
		names = append(names, name)
	}
	return strings.Join(names, " < ")
}

// textClassesAllocated writes who has allocated the classes that retain most.
func (r *Report) textClassesAllocated(w *writer, o TextOptions) {
	if r.Allocations == "" {
		return
	}
	w.line("")
	w.line("who allocated them, by %s", r.Allocations)
	shown := 0
	for _, c := range r.Classes {
		if c.Allocated == nil || c.Objects == 0 {
			continue
		}
		if shown++; shown > o.Top {
			break
		}
		w.line("%12s alive  %s", export.Count(c.Objects), c.Class)
		w.textAllocated("               ", c.Allocated)
	}
	if shown == 0 {
		w.line("no class of the heap was allocated below the recording's roots")
	}
}
