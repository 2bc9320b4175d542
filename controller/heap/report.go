package heap

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rivulet-profiler/rivulet/controller/export"
)

// Schema is the version of the JSON form of a [Report].
const Schema = 1

// A Report is what an analysis found, for people and scripts.
type Report struct {
	Schema int    `json:"schema"`
	Kind   string `json:"kind"` // "heap"
	File   string `json:"file,omitempty"`

	Allocations string `json:"allocations,omitempty"` // the recording that says who has allocated: see Join

	Objects int64        `json:"objects"`
	Bytes   int64        `json:"bytes"`
	Layout  Layout       `json:"layout"`
	Damage  string       `json:"damage,omitempty"`
	Notes   []string     `json:"notes"`
	Classes []ClassStat  `json:"classes"`
	Loaders []LoaderStat `json:"loaders"`

	Dominators []Dominator `json:"dominators"`
	Suspects   []Suspect   `json:"suspects"`
	Tree       *TreeNode   `json:"tree"` // the dominator tree, summed up by class

	Unreachable Leftover `json:"unreachable"`
	Weak        Leftover `json:"weakly_reachable"`

	Duplicates   Duplicates        `json:"duplicate_strings"`
	Collections  []CollectionStat  `json:"collections"`
	Boxed        []BoxStat         `json:"boxed"`
	ThreadLocals []ThreadLocalStat `json:"thread_locals"`
	LoaderLeaks  []LoaderLeak      `json:"loader_leaks"`
}

// A Leftover is what no root reaches, or none by strong references.
type Leftover struct {
	Objects int64       `json:"objects"`
	Bytes   int64       `json:"bytes"`
	Classes []ClassStat `json:"classes,omitempty"`
}

// A Dominator is an object that nothing but the roots dominates.
type Dominator struct {
	Object   string   `json:"object"` // its address, "0x..."
	Class    string   `json:"class"`
	What     string   `json:"what"` // the class, thread or text that it is
	Shallow  int64    `json:"shallow_bytes"`
	Retained int64    `json:"retained_bytes"`
	Path     []string `json:"path"`
}

// ReportOptions say how much goes into a report.
type ReportOptions struct {
	Top int // rows of a list; classes and loaders come all
}

// Report puts the report together. It may be called by one goroutine at a time.
func (h *Heap) Report(o ReportOptions) *Report {
	s := h.stats()
	r := &Report{
		Schema: Schema, Kind: "heap", Objects: h.Objects, Bytes: h.Bytes, Layout: h.Layout, Notes: []string{},
		Classes: s.byRetained(), Loaders: []LoaderStat{}, Dominators: h.dominators(o.Top), Suspects: h.suspects(), Tree: h.treemap(),
		Unreachable: Leftover{h.Unreachable.Objects, h.Unreachable.Bytes, h.unreachable(o.Top)},
		Weak:        Leftover{h.Weak.Objects, h.Weak.Bytes, nil},
		Duplicates:  h.Duplicates(o.Top), Collections: h.collections(), Boxed: h.boxed(),
		ThreadLocals: h.threadLocals(s, o.Top), LoaderLeaks: h.loaderLeaks(),
	}
	for _, l := range s.loaders {
		if l.Objects > 0 || l.Classes > 0 {
			r.Loaders = append(r.Loaders, l)
		}
	}
	slices.SortStableFunc(r.Loaders, func(a, b LoaderStat) int { return cmp.Compare(b.Retained, a.Retained) })
	if h.Damage != nil {
		r.Damage = h.Damage.Error()
		r.Notes = append(r.Notes, "The dump is damaged. What came before that place has been analysed: sizes are too small where references lead beyond it.")
	}
	if h.Twice > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s objects have an address that another one has; they were left out.", export.Count(h.Twice)))
	}
	r.fill()
	return r
}

// fill makes lists of JSON out of what is nil.
func (r *Report) fill() {
	for _, p := range []*[]Suspect{&r.Suspects} {
		if *p == nil {
			*p = []Suspect{}
		}
	}
	if r.Duplicates.Top == nil {
		r.Duplicates.Top = []Duplicate{}
	}
	if r.Collections == nil {
		r.Collections = []CollectionStat{}
	}
	if r.Boxed == nil {
		r.Boxed = []BoxStat{}
	}
	if r.ThreadLocals == nil {
		r.ThreadLocals = []ThreadLocalStat{}
	}
	if r.LoaderLeaks == nil {
		r.LoaderLeaks = []LoaderLeak{}
	}
	if r.Dominators == nil {
		r.Dominators = []Dominator{}
	}
}

// dominators are the objects below the roots that retain most.
func (h *Heap) dominators(top int) []Dominator {
	type at struct {
		place    uint32
		retained int64
	}
	var most []at
	for p := range h.tree.children(0) {
		most = keepTop(most, at{p, h.tree.retained(p)}, top, func(a, b at) int { return cmp.Compare(b.retained, a.retained) })
	}
	var out []Dominator
	for _, m := range most {
		o := h.tree.object(m.place)
		out = append(out, Dominator{h.address(o), h.class(o).name, h.describe(o), h.tree.shallow(m.place), m.retained, h.path(o)})
	}
	return out
}
