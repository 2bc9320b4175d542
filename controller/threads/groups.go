package threads

import (
	"cmp"
	"slices"
	"strings"
)

// A Group are threads that are at the same place in the same state.
type Group struct {
	State   string   `json:"state"`
	Threads []string `json:"threads"`
	Stack   []string `json:"stack"`
}

// Groups puts threads with alike stacks together, the largest group first.
func Groups(all []Thread) []Group {
	by := map[string]*Group{}
	var order []*Group
	for _, t := range all {
		if len(t.Stack) == 0 {
			continue
		}
		key := t.State + "\n" + strings.Join(t.Stack, "\n")
		g := by[key]
		if g == nil {
			g = &Group{State: t.State, Stack: t.Stack}
			by[key] = g
			order = append(order, g)
		}
		g.Threads = append(g.Threads, t.Name)
	}
	out := make([]Group, 0, len(order))
	for _, g := range order {
		out = append(out, *g)
	}
	slices.SortStableFunc(out, func(a, b Group) int { return cmp.Compare(len(b.Threads), len(a.Threads)) })
	return out
}
