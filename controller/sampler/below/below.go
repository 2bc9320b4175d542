// Package below keeps the samples of what one method, or a few, call, as a recording has the
// calls below its roots: without probes, for a root's share of a program to be looked at alone.
//
// Whole stacks go into the tree, since the root's callers tell one invocation of it from the
// next; they are cut off the report.
package below

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/sampler/pcct"
	"github.com/rivulet-profiler/rivulet/controller/sampler/stack"
)

// ErrRoot says that a text names no method.
var ErrRoot = errors.New("a root is a method, such as shop.Main.loop; * stands for any text")

// Roots are the methods below which samples are kept. [Roots.Filter] is for one goroutine
// alone; all else is safe for concurrent use.
type Roots struct {
	names   []string // patterns without descriptors
	known   map[*stack.Method]bool
	outside atomic.Int64 // samples that were left out
}

// New takes methods as people write them: "pkg.Class.method", with * for any text. A
// descriptor behind them is left out of account. The error is [ErrRoot].
func New(roots []string) (*Roots, error) {
	r := &Roots{known: map[*stack.Method]bool{}}
	for _, text := range roots {
		name, _, _ := strings.Cut(text, "(")
		if _, err := path.Match(name, ""); err != nil || !strings.Contains(strings.Trim(name, "."), ".") || strings.ContainsAny(name, "/[\\") {
			return nil, fmt.Errorf("%q: %w", text, ErrRoot)
		}
		r.names = append(r.names, name)
	}
	return r, nil
}

// is tells whether a method is a root, by its name as reports have it.
func (r *Roots) is(name string) bool {
	name, _, _ = strings.Cut(name, "(")
	return slices.ContainsFunc(r.names, func(p string) bool {
		ok, err := path.Match(p, name)
		return err == nil && ok
	})
}

// Filter are the samples with a root among their frames, in the same array.
func (r *Roots) Filter(batch []stack.Stack) []stack.Stack {
	keep := batch[:0]
	for i := range batch {
		if slices.ContainsFunc(batch[i].Frames, func(f stack.Frame) bool { return r.isMethod(f.Method) }) {
			keep = append(keep, batch[i])
		}
	}
	r.outside.Add(int64(len(batch) - len(keep)))
	return keep
}

func (r *Roots) isMethod(m *stack.Method) bool {
	if m == nil || m.Class == "" {
		return false
	}
	is, known := r.known[m]
	if !known {
		is = r.is(strings.ReplaceAll(pcct.ClassName(m.Class), "/", ".") + "." + m.Name)
		r.known[m] = is
	}
	return is
}

// Cut takes the callers of the outermost roots off a report of samples that were filtered, and
// says in it how many these are of all. The report's trees are changed.
func (r *Roots) Cut(rep *export.Report) {
	roots := map[int32]bool{}
	is := func(method int32) bool {
		yes, known := roots[method]
		if !known {
			m, found := rep.Lookup(method)
			yes = found && m.Loader == "" && r.is(m.Name)
			roots[method] = yes
		}
		return yes
	}
	for _, t := range rep.Tree.Threads {
		var cut []*cct.Node
		cct.Walk(t.Roots, func(n *cct.Node, _ int) bool {
			if n.Method != cct.Unplaced && !is(n.Method) { // what had no room is below a root, too
				return true
			}
			cut = append(cut, n)
			return false
		}, func(*cct.Node, int) {})
		t.Roots = cct.Merge(cut)
	}
	rep.Tree.Threads = slices.DeleteFunc(rep.Tree.Threads, func(t *cct.Thread) bool { return len(t.Roots) == 0 })
	if k := rep.Tree.Taken; k != nil {
		below := make([]bool, len(k.Methods))
		for i, m := range k.Methods {
			up := k.Parents[i]
			if below[i] = up >= 0 && below[up]; !below[i] && (m == cct.Unplaced || is(m)) {
				below[i], k.Parents[i] = true, -1
			}
		}
	}
	s := rep.Sampling
	s.Below, s.Outside = r.names, r.outside.Load()
	note := fmt.Sprintf("Samples below %s alone", strings.Join(r.names, ", "))
	if all := s.Samples + s.Outside; all > 0 {
		note += fmt.Sprintf(": %.1f %% of %s", 100*float64(s.Samples)/float64(all), export.Plural(all, "sample", "samples"))
	}
	rep.Notes = append(rep.Notes, note+".")
}
