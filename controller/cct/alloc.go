package cct

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/jvmside/wire"
)

// A Type is what is allocated. It is never changed; types of one name are the same.
type Type struct {
	Name  string // as in sources, "int[]", "java.util.ArrayList", "shop.Order$Line"
	Array bool
	Size  int64 // bytes of an object that is no array; [NotKnown]
	Vague bool  // an array whose elements are of an unknown type, so that its bytes are not known
}

// What the names of types end with that are not certain.
const (
	Estimated  = " (estimated)"   // nearly always one for each call
	OrSubclass = " or a subclass" // Object.clone has copied one

	// Whole names: the type is not in the code.
	Reflected      = "? (by reflection)"
	ReflectedArray = "?[] (by reflection)"
)

// NotKnown are bytes that nobody knows.
const NotKnown = -1

// An Alloc is what a context has allocated of a type, without what it calls.
type Alloc struct {
	Type     *Type
	Objects  int64 // arrays, where it is an array's type
	Elements int64 // of all arrays; 0 of others
	Bytes    int64 // of all, or [NotKnown]

	Survival *Survival // what became of them; nil where none was followed
}

// Plus is the sum of both, which are of the same type. It is safe for concurrent use.
func (a Alloc) Plus(o Alloc) Alloc {
	a.Objects += o.Objects
	a.Elements += o.Elements
	if a.Bytes < 0 || o.Bytes < 0 {
		a.Bytes = NotKnown
	} else {
		a.Bytes += o.Bytes
	}
	a.Survival = plusSurvival(a.Survival, o.Survival)
	return a
}

// addAllocs adds what another context has allocated, type by type. The first list is
// changed, or made; the second one stays.
func addAllocs(to, more []Alloc) []Alloc {
	if to == nil {
		return slices.Clone(more)
	}
	for _, o := range more {
		to = addAlloc(to, o)
	}
	return to
}

func addAlloc(to []Alloc, o Alloc) []Alloc {
	i := slices.IndexFunc(to, func(a Alloc) bool { return a.Type == o.Type || a.Type.Name == o.Type.Name })
	if i < 0 {
		return append(to, o)
	}
	to[i] = to[i].Plus(o)
	return to
}

// ByBytes sorts what was allocated: most bytes first, then most objects, then by
// name. It returns a copy.
func ByBytes(list []Alloc) []Alloc {
	return slices.SortedFunc(slices.Values(list), func(a, b Alloc) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Objects, a.Objects), cmp.Compare(a.Type.Name, b.Type.Name))
	})
}

// A TypeSum is what was allocated of a type in trees.
type TypeSum struct {
	Alloc
	Contexts int64 // that allocate it
}

// TypesOf adds up by type what the trees have allocated, in the order of [ByBytes].
func TypesOf(roots []*Node) []TypeSum {
	at := map[string]int{}
	var sums []TypeSum
	for n := range All(roots) {
		for _, a := range n.Allocs() {
			i, ok := at[a.Type.Name]
			if !ok {
				at[a.Type.Name] = len(sums)
				sums = append(sums, TypeSum{a, 1})
				continue
			}
			sums[i] = TypeSum{sums[i].Plus(a), sums[i].Contexts + 1}
		}
	}
	slices.SortFunc(sums, func(a, b TypeSum) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Objects, a.Objects), cmp.Compare(a.Type.Name, b.Type.Name))
	})
	return sums
}

// allocated reads the node of a type into the context that allocates it.
func (r *reader) allocated(n *Node, off int, t *Type) {
	a := Alloc{Type: t, Objects: count(r.word(off + wire.NCalls))}
	switch {
	case t.Array:
		a.Elements, a.Bytes = count(r.word(off+wire.NCount)), count(r.word(off+wire.NSelf))
		if t.Vague {
			a.Bytes = NotKnown
		}
	case t.Size >= 0:
		a.Bytes = a.Objects * t.Size
	default:
		a.Bytes = NotKnown
	}
	if a.Objects == 0 {
		return // its first one was just being counted
	}
	if r.Metrics.Index(metric.SurvivedBytes.Name) >= 0 {
		a.Survival = r.survival(off, &a)
	}
	n.Details().Allocs = addAlloc(n.Allocs(), a) // lambdas of a method share a name
	n.Allocated(a)
}

// Allocated adds an allocation to the node's sums over types, where its recording
// has them.
func (n *Node) Allocated(a Alloc) {
	if n.Counts == nil {
		return
	}
	add := func(m *metric.Metric, v int64) {
		if i := n.Counts.Table.Index(m.Name); i >= 0 {
			n.Counts.Own[i] += v
		}
	}
	if a.Type.Array {
		add(&metric.Arrays, a.Objects)
	} else {
		add(&metric.Objects, a.Objects)
	}
	add(&metric.AllocatedBytes, max(a.Bytes, 0))
	_, survived := a.Survival.Older()
	add(&metric.SurvivedBytes, survived)
	_, live := a.Survival.Remaining()
	add(&metric.LiveBytes, live)
}

// typeOf is the type that a number stands for; nil if it is a method's.
func (r *reader) typeOf(method uint32) *Type {
	if int(method) >= len(r.Types) {
		return nil
	}
	return r.Types[method]
}

// MoveAllocs makes a callee of each type that the node has allocated, with these numbers in
// place of a method's. What was counted of them is the callees' own then.
func (n *Node) MoveAllocs(number func(*Type) int32) {
	for _, a := range n.Allocs() {
		c := &Node{Method: number(a.Type)}
		if n.Counts != nil {
			c.Counts = &metric.Values{Table: n.Counts.Table}
			c.Allocated(a)
			for i := range c.Counts.Own {
				n.Counts.Own[i] -= c.Counts.Own[i]
			}
			c.Counts.Total = c.Counts.Own
		}
		n.Children = append(n.Children, c)
	}
	if n.Rare != nil {
		n.Rare.Allocs = nil
	}
}
