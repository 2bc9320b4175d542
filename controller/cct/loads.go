package cct

import (
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// A Load is a class that was loaded because a context needed it. It is never changed.
type Load struct {
	Class  string // as in sources, "shop.Order$Line"
	Loader string // that has defined it: "boot", "platform", "app", or its class and name
	From   string // where its loader found it, a path or a URL; "" if it does not say so
	At     int64  // when, in ns since the recording began

	// Took is how long the load took in ns, those of superclasses and others that it needed
	// included, and Own what of it was no other load's; both [NotKnown] where nobody timed it. What the profiler
	// made the thread wait is in neither.
	Took, Own int64
}

// Loads are classes that one context has caused to be loaded, in order. A list is never changed.
type Loads struct{ List []Load }

// plus puts the loads of two contexts together, either of which may be nil.
func (l *Loads) plus(o *Loads) *Loads {
	switch {
	case o == nil:
		return l
	case l == nil:
		return o
	}
	return &Loads{append(slices.Clip(l.List), o.List...)}
}

// All are the loads; none of nil.
func (l *Loads) All() []Load {
	if l == nil {
		return nil
	}
	return l.List
}

// Loaded adds classes that the node has caused to be loaded, also to its own figures where its recording
// has such. Totals are not changed.
func (n *Node) Loaded(l *Loads) {
	if l != nil {
		n.Details().Loads = n.Loads().plus(l)
	}
	if n.Counts == nil || l == nil {
		return
	}
	if i := n.Counts.Table.Index(metric.ClassLoads.Name); i >= 0 {
		n.Counts.Own[i] += int64(len(l.List))
	}
	if i := n.Counts.Table.Index(metric.ClassLoadTime.Name); i >= 0 {
		for _, k := range l.List {
			n.Counts.Own[i] += max(k.Own, 0)
		}
	}
}

// A Caused is a load with its context: the methods from the root to the one that needed the class.
type Caused struct {
	Load
	Thread *Thread
	Path   []*Node
}

// Caused are the classes that were loaded in a snapshot's trees, by the time of their loads.
func (s *Snapshot) Caused() (out []Caused) {
	for _, t := range s.Threads {
		var path []*Node
		Walk(t.Roots, func(n *Node, _ int) bool {
			path = append(path, n)
			for _, l := range n.Loads().All() {
				out = append(out, Caused{l, t, slices.Clone(path)})
			}
			return true
		}, func(*Node, int) { path = path[:len(path)-1] })
	}
	slices.SortStableFunc(out, func(a, b Caused) int { return int(min(max(a.At-b.At, -1), 1)) })
	return out
}
