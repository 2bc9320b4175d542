package export

import (
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// firstType is the number of the first type that stands among methods.
const firstType = 1 << 24

// withTypes is the report with each type as a callee of the contexts that allocate
// it, for tools that know stacks alone. A type has no calls and no time, and its allocations
// are no longer the context's own. A recording without allocations stays as it is.
func (r *Report) withTypes() *Report {
	if !allocates(r.metrics()) {
		return r
	}
	out := *r
	tree := *r.Tree
	out.Tree, tree.Threads = &tree, nil
	var names []string
	numbers := map[string]int32{}
	number := func(t *cct.Type) int32 {
		id, ok := numbers[t.Name]
		if !ok {
			id = firstType + int32(len(names))
			numbers[t.Name] = id
			names = append(names, t.Name)
		}
		return id
	}
	for _, t := range r.Tree.Threads {
		c := *t
		c.Roots = cct.Merge(t.Roots) // nodes of their own
		for n := range cct.All(c.Roots) {
			n.MoveAllocs(number)
		}
		tree.Threads = append(tree.Threads, &c)
	}
	out.Lookup = func(id int32) (cct.Method, bool) {
		if i := int(id) - firstType; i >= 0 && i < len(names) {
			return cct.Method{Name: names[i]}, true
		}
		if r.Lookup == nil {
			return cct.Method{}, false
		}
		return r.Lookup(id)
	}
	return &out
}

// weightOf is what a metric of a report counts in a context; nil if it has none of that
// name. "" and "self" are the self time.
func (r *Report) weightOf(name string) func(*cct.Node) int64 {
	if name == "" || name == "self" {
		return func(n *cct.Node) int64 { return n.Self }
	}
	if name == "calls" {
		return func(n *cct.Node) int64 { return n.Calls }
	}
	i := r.metrics().Index(name)
	if i < 0 {
		return nil
	}
	return func(n *cct.Node) int64 { return own(n.Counts, i) }
}

// Weights are the names that [FormatOptions].Weight may have.
var Weights = func() []string {
	names := []string{"self", "calls"}
	for _, m := range metric.Counted() {
		names = append(names, m.Name)
	}
	return names
}()
