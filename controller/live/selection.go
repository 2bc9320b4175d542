package live

import (
	"math"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/application"
	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// A selection is the tree of a frame that a query is about. It draws views out of one frame for one client.
type selection struct {
	f      *Frame
	key    treeKey
	roots  []*cct.Node
	view   *application.View // of these; nil where no levels of frameworks are folded
	unfold map[int32]bool    // paths of folds that are open
}

func (f *Frame) selection(q *Query) selection {
	v := selection{f: f, key: q.key(), roots: f.tree(q.key())}
	if q.Frameworks {
		if v.view = f.folded(q.key(), q.app); v.view != nil {
			v.roots, v.unfold = v.view.Roots, set(q.Unfold)
		}
	}
	return v
}

// A viewKey chooses one of a frame's trees with levels of frameworks folded.
type viewKey struct {
	tree treeKey
	app  string // the application's packages, as a person has named them
}

// folded is a tree with the levels of frameworks folded; nil where there is nothing to fold.
func (f *Frame) folded(k treeKey, app []string) *application.View {
	roots := f.tree(k)
	key := viewKey{k, strings.Join(app, " ")}
	f.mu.Lock()
	defer f.mu.Unlock()
	v, ok := f.views[key]
	if ok {
		return v
	}
	if rules, err := application.New(app, f.Report.Target.Main); err == nil { // packages were checked when they were given
		v = application.Fold(roots, rules, f.method)
	}
	f.views[key] = v
	return v
}

// kids are nodes as this client sees them: with what stands in the place of folds that
// are open. above is the path of their caller.
func (v selection) kids(nodes []*cct.Node, above int32) []*cct.Node {
	if v.view == nil || len(v.unfold) == 0 {
		return nodes
	}
	for i, n := range nodes {
		r := v.view.Run(n)
		if r != nil && v.unfold[v.f.numbering.findPath(above, v.f.edge(n))] {
			return append(append(nodes[:i:i], v.view.Inside(r)...), nodes[i+1:]...) // a node has one fold at the most
		}
	}
	return nodes
}

// method is the number of what a row shows as the method of a node, whose edge is given.
func (v selection) method(n *cct.Node, edge int32) int32 {
	if r := v.view.Run(n); r != nil {
		return v.f.numbering.addMethod(cct.Method{Name: r.Label(), Loader: foldLoader})
	}
	return methodOf(edge)
}

// foldEdge is the edge to a node that stands for levels of frameworks: no method's.
const foldEdge = math.MaxInt32

// foldLoader keeps what is no method apart from all methods.
const foldLoader = "frameworks"

// hot is the hot path from the root on, as numbers of paths, as far as it can be shown.
func (v selection) hot() []int32 {
	path := []int32{}
	above, own := int32(0), int64(0)
	for nodes := v.roots; len(path) < maxDepth; {
		var next *cct.Node
		for _, n := range v.kids(nodes, above) {
			if next == nil || n.Total > next.Total {
				next = n
			}
		}
		if next == nil || next.Total <= 0 || len(path) > 0 && next.Total < own {
			break
		}
		if above = v.f.numbering.addPath(above, v.f.edge(next)); above == 0 {
			break
		}
		path = append(path, above)
		nodes, own = next.Children, next.Self
	}
	return path
}

// find is the node at the end of a path; nil if this tree doesn't have it.
func (v selection) find(path int32) *cct.Node {
	var at *cct.Node
	nodes, above := v.roots, int32(0)
	for _, edge := range v.f.numbering.edges(path) {
		at = nil
		for _, n := range v.kids(nodes, above) {
			if v.f.edge(n) == edge {
				at = n
				break
			}
		}
		if at == nil {
			return nil
		}
		above, nodes = v.f.numbering.findPath(above, edge), at.Children
	}
	return at
}

// stepMethod is the number of what is shown as the method at the end of a path.
func (v selection) stepMethod(path, edge int32) int32 {
	if edge == foldEdge {
		if n := v.find(path); n != nil {
			return v.method(n, edge)
		}
	}
	return methodOf(edge)
}
