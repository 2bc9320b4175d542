package export

import (
	"fmt"
	"math"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/application"
	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// A branch is a line of the tree still to be written: a node, or the fold of
// several.
type branch struct {
	node   *cct.Node
	fold   cct.Fold
	what   string // of the fold: "smaller", "deeper"
	prefix string // of the lines below it
	joint  string // before its own label
	depth  int
	level  int // as a limit of levels counts them: without those that only lead to the application
}

func (t *textWriter) tree() {
	t.section("Calling context tree, all threads (* hot path)")
	roots := t.folded(cct.FoldRecursion(t.figures.snapshot.Roots()))
	hot := map[*cct.Node]bool{}
	for _, n := range cct.HotPath(roots) {
		hot[n] = true
	}
	var top map[*cct.Node]bool
	if t.o.Contexts > 0 {
		top = cct.Top(roots, t.o.Contexts)
	}
	metrics := t.report.metrics()
	table := table{head: slices.Concat([]string{t.report.calls(), "thrown", "self", "total", "share", "on cpu"}, CountHeads(metrics.All()), []string{"  method"})}
	samples := map[*cct.Node]cct.Sample{}
	if t.report.CPU != nil {
		samples = cct.SampleTotals(roots)
	}
	// Work in progress: the last element is the next line.
	var todo []branch
	push := func(lines []branch) {
		for i := len(lines) - 1; i >= 0; i-- {
			todo = append(todo, lines[i])
		}
	}
	shown, fold := roots, cct.Fold{}
	if top != nil {
		shown, fold = foldBut(roots, top)
	}
	if fold.Branches > 0 {
		todo = append(todo, branch{fold: fold, what: "smaller"})
	}
	for i := len(shown) - 1; i >= 0; i-- {
		todo = append(todo, branch{node: shown[i]})
	}
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if b.node == nil {
			cells := []string{Count(b.fold.Calls), t.thrown(b.fold.Thrown), "", Duration(b.fold.Total), share(b.fold.Total, t.sums.Self), ""}
			for i, m := range metrics.All() { // of a fold its own sum is the total
				cells = append(cells, "")
				if m.Rate != "" {
					cells = append(cells, "")
				}
				if m.Total != "" {
					cells = append(cells, figure(m.Unit, own(b.fold.Counts, i)))
				}
			}
			table.add("  "+b.joint+foldLabel(b), styleFold, cells...)
			continue
		}
		n := b.node
		mark, style := "  ", ""
		if n.Method == cct.Frameworks {
			style = styleFold
		}
		if hot[n] {
			mark, style = "* ", styleHot
		}
		self, total, part := Duration(n.Self), Duration(n.Total), share(n.Total, t.sums.Self)
		if t.report.Counted[n.Method] {
			self = noTime
			if n.Total == 0 {
				total, part = noTime, ""
			}
		}
		cells := []string{Count(n.Calls), t.thrown(n.Thrown), self, total, part, t.onCPU(samples[n])}
		table.add(mark+b.joint+t.nodeLabel(b), style, append(cells, countCells(metrics, n.Counts, t.report.Counted[n.Method], n.Self, n.Uncertainty)...)...)
		t.estimated(&table, b, len(table.head)-1)
		push(t.below(b, len(table.rows)+len(todo), top))
	}
	table.write(&t.sink, t.o.Color, t.o.Width)
	if t.view != nil && t.o.Frameworks.Hint != "" {
		t.printf("… levels of frameworks that lead to the application are folded; %s\n", t.o.Frameworks.Hint)
	}
}

// folded sorts a tree, and folds its frameworks' levels where that is wanted.
func (t *textWriter) folded(roots []*cct.Node) []*cct.Node {
	cct.Sort(roots)
	t.view = nil
	if t.rules == nil {
		return roots
	}
	if t.view = application.Fold(roots, t.rules, t.report.Method); t.view == nil {
		return roots
	}
	return t.view.Roots
}

// foldBut folds all nodes but those of a set.
func foldBut(nodes []*cct.Node, top map[*cct.Node]bool) (shown []*cct.Node, fold cct.Fold) {
	var rest []*cct.Node
	for _, n := range nodes {
		if top[n] {
			shown = append(shown, n)
		} else {
			rest = append(rest, n)
		}
	}
	return shown, cct.FoldAll(rest)
}

// below is what is written below a node, in order. top, if it isn't nil, says
// which nodes are.
func (t *textWriter) below(b branch, rows int, top map[*cct.Node]bool) []branch {
	var lines []branch
	level := b.level
	if !t.view.Passes(b.node) {
		level++
	}
	least := int64(smallShare * math.Max(float64(t.sums.Self), 0))
	if kids := b.node.Children; len(kids) == 0 {
		return nil
	} else if top == nil && t.o.Depth > 0 && level >= t.o.Depth || rows > mostRows {
		lines = []branch{{fold: cct.FoldAll(kids), what: "deeper"}}
	} else {
		shown, fold := cct.FoldSmall(kids, least, mostChildren)
		if top != nil {
			shown, fold = foldBut(kids, top)
		}
		for _, n := range shown {
			lines = append(lines, branch{node: n})
		}
		if fold.Branches > 0 {
			lines = append(lines, branch{fold: fold, what: "smaller"})
		}
	}
	for i := range lines {
		l := &lines[i]
		l.depth, l.level = b.depth+1, level
		joint, pass := "├─ ", "│  "
		if i == len(lines)-1 {
			joint, pass = "└─ ", "   "
		}
		l.joint, l.prefix = b.prefix+joint, b.prefix+pass
		if l.depth > mostIndent { // the prefix stays as wide as it is
			l.prefix = b.prefix
		}
	}
	return lines
}

// noTime stands where a time is the caller's.
const noTime = "-"

// asyncMark stands before what is executed as a task.
const asyncMark = "⇢ "

func (t *textWriter) nodeLabel(b branch) string {
	if run := t.view.Run(b.node); run != nil {
		return "… " + run.Label()
	}
	label := t.labels[b.node.Method]
	if b.node.Method == cct.Unplaced {
		label = noRoom
	}
	if b.depth > mostIndent {
		label = fmt.Sprintf("[level %d] %s", b.depth+1, label)
	}
	if a := b.node.Async(); a != nil {
		label = asyncMark + label + " (asynchronous; waited " + Duration(a.Waited)
		if b.node.Calls > 1 {
			label += ", " + Duration(a.Longest) + " at the longest"
		}
		label += ")"
	}
	if n := b.node.Levels; n > 1 {
		label += fmt.Sprintf(" (recursive, %d levels)", n)
	}
	if b.node.Folded {
		label += " (recursion folded)"
	}
	if n := t.report.Method(b.node.Method).Hidden; n > 0 {
		label += fmt.Sprintf(" (calls up to %s)", Plural(int64(n), "hidden method", "hidden methods"))
	}
	if b.node.Incomplete {
		label += " (incomplete)"
	}
	if o := t.report.oddPart(b.node); o != nil {
		label += " (" + o.short() + ")"
	}
	return label
}

func foldLabel(b branch) string {
	f := b.fold
	label := "… " + Plural(int64(f.Branches), b.what+" branch", b.what+" branches")
	if f.Nodes > int64(f.Branches) {
		label += ", " + Plural(f.Nodes, "call path", "call paths")
	}
	if b.what == "deeper" && f.Depth > 1 {
		label += ", " + Plural(int64(f.Depth), "level", "levels")
	}
	return label
}
