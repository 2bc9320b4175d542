package top

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler/collect"
)

// callers are who calls a method, as a tree that begins with the method: below each its callers, by the time of the method
// in them. Of a recursion the outermost call counts.
func callers(roots []*cct.Node, method int32) *cct.Node {
	top := &cct.Node{Method: method}
	var path []int32
	var walk func(list []*cct.Node, inside bool)
	walk = func(list []*cct.Node, inside bool) {
		for _, n := range list {
			is := n.Method == method
			if is && !inside {
				top.Total, top.Self = top.Total+n.Total, top.Self+n.Self
				at := top
				for _, m := range slices.Backward(path) {
					at = childOf(at, m)
					at.Total += n.Total
				}
			}
			path = append(path, n.Method)
			walk(n.Children, inside || is)
			path = path[:len(path)-1]
		}
	}
	walk(roots, false)
	return top
}

func childOf(n *cct.Node, method int32) *cct.Node {
	for _, c := range n.Children {
		if c.Method == method {
			return c
		}
	}
	c := &cct.Node{Method: method}
	n.Children = append(n.Children, c)
	return c
}

// callersOf are the callers of a method as lines under a head.
func callersOf(v *collect.View, name string, o Options) []string {
	lines := []string{" total %  call path of " + export.Clean(short(name)) + ", its callers below it"}
	took := float64(max(v.Took, 1))
	for _, id := range methodsOf(v.Tree) {
		if m, _ := v.Lookup(id); m.Name != name {
			continue
		}
		top := callers(v.Tree, id)
		hottest([]*cct.Node{top}, o.Rows, func(n *cct.Node, depth int) {
			m, _ := v.Lookup(n.Method)
			lines = append(lines, fmt.Sprintf("%8.1f  %s%s", 100*float64(n.Total)/took, strings.Repeat(" ", min(depth, mostIndent)), export.Clean(short(m.Name))))
		})
	}
	if len(lines) == 1 {
		lines = append(lines, "          not met here")
	}
	return lines
}

// methodsOf are the methods of a tree, in order.
func methodsOf(roots []*cct.Node) []int32 {
	there := map[int32]bool{}
	for n := range cct.All(roots) {
		there[n.Method] = true
	}
	return slices.Sorted(maps.Keys(there))
}

// hottest tells of the nodes with the most time, as many as there is room for, each below its parent.
func hottest(roots []*cct.Node, rows int, tell func(n *cct.Node, depth int)) {
	shown := map[*cct.Node]bool{}
	rest := slices.Clone(roots) // what can be shown next
	for range rows {
		best := -1
		for i, n := range rest {
			if best < 0 || n.Total > rest[best].Total {
				best = i
			}
		}
		if best < 0 || rest[best].Total == 0 {
			break
		}
		n := rest[best]
		shown[n] = true
		rest = append(slices.Delete(rest, best, best+1), n.Children...)
	}
	var add func(list []*cct.Node, depth int)
	add = func(list []*cct.Node, depth int) {
		for _, n := range byTotal(list) {
			if shown[n] {
				tell(n, depth)
				add(n.Children, depth+1)
			}
		}
	}
	add(roots, 0)
}

func byTotal(list []*cct.Node) []*cct.Node {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *cct.Node) int { return int(min(max(b.Total-a.Total, -1), 1)) })
	return list
}

// flame is a flame graph of so many rows and columns: the outermost calls first, each as wide as its share of the time.
func flame(v *collect.View, o Options) []string {
	width := max(o.Width, 1)
	lines := []string{"flame graph: a call's width is its time, what it calls is below it"}
	type box struct {
		nodes    []*cct.Node
		from, to int // columns
	}
	all := int64(0)
	for _, n := range v.Tree {
		all += n.Total
	}
	if all <= 0 {
		return append(lines, "nothing was sampled here")
	}
	row := []box{{v.Tree, 0, width}}
	for range o.Rows {
		var next []box
		last := 0
		line := &strings.Builder{}
		for _, b := range row {
			at := float64(b.from)
			for _, n := range byTotal(b.nodes) {
				from := int(at)
				at += float64(n.Total) / float64(all) * float64(width)
				to := min(int(at), b.to)
				if to-from < 1 {
					continue
				}
				m, _ := v.Lookup(n.Method)
				line.WriteString(strings.Repeat(" ", from-last))
				line.WriteString(boxed(export.Clean(short(m.Name)), to-from))
				last = to
				next = append(next, box{n.Children, from, to})
			}
		}
		if len(next) == 0 {
			break
		}
		lines = append(lines, line.String())
		row = next
	}
	return lines
}

// boxed is a name in a box of so many columns. Of a name that is too long the end is shown: the method.
func boxed(name string, width int) string {
	if width == 1 {
		return "|"
	}
	room := width - 1
	if w := export.Width(name); w > room {
		if i := strings.LastIndexByte(name, '.'); i >= 0 && export.Width(name[i+1:]) <= room {
			name = name[i+1:]
		}
	}
	return "|" + export.Pad(export.Fit(name, room), room)
}
