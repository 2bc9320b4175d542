package event

import "github.com/rivulet-profiler/rivulet/controller/cct"

// A Difference is a context in which two trees don't agree.
type Difference struct {
	Path []int32 // methods, the root first
	A, B cct.Node
}

// Differences compares the trees of all threads, merged by path: calls, those
// that ended by an exception, and self times must be the same to the last ns.
// Contexts without calls, which a wait for a reveal can leave behind, count as
// absent. It returns how many contexts differ, and the first few.
func Differences(a, b *cct.Snapshot) (n int64, some []Difference) {
	type pair struct {
		a, b *cct.Node
		path []int32
	}
	one := func(roots []*cct.Node) *cct.Node { return &cct.Node{Children: cct.Merge(roots)} }
	stack := []pair{{a: one(a.Roots()), b: one(b.Roots())}}
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if p.a.Calls != p.b.Calls || p.a.Thrown != p.b.Thrown || p.a.Self != p.b.Self {
			if n++; len(some) < 5 {
				some = append(some, Difference{p.path, *p.a, *p.b})
			}
		}
		others := map[int64]*cct.Node{}
		for _, c := range p.b.Children {
			others[c.Key()] = c
		}
		push := func(a, b *cct.Node, method int32) {
			if a.Calls+b.Calls > 0 {
				stack = append(stack, pair{a, b, append(p.path[:len(p.path):len(p.path)], method)})
			}
		}
		for _, c := range p.a.Children {
			o := others[c.Key()]
			delete(others, c.Key())
			if o == nil {
				o = &cct.Node{}
			}
			push(c, o, c.Method)
		}
		for _, c := range others {
			push(&cct.Node{}, c, c.Method)
		}
	}
	return n, some
}
