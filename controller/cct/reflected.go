package cct

import (
	"slices"
)

// NameReflected finds the types of objects that were created by reflection, by the calls of
// constructors (W. Binder, "Portable Profiling of Memory Allocation in Java", section 4): what a
// context's callees have constructed and its own new instructions have not. They are named
// where that makes as many objects as were created by reflection; else an
// argument has thrown, or the JDK has constructed others, and they stay without a type. Contexts of
// constructors are left out, whose super() is such a call, too.
//
// constructs is the class, as in sources, that a method constructs, and typed the type of its
// objects.
func (s *Snapshot) NameReflected(constructs func(method int32) (class string, ok bool), typed func(class string) *Type) {
	changed := false
	for n := range All(s.Roots()) {
		at := slices.IndexFunc(n.Allocs(), func(a Alloc) bool { return a.Type.Name == Reflected })
		if at < 0 {
			continue
		}
		if _, ok := constructs(n.Method); ok {
			continue
		}
		if named := n.reflected(n.Allocs()[at].Objects, constructs, typed); named != nil {
			if len(named) == 1 {
				named[0].Survival = n.Allocs()[at].Survival.sized(named[0].Type.Size)
			}
			list := slices.Delete(slices.Clone(n.Allocs()), at, at+1)
			for _, a := range named {
				list = addAlloc(list, a)
				n.addBytes(a)
			}
			n.Details().Allocs, changed = list, true
		}
	}
	if changed {
		for _, t := range s.Threads {
			computeTotals(t.Roots)
		}
	}
}

// reflected is what the node has created so many objects of; nil if that can't be told.
func (n *Node) reflected(objects int64, constructs func(int32) (string, bool), typed func(string) *Type) (list []Alloc) {
	var classes []string
	made := map[string]int64{}
	for _, c := range n.Children {
		class, ok := constructs(c.Method)
		if !ok || c.Async() != nil {
			continue
		}
		if _, met := made[class]; !met {
			classes = append(classes, class)
		}
		made[class] += c.Calls
	}
	for _, a := range n.Allocs() {
		if _, met := made[a.Type.Name]; met {
			made[a.Type.Name] -= a.Objects
		}
	}
	for _, class := range classes {
		k := made[class]
		if k < 0 {
			return nil
		}
		objects -= k
		if k == 0 {
			continue
		}
		a := Alloc{Type: typed(class), Objects: k, Bytes: NotKnown}
		if a.Type.Size >= 0 {
			a.Bytes = k * a.Type.Size
		}
		list = append(list, a)
	}
	if objects != 0 {
		return nil
	}
	return list
}

// addBytes adds the bytes of what was allocated to the node's own, as far as they are known.
func (n *Node) addBytes(a Alloc) {
	if n.Counts == nil || a.Bytes < 0 {
		return
	}
	sized := Alloc{Type: a.Type, Bytes: a.Bytes, Survival: a.Survival}
	n.Allocated(sized) // of no more objects
}
