package cha

import (
	"maps"
	"slices"
)

// needs notes that the methods of a class matter and are not known.
func (h *Hierarchy) needs(n *node) {
	if n.opaque() && !n.m.NoBytes && !n.m.Hidden {
		h.need[n.m.ID] = struct{}{}
	}
}

// NeedBytes returns the classes whose bytes the analysis lacks, sorted:
// all but those of the JDK, and their supertypes in the JDK. Until
// [Hierarchy.Add] brings their methods, or says NoBytes, answers are larger
// than they need to be.
func (h *Hierarchy) NeedBytes() []ClassID {
	for id := range h.need {
		if n := h.classes[id]; n == nil || !n.opaque() || n.m.NoBytes {
			delete(h.need, id)
		}
	}
	return slices.SortedFunc(maps.Keys(h.need), ClassID.Compare)
}

// Missing returns the names of the supertypes, direct or not, that are not
// known or not for sure, of the class and of its lambdas, sorted. A caller that
// can tell which classes these are may add their mirrors, or Exact, before they
// are loaded, and gets exact answers the sooner.
func (h *Hierarchy) Missing(id ClassID) []string {
	n := h.classes[id]
	if n == nil {
		return nil
	}
	var names []string
	for _, x := range append([]*node{n}, n.lambdas...) {
		if !x.loose && !x.early {
			continue
		}
		for _, a := range h.ancestors(x) {
			for _, l := range a.links {
				if !l.sure {
					names = append(names, l.name)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
