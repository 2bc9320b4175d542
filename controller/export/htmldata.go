package export

import (
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// pageReport is what a page unpacks beside the trees.
type pageReport struct {
	Head   any      `json:"head"` // as in JSON of schema 1
	Exact  bool     `json:"exact"`
	Pauses []string `json:"pauses"`
	Odd    []string `json:"odd"` // sentences on the processes that are far off

	Processes []ProcessPart   `json:"processes"` // that the tree has columns of
	Metrics   []metric.Metric `json:"metrics"`
	Methods   pageMethods     `json:"methods"`
	Brief     pageBrief       `json:"brief"`
	Threads   []pageThread    `json:"threads"`
	Slowest   *pageSlowest    `json:"slowest"`
}

// pageMethods are the methods by their places in the lists, in the order of their ids.
type pageMethods struct {
	Name    []string `json:"name"`
	Loader  []string `json:"loader"`
	Place   []string `json:"place"`
	Hidden  []int    `json:"hidden"`
	Counted []int    `json:"counted"` // places of those that are only counted

	at map[int32]int
}

// pageBrief names methods by their places.
type pageBrief struct {
	Lines     []string `json:"lines"`
	Self      []int    `json:"self"`
	Allocated []int    `json:"allocated"`
	Waiting   []int    `json:"waiting"`
}

type pageThread struct {
	Name      string `json:"name"`
	ID        int64  `json:"id"`
	Virtual   bool   `json:"virtual,omitempty"`
	Shared    bool   `json:"shared,omitempty"`
	Inside    bool   `json:"inside"`
	Entries   int64  `json:"entries"`
	Open      int64  `json:"open"`
	Total     int64  `json:"total"`
	Suspended int64  `json:"suspended"`
}

// pageData writes the JSON that the page unpacks. Names go into it cleaned: what the page shows
// is text, never markup.
func (r *Report) pageData(out *sink) error {
	f := r.figures()
	p := pageReport{Exact: r.Exact(), Pauses: some(r.Pauses.Lines()), Odd: r.OddProcesses(mostListed), Metrics: some(r.metrics().All()), Threads: []pageThread{}}
	if r.Sampling != nil {
		p.Head = r.sampleHead(f)
	} else {
		h := r.head(f)
		h.Marks, h.Threads = nil, nil // they are of the timeline; and elsewhere here
		p.Head = h
	}
	for _, t := range f.threads {
		sum := int64(0)
		for _, n := range t.Roots {
			sum += n.Total
		}
		p.Threads = append(p.Threads, pageThread{Clean(t.Name), t.ID, t.Virtual, t.Shared, t.Open, t.RootEntries, t.RootEntries - t.RootReturns, sum, t.Suspended})
	}
	roots := cct.Merge(f.snapshot.Roots())
	cct.Sort(roots)
	p.Processes = some(r.ProcessParts(roots))
	p.Methods = r.pageMethods(roots)
	p.Slowest = r.slowOnPage(&p.Methods)
	var slow []*cct.Node
	if p.Slowest != nil {
		slow = p.Slowest.trees
	}
	brief := r.brief(f, nil)
	p.Brief = pageBrief{cleaned(brief.Lines), p.Methods.places(brief.Self), p.Methods.places(brief.Allocated), p.Methods.places(brief.Waiting)}
	text, err := marshal(p, "")
	if err != nil {
		return err
	}
	out.bytes(text[:len(text)-1])
	out.text(",\n\"tree\":")
	writeNodes(out, roots, p.Methods.at, len(p.Metrics), p.Processes)
	out.text(",\n\"slow_trees\":")
	writeNodes(out, slow, p.Methods.at, len(p.Metrics), nil)
	out.text("}")
	return nil
}

func cleaned(lines []string) []string {
	out := make([]string, 0, len(lines))
	for _, l := range lines {
		out = append(out, Clean(l))
	}
	return out
}

// pageMethods lists the methods of a tree, and of the slowest root calls.
func (r *Report) pageMethods(roots []*cct.Node) pageMethods {
	m := pageMethods{Name: []string{}, Loader: []string{}, Place: []string{}, Hidden: []int{}, Counted: []int{}, at: map[int32]int{}}
	var ids []int32
	know := func(id int32) {
		if _, ok := m.at[id]; !ok && id != unknownMethod {
			m.at[id] = 0
			ids = append(ids, id)
		}
	}
	for n := range cct.All(roots) {
		know(n.Method)
	}
	if r.Slowest != nil {
		for _, i := range r.Slowest.Invocations {
			for n := range cct.All(i.Thread.Roots) {
				know(n.Method)
			}
			if i.Path != nil {
				for _, s := range i.Path.Segments {
					know(s.Method)
				}
				for _, s := range i.Path.Shares {
					know(s.Method)
				}
			}
		}
	}
	slices.Sort(ids)
	for at, id := range ids {
		m.at[id] = at
		of := r.Method(id)
		m.Name, m.Loader, m.Place = append(m.Name, Clean(of.Name)), append(m.Loader, Clean(of.Loader)), append(m.Place, Clean(of.Place()))
		m.Hidden = append(m.Hidden, of.Hidden)
		if r.Counted[id] {
			m.Counted = append(m.Counted, at)
		}
	}
	return m
}

// unknownMethod is the method of a piece of a critical path of which none is known.
const unknownMethod = -1

// known is a method's place; -1 of none.
func (m *pageMethods) known(id int32) int64 {
	if at, ok := m.at[id]; ok {
		return int64(at)
	}
	return -1
}

func (m *pageMethods) places(ids []int32) []int {
	out := make([]int, 0, len(ids))
	for _, id := range ids {
		out = append(out, m.at[id])
	}
	return out
}

// Flags of a node, as the live page has them.
const (
	pageIncomplete = 2
	pageAsync      = 8
)

// writeNodes writes the nodes in preorder as one list for each figure: depth, method, calls,
// thrown, self, what the total has beyond self and the callees' totals, self's error, what self
// was more as measured, flags, and of tasks how long they waited and the longest wait; then of
// each further metric its own and its total. Lists of 0 alone are empty. Figures of one kind
// side by side, and totals that are mostly 0, are what keeps a large tree small when it is
// compressed; and nested lists would be too deep for browsers. Errors and what was measured
// have three digits, as the page shows them.
func writeNodes(out *sink, roots []*cct.Node, place map[int32]int, metrics int, processes []ProcessPart) {
	const fixed = 11
	columns := make([][]int64, fixed+2*metrics+len(processes))
	for n, depth := range cct.All(roots) {
		beyond := n.Total - n.Self
		for _, c := range n.Children {
			beyond -= c.Total
		}
		row := [fixed]int64{int64(depth), int64(place[n.Method]), n.Calls, n.Thrown, n.Self, beyond, threeDigits(n.Error)}
		if n.Raw != 0 {
			row[7] = threeDigits(n.Raw - n.Self)
		}
		if n.Incomplete {
			row[8] |= pageIncomplete
		}
		if a := n.Async(); a != nil {
			row[8] |= pageAsync
			row[9], row[10] = a.Waited, a.Longest
		}
		for i, v := range row {
			columns[i] = append(columns[i], v)
		}
		for i := range metrics {
			columns[fixed+2*i] = append(columns[fixed+2*i], own(n.Counts, i))
			columns[fixed+1+2*i] = append(columns[fixed+1+2*i], total(n.Counts, i))
		}
		for i, v := range partsOf(n, processes, func(p cct.Part) int64 { return p.Self }) {
			columns[fixed+2*metrics+i] = append(columns[fixed+2*metrics+i], v)
		}
	}
	out.text("[")
	for i, column := range columns {
		if i > 0 {
			out.text(",\n")
		}
		out.text("[")
		if i < 2 || slices.ContainsFunc(column, func(v int64) bool { return v != 0 }) {
			for k, v := range column {
				if k > 0 {
					out.text(",")
				}
				out.number(v)
			}
		}
		out.text("]")
	}
	out.text("]")
}

// threeDigits rounds to three digits, as the page shows them.
func threeDigits(v int64) int64 {
	scale := int64(1)
	for v/scale >= 1000 || v/scale <= -1000 {
		scale *= 10
	}
	if v < 0 {
		return (v - scale/2) / scale * scale
	}
	return (v + scale/2) / scale * scale
}
