// Package ask answers questions about a report: what it says in short, which
// methods take most, who calls a method, what a method calls, and along which
// path the time goes. The answers are small, have figures in fixed units, and say
// what is an estimate. They are meant for programs that read them, such as an
// assistant; people have package export's text.
//
// All functions are pure: they change nothing in a report, and several goroutines
// may ask about one report at a time.
package ask

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
)

// ErrNoMethod is wrapped by errors about a method that is not in a report.
var ErrNoMethod = errors.New("no such method in the report")

// ErrOrder is wrapped by errors about an order that there isn't.
var ErrOrder = errors.New("no such order")

// A Summary is what a report says in short.
type Summary struct {
	Kind        string   `json:"kind" jsonschema:"recording: exact counts; sample: estimates"`
	Program     string   `json:"program" jsonschema:"main class or jar"`
	PID         int      `json:"pid"`
	Java        string   `json:"java"`
	Seconds     float64  `json:"seconds"`
	Roots       []string `json:"roots" jsonschema:"of a recording"`
	Invocations int64    `json:"root_invocations" jsonschema:"of a recording: how often the roots were called"`
	Calls       int64    `json:"calls" jsonschema:"calls of all methods; of samples: activations met, a lower bound"`
	TotalNS     int64    `json:"total_ns" jsonschema:"time of all threads"`
	Samples     int64    `json:"samples" jsonschema:"of a report of samples"`
	Exact       bool     `json:"exact" jsonschema:"the counts are exact"`
	Ended       string   `json:"ended,omitempty"`
	Gaps        []string `json:"gaps" jsonschema:"what counts may lack, and why"`
	Notes       []string `json:"notes"`
	Hot         []Method `json:"hot" jsonschema:"the methods with most time of their own"`
}

// A Method is a method's line over all paths that lead to it. Times are ns.
type Method struct {
	Method     string  `json:"method"`
	Calls      int64   `json:"calls"`
	SelfNS     int64   `json:"self_ns"`
	SelfShare  float64 `json:"self_share" jsonschema:"of the time of all threads, 0 to 1"`
	TotalNS    int64   `json:"total_ns" jsonschema:"with everything below; recursion counted once"`
	TotalShare float64 `json:"total_share"`
	Samples    int64   `json:"samples,omitempty" jsonschema:"that met it on top of the stack"`
	Thrown     int64   `json:"thrown,omitempty" jsonschema:"calls ended by an exception"`
}

// A Node is a context in a tree of answers. Times are ns.
type Node struct {
	Method  string  `json:"method"`
	Calls   int64   `json:"calls"`
	SelfNS  int64   `json:"self_ns"`
	TotalNS int64   `json:"total_ns"`
	Share   float64 `json:"share" jsonschema:"of the time of all threads, 0 to 1"`
	Below   []Node  `json:"below,omitempty"`
	Left    int     `json:"left_out,omitempty" jsonschema:"contexts below that are left out, being small or deep"`
}

// A Line is a caller or callee of a method, with what passes between both.
type Line struct {
	Method  string  `json:"method"`
	Calls   int64   `json:"calls"`
	TotalNS int64   `json:"total_ns"`
	Share   float64 `json:"share" jsonschema:"of the method's calls, or where there are none of its time"`
}

// An Around is a method with its callers and callees.
type Around struct {
	Method  Method `json:"method"`
	Callers []Line `json:"callers" jsonschema:"with the calls and the time that each gave the method; none: it is a root, or the top of the stacks"`
	Callees []Line `json:"callees"`
}

// Summarize says in short what a report says.
func Summarize(r *export.Report, hot int) Summary {
	s := Summary{
		Kind: "recording", Program: r.Target.Main, PID: r.Target.PID, Java: r.Target.Java, Seconds: r.Time.Seconds(),
		Roots: slices.Clone(r.Roots), Exact: r.Exact(), Ended: r.Ended, Notes: slices.Clone(r.Notes), Gaps: []string{}, Hot: []Method{},
	}
	if r.Sampling != nil {
		s.Kind, s.Exact, s.Samples = "sample", false, r.Sampling.Samples
	}
	if s.Roots == nil {
		s.Roots = []string{}
	}
	if s.Notes == nil {
		s.Notes = []string{}
	}
	for _, g := range r.Gaps {
		s.Gaps = append(s.Gaps, g.Reason)
	}
	if r.Tree == nil {
		return s
	}
	sum := cct.Sum(r.Tree.Roots())
	s.Calls, s.TotalNS = sum.Calls, sum.Self
	for _, t := range r.Tree.Threads {
		s.Invocations += t.RootEntries
	}
	s.Hot, _ = Top(r, "self", hot)
	return s
}

// Orders are what [Top] can sort by.
var Orders = []string{"self", "total", "calls", "thrown"}

// Top are the n first methods by an order. The error wraps [ErrOrder].
func Top(r *export.Report, by string, n int) ([]Method, error) {
	key := map[string]func(cct.Flat) int64{
		"self": func(f cct.Flat) int64 { return f.Self }, "total": func(f cct.Flat) int64 { return f.Total },
		"calls": func(f cct.Flat) int64 { return f.Calls }, "thrown": func(f cct.Flat) int64 { return f.Thrown },
	}[by]
	if key == nil {
		return nil, fmt.Errorf("%w: %q; there are %s", ErrOrder, by, strings.Join(Orders, ", "))
	}
	out := []Method{}
	if r.Tree == nil {
		return out, nil
	}
	roots := r.Tree.Roots()
	flat, all := cct.FlatOf(roots), cct.Sum(roots).Self
	slices.SortStableFunc(flat, func(a, b cct.Flat) int { return cmp.Compare(key(b), key(a)) })
	for _, f := range flat[:min(n, len(flat))] {
		out = append(out, method(r, f, all))
	}
	return out, nil
}

func method(r *export.Report, f cct.Flat, all int64) Method {
	return Method{
		Method: name(r, f.Method), Calls: f.Calls, SelfNS: f.Self, SelfShare: share(f.Self, all),
		TotalNS: f.Total, TotalShare: share(f.Total, all), Samples: f.Sample.Count, Thrown: f.Thrown,
	}
}

func name(r *export.Report, id int32) string {
	if id == cct.Unplaced {
		return "(calls without room in the tree)"
	}
	return r.Method(id).Name
}

func share(part, all int64) float64 {
	if all <= 0 {
		return 0
	}
	return float64(int64(float64(part)/float64(all)*1e4+0.5)) / 1e4
}

// Find are the methods of a report that a text names: the whole name, else the
// name without parameters, else a part of it. The error wraps [ErrNoMethod].
func Find(r *export.Report, text string) ([]int32, error) {
	seen := map[int32]bool{}
	var whole, bare, part []int32
	if r.Tree != nil {
		for n := range cct.All(r.Tree.Roots()) {
			if n.Method == cct.Unplaced || seen[n.Method] {
				continue
			}
			seen[n.Method] = true
			full := r.Method(n.Method).Name
			short, _, _ := strings.Cut(full, "(")
			switch {
			case full == text:
				whole = append(whole, n.Method)
			case short == text || strings.HasSuffix(short, "."+text):
				bare = append(bare, n.Method)
			case text != "" && strings.Contains(full, text):
				part = append(part, n.Method)
			}
		}
	}
	for _, found := range [][]int32{whole, bare, part} {
		if len(found) > 0 {
			slices.Sort(found)
			return found, nil
		}
	}
	return nil, fmt.Errorf("%w: %q; a part of a name will do", ErrNoMethod, text)
}

// CallersAndCallees are those of each method that a text names ([Find]), n of
// each. The error wraps [ErrNoMethod].
func CallersAndCallees(r *export.Report, text string, n int) ([]Around, error) {
	ids, err := Find(r, text)
	if err != nil {
		return nil, err
	}
	roots := r.Tree.Roots()
	all := cct.Sum(roots).Self
	flat := map[int32]cct.Flat{}
	for _, f := range cct.FlatOf(roots) {
		flat[f.Method] = f
	}
	var out []Around
	for _, id := range ids[:min(n, len(ids))] {
		callers, callees := map[int32]*Line{}, map[int32]*Line{}
		add := func(to map[int32]*Line, m int32, n *cct.Node, open bool) {
			if to[m] == nil {
				to[m] = &Line{Method: name(r, m)}
			}
			to[m].Calls += n.Calls
			if !open {
				to[m].TotalNS += n.Total
			}
		}
		var path []int32
		cct.Walk(roots, func(node *cct.Node, depth int) bool {
			path = path[:depth]
			if depth > 0 {
				open := slices.Contains(path, node.Method) // recursion: its time is counted above
				if node.Method == id {
					add(callers, path[depth-1], node, open)
				}
				if path[depth-1] == id {
					add(callees, node.Method, node, open)
				}
			}
			path = append(path, node.Method)
			return true
		}, func(*cct.Node, int) {})
		one := Around{Method: method(r, flat[id], all)}
		one.Callers = lines(callers, flat[id].Calls, flat[id].Total, n)
		one.Callees = lines(callees, 0, flat[id].Total, n)
		out = append(out, one)
	}
	return out, nil
}

// lines are the n largest, with their shares of calls or, where those are 0, of time.
func lines(of map[int32]*Line, calls, time int64, n int) []Line {
	out := []Line{}
	for _, l := range of {
		l.Share = share(l.TotalNS, time)
		if calls > 0 {
			l.Share = share(l.Calls, calls)
		}
		out = append(out, *l)
	}
	slices.SortFunc(out, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.TotalNS, a.TotalNS), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Method, b.Method))
	})
	return out[:min(n, len(out))]
}

// Bounds of an answered tree: nodes in all.
const mostNodes = 400

// Tree is the merged tree of all threads, or what is below each method that a
// text names; depth bounds its levels, least is the share of all time below which
// a context is left out. The error wraps [ErrNoMethod].
func Tree(r *export.Report, text string, depth int, least float64) ([]Node, error) {
	if r.Tree == nil {
		return []Node{}, nil
	}
	roots := cct.Merge(r.Tree.Roots())
	all := cct.Sum(roots).Self
	if text != "" {
		ids, err := Find(r, text)
		if err != nil {
			return nil, err
		}
		var below []*cct.Node
		cct.Walk(roots, func(n *cct.Node, _ int) bool {
			if slices.Contains(ids, n.Method) {
				below = append(below, n)
				return false
			}
			return true
		}, func(*cct.Node, int) {})
		roots = cct.Merge(below)
	}
	room := mostNodes
	return nodes(r, roots, all, depth, least, &room), nil
}

// nodes goes as deep as depth says, which bounds the recursion.
func nodes(r *export.Report, from []*cct.Node, all int64, depth int, least float64, room *int) []Node {
	from = slices.Clone(from)
	slices.SortStableFunc(from, func(a, b *cct.Node) int { return cmp.Compare(b.Total, a.Total) })
	out := []Node{}
	for _, n := range from {
		if share(n.Total, all) < least || *room == 0 {
			continue
		}
		*room--
		one := Node{Method: name(r, n.Method), Calls: n.Calls, SelfNS: n.Self, TotalNS: n.Total, Share: share(n.Total, all)}
		if depth > 1 {
			one.Below = nodes(r, n.Children, all, depth-1, least, room)
		}
		one.Left = len(n.Children) - len(one.Below)
		out = append(out, one)
	}
	return out
}
