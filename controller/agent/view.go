package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.starlark.net/starlark"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// nodeBytes is about what a node of a tree keeps.
const nodeBytes = 256

// A plain value has no order, no length, and can't be changed.
type plain struct{}

func (plain) Freeze()              {}
func (plain) Truth() starlark.Bool { return true }

// names are the methods of one snapshot, parsed as they are asked for.
type names struct {
	lookup func(int32) cct.Method

	mu    sync.Mutex // an activation that did not come back may go on
	known map[int32]method
}

// A method is the parts of a method's name.
type method struct{ full, name, class, pkg, loader string }

func (n *names) of(id int32) method {
	n.mu.Lock()
	defer n.mu.Unlock()
	m, ok := n.known[id]
	if !ok {
		c := n.lookup(id)
		m = split(c.Name)
		m.loader = c.Loader
		n.known[id] = m
	}
	return m
}

// split cuts "pkg.Outer$Inner.name(desc)ret".
func split(full string) (m method) {
	m.full = full
	m.name, _, _ = strings.Cut(full, "(")
	if dot := strings.LastIndexByte(m.name, '.'); dot > 0 {
		m.class = m.name[:dot]
		if dot = strings.LastIndexByte(m.class, '.'); dot > 0 {
			m.pkg = m.class[:dot]
		}
	}
	return m
}

func (m method) attr(name string) starlark.Value {
	switch name {
	case "method":
		return starlark.String(m.full)
	case "name":
		return starlark.String(m.name)
	case "class_name":
		return starlark.String(m.class)
	case "package":
		return starlark.String(m.pkg)
	case "loader":
		return starlark.String(m.loader)
	}
	return nil
}

var methodAttrs = []string{"method", "name", "class_name", "package", "loader"}

// figures are what a context, or a method, was measured to be.
type figures struct {
	calls, thrown, self, total int64
	counts                     *metric.Values
}

func (f figures) attr(name string) starlark.Value {
	switch name {
	case "calls":
		return starlark.MakeInt64(f.calls)
	case "thrown":
		return starlark.MakeInt64(f.thrown)
	case "self_ns":
		return starlark.MakeInt64(f.self)
	case "total_ns":
		return starlark.MakeInt64(f.total)
	}
	if f.counts == nil {
		return nil
	}
	for i, m := range f.counts.Table.All() {
		switch name {
		case m.Self:
			return starlark.MakeInt64(f.counts.Own[i])
		case m.Total:
			return starlark.MakeInt64(f.counts.Total[i])
		}
	}
	return nil
}

// figureAttrs are the names of the figures that a recording has.
func figureAttrs(t *metric.Table) []string {
	var out []string
	for _, m := range slices.Concat(metric.Fixed, t.All()) {
		out = append(out, m.Self)
		if m.Total != "" {
			out = append(out, m.Total)
		}
	}
	return out
}

// A tree is a list of contexts.
type tree struct {
	plain
	names *names
	table *metric.Table
	roots []*cct.Node
	sums  cct.Sums
}

func newTree(n *names, t *metric.Table, roots []*cct.Node) *tree {
	return &tree{names: n, table: t, roots: roots, sums: cct.Sum(roots)}
}

func (t *tree) String() string        { return fmt.Sprintf("<tree of %d contexts>", t.sums.Nodes) }
func (t *tree) Type() string          { return "tree" }
func (t *tree) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: %s", t.Type()) }
func (t *tree) keeps() int64          { return t.sums.Nodes * nodeBytes }

func (t *tree) AttrNames() []string { return []string{"contexts", "flat", "nodes", "roots", "sum"} }

// Attr implements starlark.HasAttrs.
func (t *tree) Attr(name string) (starlark.Value, error) {
	switch name {
	case "contexts":
		return starlark.MakeInt64(t.sums.Nodes), nil
	case "roots":
		return list(t.children(nil, t.roots)), nil
	case "nodes":
		return starlark.NewBuiltin("nodes", func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
			return &walk{tree: t}, starlark.UnpackArgs(b.Name(), args, kw)
		}), nil
	case "flat":
		return starlark.NewBuiltin("flat", t.flat), nil
	case "sum":
		return starlark.NewBuiltin("sum", t.sum), nil
	}
	return nil, nil
}

func list[V starlark.Value](values []V) *starlark.List {
	out := make([]starlark.Value, len(values))
	for i, v := range values {
		out[i] = v
	}
	return starlark.NewList(out)
}

// sum is a figure added up over all contexts, named as in JSON: "calls", "self_bytecodes".
func (t *tree) sum(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	var name string
	if err := starlark.UnpackArgs(b.Name(), args, kw, "figure", &name); err != nil {
		return nil, err
	}
	f := figures{calls: t.sums.Calls, thrown: t.sums.Thrown, self: t.sums.Self, counts: t.sums.Counts}
	if !strings.HasPrefix(name, "total_") {
		if v := f.attr(name); v != nil {
			return v, nil
		}
		if slices.Contains(figureAttrs(t.table), name) {
			return starlark.MakeInt(0), nil // nothing was recorded yet
		}
	}
	return nil, fmt.Errorf("%s: there is no figure %q to add up; there are %s", b.Name(), name, strings.Join(addable(t.table), ", "))
}

func addable(t *metric.Table) []string {
	return slices.DeleteFunc(figureAttrs(t), func(s string) bool { return strings.HasPrefix(s, "total_") })
}

// flat lists methods over all their contexts, by name.
func (t *tree) flat(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackArgs(b.Name(), args, kw); err != nil {
		return nil, err
	}
	var rows []*row
	for _, f := range cct.FlatOf(t.roots) {
		rows = append(rows, &row{of: t.names.of(f.Method), table: t.table, contexts: f.Contexts, figures: figures{f.Calls, f.Thrown, f.Self, f.Total, f.Counts}, allocs: f.Allocs})
	}
	slices.SortFunc(rows, func(a, b *row) int { return a.of.compare(b.of) })
	return list(rows), nil
}

func (m method) compare(o method) int {
	return cmp.Or(strings.Compare(m.full, o.full), strings.Compare(m.loader, o.loader))
}

// allocations lists what was allocated, by type.
func allocations(of []cct.Alloc) *starlark.List {
	of = slices.SortedFunc(slices.Values(of), func(a, b cct.Alloc) int { return strings.Compare(a.Type.Name, b.Type.Name) })
	out := make([]starlark.Value, len(of))
	for i, a := range of {
		d := starlark.NewDict(4)
		bytes := starlark.Value(starlark.None)
		if a.Bytes >= 0 {
			bytes = starlark.MakeInt64(a.Bytes)
		}
		for _, p := range []starlark.Tuple{
			{starlark.String("type"), starlark.String(a.Type.Name)},
			{starlark.String("objects"), starlark.MakeInt64(a.Objects)},
			{starlark.String("elements"), starlark.MakeInt64(a.Elements)},
			{starlark.String("bytes"), bytes},
		} {
			d.SetKey(p[0], p[1]) //nolint:errcheck // strings can be keys
		}
		out[i] = d
	}
	return starlark.NewList(out)
}

// A row is a method over all its contexts.
type row struct {
	plain
	of       method
	table    *metric.Table
	contexts int64
	figures  figures
	allocs   []cct.Alloc
}

func (r *row) String() string        { return "<" + r.of.full + ">" }
func (r *row) Type() string          { return "method" }
func (r *row) Hash() (uint32, error) { return starlark.String(r.of.full).Hash() }

func (r *row) AttrNames() []string {
	return slices.Sorted(slices.Values(slices.Concat(methodAttrs, figureAttrs(r.table), []string{"allocations", "contexts"})))
}

// Attr implements starlark.HasAttrs.
func (r *row) Attr(name string) (starlark.Value, error) {
	switch name {
	case "contexts":
		return starlark.MakeInt64(r.contexts), nil
	case "allocations":
		return allocations(r.allocs), nil
	}
	return first(r.of.attr(name), r.figures.attr(name)), nil
}

// first is the first value that there is; nil if there is none.
func first(values ...starlark.Value) starlark.Value {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}

// A node is a context.
type node struct {
	plain
	tree   *tree
	n      *cct.Node
	parent *node // nil of a root
	depth  int   // 0 of a root
}

// children are callees, by name.
func (t *tree) children(parent *node, nodes []*cct.Node) []*node {
	depth := 0
	if parent != nil {
		depth = parent.depth + 1
	}
	out := make([]*node, len(nodes))
	for i, n := range nodes {
		out[i] = &node{tree: t, n: n, parent: parent, depth: depth}
	}
	if len(out) > 1 {
		slices.SortFunc(out, func(a, b *node) int {
			return cmp.Or(t.names.of(a.n.Method).compare(t.names.of(b.n.Method)), cmp.Compare(async(a.n), async(b.n)))
		})
	}
	return out
}

func async(n *cct.Node) int {
	if n.Async() != nil {
		return 1
	}
	return 0
}

func (n *node) method() method        { return n.tree.names.of(n.n.Method) }
func (n *node) String() string        { return "<context " + n.method().full + ">" }
func (n *node) Type() string          { return "context" }
func (n *node) Hash() (uint32, error) { return uint32(n.n.Method)*31 + uint32(n.depth), nil }
func (n *node) keeps() int64          { return n.tree.keeps() }

func (n *node) AttrNames() []string {
	own := []string{"allocations", "children", "depth", "incomplete", "parent", "path", "task"}
	return slices.Sorted(slices.Values(slices.Concat(methodAttrs, figureAttrs(n.tree.table), own)))
}

// Attr implements starlark.HasAttrs.
func (n *node) Attr(name string) (starlark.Value, error) {
	switch name {
	case "children":
		return list(n.tree.children(n, n.n.Children)), nil
	case "allocations":
		return allocations(n.n.Allocs()), nil
	case "depth":
		return starlark.MakeInt(n.depth), nil
	case "incomplete":
		return starlark.Bool(n.n.Incomplete), nil
	case "task":
		return starlark.Bool(n.n.Async() != nil), nil
	case "parent":
		if n.parent == nil {
			return starlark.None, nil
		}
		return n.parent, nil
	case "path":
		path := make(starlark.Tuple, n.depth+1)
		for at := n; at != nil; at = at.parent {
			path[at.depth] = starlark.String(at.method().name)
		}
		return path, nil
	}
	f := figures{n.n.Calls, n.n.Thrown, n.n.Self, n.n.Total, n.n.Counts}
	return first(n.method().attr(name), f.attr(name)), nil
}

// A walk is all contexts of a tree, callers before their callees, callees by name.
type walk struct {
	plain
	tree *tree
}

func (w *walk) String() string        { return "<contexts>" }
func (w *walk) Type() string          { return "contexts" }
func (w *walk) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: %s", w.Type()) }
func (w *walk) keeps() int64          { return w.tree.keeps() }

// Iterate implements starlark.Iterable.
func (w *walk) Iterate() starlark.Iterator {
	it := &walker{tree: w.tree}
	it.push(w.tree.children(nil, w.tree.roots))
	return it
}

type walker struct {
	tree  *tree
	stack []*node
}

func (w *walker) push(nodes []*node) {
	for _, n := range slices.Backward(nodes) {
		w.stack = append(w.stack, n)
	}
}

func (w *walker) Next(p *starlark.Value) bool {
	if len(w.stack) == 0 {
		return false
	}
	n := w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	*p = n
	w.push(w.tree.children(n, n.n.Children))
	return true
}

func (w *walker) Done() {}
