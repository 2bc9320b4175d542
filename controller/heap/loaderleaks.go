package heap

import (
	"fmt"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// loadersOf are the loaders that the classes of some objects have, and that the objects
// are if they are loaders themselves; those that are always there are left out.
func (h *Heap) loadersOf(places []uint32) map[uint32]*loader {
	byOrd := map[uint32]*loader{}
	for i := range h.loaders {
		if l := &h.loaders[i]; l.ord != none && !h.v.builtin[h.v.ids.id(l.ord)] {
			byOrd[l.ord] = l
		}
	}
	out := map[uint32]*loader{}
	for _, p := range places {
		o := h.tree.object(p)
		if l := byOrd[o]; l != nil {
			out[o] = l
		} else if l := byOrd[h.loaders[h.class(o).loader].ord]; l != nil {
			out[l.ord] = l
		}
	}
	return out
}

// loaderWhy is the sentence about objects that have, or are, class loaders of their own:
// applications that were loaded anew while something still holds the old ones. loader is
// one of them, nil if it is not so.
func (h *Heap) loaderWhy(steps []step, tell step, keeper, owner int, s Suspect) (why string, example *loader) {
	loaders := h.loadersOf(tell.places)
	if len(loaders) < 2 || 2*len(loaders) < len(tell.places) {
		return "", nil
	}
	count := map[string]int{}
	most := ""
	for _, c := range h.t.all {
		if loaders[h.loaders[c.loader].ord] != nil {
			count[c.name]++
			if n := count[c.name]; most == "" || n > count[most] || n == count[most] && c.name < most {
				most = c.name
			}
		}
	}
	for _, l := range loaders {
		if example == nil || l.ord < example.ord {
			example = l
		}
	}
	why = fmt.Sprintf("%s class loaders %s and what they have loaded retain %s, %.0f %% of the heap", export.Count(int64(len(loaders))), example.label, export.Bytes(s.Retained), 100*float64(s.Retained)/float64(max(h.Bytes, 1)))
	if tell.class.name != example.label {
		why += fmt.Sprintf("; they stay because of %s instances of %s", export.Count(s.Count), tell.class.name)
	}
	if keeper >= 0 {
		why += ", kept by " + h.keeper(steps[:keeper+1], owner)
	}
	if count[most] > 1 {
		why += fmt.Sprintf(". %d of the loaders have loaded a class %s of their own, as an application does that was loaded anew while something holds the old one", count[most], most)
	}
	return why + ".", example
}
