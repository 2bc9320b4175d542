package live

import (
	"cmp"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// Flags of a row.
const (
	rowOpen       = 1 << iota // its children follow
	rowIncomplete             // a wait at this node timed out
	rowHot                    // on the hot path
	rowAsync                  // executions of tasks that the caller handed over
	RowCounted                // only counted: its time is its caller's
	RowFold                   // stands for levels of frameworks, which the method's name says
	rowType                   // in a flame graph: stands for what is allocated of a type, which the method's name says
)

// A Row is a node of the tree: [path, depth, method, flags, calls, thrown, self, measured,
// error, total, children, recursion levels folded, waited, longest wait]. Times are in ns.
// waited is how long tasks waited between hand-over and execution.
type Row [14]int64

// A TreeView is a window of the expandable table.
type TreeView struct {
	Total int64   `json:"total"` // ns of the whole tree, what shares are of
	Count int     `json:"count"` // rows that there are
	From  int     `json:"from"`
	Found int     `json:"found"` // the row of the path that was looked for, -1 if it isn't there
	Rows  []Row   `json:"rows"`
	Hot   []int32 `json:"hot"` // the hot path, from the root on

	// Metrics are those that the recording has beside calls, thrown and time, and
	// Counts each row's own and total of each in turn.
	Metrics []metric.Metric `json:"metrics,omitempty"`
	Counts  [][]int64       `json:"counts,omitempty"`

	// Processes are those of several whose recordings were put together, Parts each row's total in each of them, ns.
	Processes []export.ProcessPart `json:"processes,omitempty"`
	Parts     [][]int64            `json:"parts,omitempty"`
}

// tree cuts the window out of the table. It costs time in proportion to the
// rows above the window's end and to the children of the open nodes.
func (v selection) tree(l *TreeQuery) TreeView {
	view := TreeView{Total: total(v.roots), From: l.From, Found: -1, Rows: []Row{}, Hot: v.hot(), Metrics: v.f.metricsOf(v.key), Processes: v.f.Report.ProcessParts(v.roots)}
	open := set(l.Open)
	hot := set(view.Hot)
	type level struct {
		nodes []*cct.Node
		above int32
	}
	stack := []level{{v.f.sorted(v.kids(v.roots, 0), nil, l.Sort, l.Up), 0}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.nodes) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		n, above, depth := top.nodes[0], top.above, len(stack)-1
		top.nodes = top.nodes[1:]
		shown := view.Count >= l.From && len(view.Rows) < l.Rows
		view.Count++
		edge := v.f.edge(n)
		path := v.f.numbering.findPath(above, edge)
		if shown && path == 0 {
			path = v.f.numbering.addPath(above, edge)
		}
		isOpen := open[path] && path != 0 && len(n.Children) > 0
		if path != 0 && path == l.Find {
			view.Found = view.Count - 1
		}
		if shown {
			r := Row{
				int64(path), int64(depth), int64(v.method(n, edge)), 0, n.Calls, n.Thrown, n.Self, n.Raw, n.Error, n.Total,
				int64(len(n.Children)), int64(n.Levels), 0, 0,
			}
			if isOpen {
				r[3] |= rowOpen
			}
			if n.Incomplete {
				r[3] |= rowIncomplete
			}
			if v.f.Report.Counted[n.Method] {
				r[3] |= RowCounted
			}
			if hot[path] {
				r[3] |= rowHot
			}
			if n.Method == cct.Frameworks {
				r[3] |= RowFold
			}
			if a := n.Async(); a != nil {
				r[3] |= rowAsync
				r[12], r[13] = a.Waited, a.Longest
			}
			view.Rows = append(view.Rows, r)
			if view.Metrics != nil {
				view.Counts = append(view.Counts, v.f.counts(n.Counts))
			}
			if view.Processes != nil {
				view.Parts = append(view.Parts, export.PartsOf(n, view.Processes))
			}
		}
		if isOpen && depth < maxDepth {
			kids, of := v.kids(n.Children, path), n
			if len(v.unfold) > 0 {
				of = nil // the list is this client's
			}
			stack = append(stack, level{v.f.sorted(kids, of, l.Sort, l.Up), path})
		}
	}
	return view
}

func set(list []int32) map[int32]bool {
	m := make(map[int32]bool, len(list))
	for _, k := range list {
		m[k] = true
	}
	return m
}

type childKey struct {
	node *cct.Node
	sort string
	up   bool
}

// wide is from how many children on their order is kept for the next client.
const wide = 64

// sorted orders the children of a node; the roots, whose node is nil, too.
func (f *Frame) sorted(nodes []*cct.Node, of *cct.Node, by string, up bool) []*cct.Node {
	k := childKey{of, by, up}
	keep := of != nil && len(nodes) >= wide
	if keep {
		f.mu.Lock()
		got, ok := f.children[k]
		f.mu.Unlock()
		if ok {
			return got
		}
	}
	out := slices.Clone(nodes)
	by, counted := f.countKey(by)
	slices.SortFunc(out, order(by, "total", up,
		func(n *cct.Node) amounts {
			return amounts{total: n.Total, self: n.Self, calls: n.Calls, thrown: n.Thrown, error: n.Error, count: counted(n.Counts)}
		},
		func(n *cct.Node) string { return f.method(n.Method).Name },
		func(a, b *cct.Node) int { return cmp.Compare(a.Method, b.Method) }))
	if keep {
		f.mu.Lock()
		f.children[k] = out
		f.mu.Unlock()
	}
	return out
}
