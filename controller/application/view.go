package application

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// leastLevels is how many contexts a fold stands for at least: one alone is shown.
const leastLevels = 2

// A View is a tree in which runs of frameworks' levels that lead to the application are
// folded. The first level of a run stays, so that one sees what the application called, or
// what called it. It is safe for concurrent use.
type View struct {
	Roots []*cct.Node // shared with the tree that was given where nothing is folded

	mu     sync.Mutex
	rules  *Rules
	lookup func(int32) cct.Method
	kinds  map[int32]Kind
	marks  map[*cct.Node]mark
	passes map[*cct.Node]bool
	runs   map[*cct.Node]*Run
}

// A mark says what lies in a node's subtree.
type mark uint8

const (
	leads   mark = 1 << iota // a framework's node that has the application's below
	changed                  // such a node is in the subtree
)

// A Run is what a folded node stands for.
type Run struct {
	Levels   int      // of the longest path through it
	Contexts int64    // that were folded
	Packages []string // those that hold the most time first

	tops   []*cct.Node // as given: the folded ones below the first level
	inside []*cct.Node // as shown when it is opened; nil until somebody asks
}

// Fold is the view of a tree; nil where nothing is folded, as in a tree of no frameworks
// and in one of nothing else. lookup names methods.
func Fold(roots []*cct.Node, rules *Rules, lookup func(int32) cct.Method) *View {
	v := &View{rules: rules, lookup: lookup, kinds: map[int32]Kind{}, marks: map[*cct.Node]mark{}, passes: map[*cct.Node]bool{}, runs: map[*cct.Node]*Run{}}
	v.mark(roots, Framework)
	if len(v.marks) == 0 {
		return nil
	}
	v.Roots = v.copied(roots, Caller)
	if len(v.runs) == 0 {
		return nil
	}
	return v
}

// Run is what a node of the view stands for; nil if it is one of the tree's own.
func (v *View) Run(n *cct.Node) *Run {
	if v == nil || n.Method != cct.Frameworks {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.runs[n]
}

// Passes tells whether a node only leads to the application: a limit of levels leaves
// it out.
func (v *View) Passes(n *cct.Node) bool {
	if v == nil {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.passes[n]
}

// Inside is what stands in the place of a run's node where it is opened. What lies
// further below is folded as before.
func (v *View) Inside(r *Run) []*cct.Node {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r.inside == nil {
		r.inside = v.copied(r.tops, Framework)
	}
	return r.inside
}

// kind says whose a node is, by its caller's.
func (v *View) kind(n *cct.Node, caller Kind) Kind {
	k, ok := v.kinds[n.Method]
	if !ok {
		if n.Method >= 0 {
			k = v.rules.Kind(v.lookup(n.Method))
		}
		v.kinds[n.Method] = k
	}
	if k == Caller {
		return caller
	}
	return k
}

// mark finds what the trees have, from callees to callers.
func (v *View) mark(roots []*cct.Node, caller Kind) {
	type level struct {
		kind      Kind
		app, some bool // in the subtree
	}
	path := []level{{kind: caller}}
	cct.Walk(roots, func(n *cct.Node, _ int) bool {
		k := v.kind(n, path[len(path)-1].kind)
		path = append(path, level{kind: k, app: k != Framework})
		return true
	}, func(n *cct.Node, _ int) {
		at := path[len(path)-1]
		path = path[:len(path)-1]
		var m mark
		if at.kind == Framework && at.app {
			m, at.some = leads|changed, true
		} else if at.some {
			m = changed
		}
		if m != 0 {
			v.marks[n] = m
		}
		above := &path[len(path)-1]
		above.app, above.some = above.app || at.app, above.some || at.some
	})
}

// An item is a copy whose children are still the given ones.
type item struct {
	node  *cct.Node
	kind  Kind
	first bool // of a run
}

// copied are the trees as the view shows them, below a caller of a kind; Caller is none.
func (v *View) copied(roots []*cct.Node, caller Kind) []*cct.Node {
	var todo []item
	// list copies nodes that hold something to fold.
	list := func(nodes []*cct.Node, caller Kind) []*cct.Node {
		out := slices.Clone(nodes)
		for i, n := range nodes {
			m := v.marks[n]
			if m == 0 {
				continue
			}
			c := n.WithChildren(n.Children)
			above := caller
			if above == Caller {
				above = Framework
			}
			k := v.kind(n, above)
			if m&leads != 0 {
				v.passes[c] = true
			}
			todo = append(todo, item{c, k, m&leads != 0 && (caller != Framework || n.Async() != nil)})
			out[i] = c
		}
		return out
	}
	top := list(roots, caller)
	for len(todo) > 0 {
		it := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		n := it.node
		if it.first {
			if fold, rest, hanging := v.fold(n.Children); fold != nil {
				fold.Children = list(hanging, Framework)
				cct.Order(fold.Children)
				n.Children = append(list(rest, Framework), fold)
				cct.Order(n.Children)
				continue
			}
		}
		n.Children = list(n.Children, it.kind)
	}
	return top
}

// fold puts a run's levels below its first one together: rest are the first one's callees
// that are none of these, hanging the callees of the folded ones. It is nil for a short run.
func (v *View) fold(children []*cct.Node) (fold *cct.Node, rest, hanging []*cct.Node) {
	r := &Run{}
	type at struct {
		node  *cct.Node
		level int
	}
	var todo []at
	var folded []*cct.Node
	most := map[string]int64{} // of one context, by package
	inRun := func(n *cct.Node) bool {
		return v.marks[n]&leads != 0 && n.Async() == nil
	}
	for _, c := range children {
		if inRun(c) {
			todo = append(todo, at{c, 1})
			r.tops = append(r.tops, c)
		} else {
			rest = append(rest, c)
		}
	}
	for len(todo) > 0 {
		a := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		folded = append(folded, a.node)
		r.Levels = max(r.Levels, a.level)
		if a.node.Method >= 0 {
			p := packageOf(v.lookup(a.node.Method))
			most[p] = max(most[p], a.node.Total)
		}
		for _, c := range a.node.Children {
			if inRun(c) {
				todo = append(todo, at{c, a.level + 1})
			} else {
				hanging = append(hanging, c)
			}
		}
	}
	if len(folded) < leastLevels {
		return nil, nil, nil
	}
	r.Contexts = int64(len(folded))
	r.Packages = slices.SortedFunc(maps.Keys(most), func(a, b string) int {
		return cmp.Or(cmp.Compare(most[b], most[a]), cmp.Compare(a, b))
	})
	hanging = v.together(hanging)
	fold = cct.Join(cct.Frameworks, folded, hanging)
	v.runs[fold], v.passes[fold] = r, true
	return fold, rest, hanging
}

// together merges nodes of the same method, which were reached on several paths.
func (v *View) together(nodes []*cct.Node) []*cct.Node {
	groups := map[int64][]*cct.Node{}
	var keys []int64
	for _, n := range nodes {
		if groups[n.Key()] == nil {
			keys = append(keys, n.Key())
		}
		groups[n.Key()] = append(groups[n.Key()], n)
	}
	if len(keys) == len(nodes) {
		return nodes
	}
	var out []*cct.Node
	for _, k := range keys {
		g := groups[k]
		if len(g) > 1 {
			g = cct.Merge(g)
			v.mark(g, Framework)
		}
		out = append(out, g...)
	}
	return out
}
