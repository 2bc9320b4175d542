package agent

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// A moment is what was recorded when scripts were activated. Scripts that are activated together
// have the same one.
type moment struct {
	report  *export.Report
	threads []*threadTree
	names   *names

	once   sync.Once
	merged []*cct.Node // of all threads, once somebody has asked
}

func newMoment(r *export.Report) *moment {
	return &moment{report: r, threads: threadTrees(r.Tree), names: &names{lookup: r.Method, known: map[int32]method{}}}
}

func (m *moment) table() *metric.Table {
	if m.report.Tree == nil {
		return nil
	}
	return m.report.Tree.Metrics
}

func (m *moment) all() []*cct.Node {
	m.once.Do(func() {
		var roots []*cct.Node
		for _, t := range m.threads {
			roots = append(roots, t.roots...)
		}
		m.merged = cct.Merge(roots)
	})
	return m.merged
}

func (m *moment) thread(id int64) *threadTree {
	var pool *threadTree
	for _, t := range m.threads {
		switch {
		case t.pooled:
			pool = t
		case t.id == id:
			return t
		}
	}
	return pool
}

// since is what the threads have more than at an earlier moment, which may be nil.
func (t *threadTree) since(before *moment) []*cct.Node {
	if before == nil {
		return t.roots
	}
	for _, o := range before.threads {
		if o.key() == t.key() && !restarted(t.sums, o.sums) {
			return since(t.roots, o.roots)
		}
	}
	return t.roots
}

// A cause is why a script is activated.
type cause struct {
	reason string // "start", "time", "bytecodes", "exit", "end"
	thread int64  // id of the one that it is about; 0 for none
	took   time.Duration
}

// A recording is what an activation gets: Starlark's view of a moment.
type recording struct {
	plain
	s      *script
	now    *moment
	before *moment // at the script's last activation; nil if there was none
	cause  cause
}

func (r *recording) String() string        { return "<recording>" }
func (r *recording) Type() string          { return "recording" }
func (r *recording) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: %s", r.Type()) }

func (r *recording) keeps() (n int64) {
	for _, t := range r.now.threads {
		n += t.sums.Nodes * nodeBytes
	}
	return n
}

func (r *recording) AttrNames() []string {
	return []string{"activation", "figures", "reason", "report", "seconds", "since", "thread", "threads", "took_ns", "tree"}
}

// Attr implements starlark.HasAttrs.
func (r *recording) Attr(name string) (starlark.Value, error) {
	switch name {
	case "reason":
		return starlark.String(r.cause.reason), nil
	case "activation":
		return starlark.MakeInt64(r.s.activations), nil
	case "seconds":
		return starlark.Float(r.now.report.Time.Seconds()), nil
	case "figures":
		var out []starlark.String
		for _, f := range figureAttrs(r.now.table()) {
			out = append(out, starlark.String(f))
		}
		return list(out), nil
	case "threads":
		var out []*threadView
		for _, t := range r.now.threads {
			out = append(out, &threadView{r: r, t: t})
		}
		return list(out), nil
	case "thread":
		if t := r.now.thread(r.cause.thread); t != nil && r.cause.thread != 0 {
			return &threadView{r: r, t: t}, nil
		}
		return starlark.None, nil
	case "took_ns":
		if r.cause.took > 0 {
			return starlark.MakeInt64(int64(r.cause.took)), nil
		}
		return starlark.None, nil
	case "tree":
		return newTree(r.now.names, r.now.table(), r.now.all()), nil
	case "since":
		var roots []*cct.Node
		for _, t := range r.now.threads {
			roots = append(roots, t.since(r.before)...)
		}
		return newTree(r.now.names, r.now.table(), cct.Merge(roots)), nil
	case "report":
		return starlark.NewBuiltin("report", r.reportBuiltin), nil
	}
	return nil, nil
}

// reportBuiltin is the report so far as the JSON form has it, of the tree so many levels.
func (r *recording) reportBuiltin(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	depth := 1
	if err := starlark.UnpackArgs(b.Name(), args, kw, "depth?", &depth); err != nil {
		return nil, err
	}
	if depth < 0 {
		return nil, errors.New("report: depth is a number of levels, or 0 for all")
	}
	var out bytes.Buffer
	if err := r.now.report.JSON(&out, export.JSONOptions{Depth: depth}); err != nil {
		return nil, err
	}
	return starlark.Call(t, json.Module.Members["decode"], starlark.Tuple{starlark.String(out.String())}, nil)
}

// A threadView is a thread at a moment.
type threadView struct {
	plain
	r *recording
	t *threadTree
}

func (v *threadView) String() string        { return fmt.Sprintf("<thread %d %q>", v.t.id, v.t.name) }
func (v *threadView) Type() string          { return "thread" }
func (v *threadView) Hash() (uint32, error) { return uint32(v.t.id), nil }
func (v *threadView) keeps() int64          { return v.t.sums.Nodes * nodeBytes }

func (v *threadView) AttrNames() []string {
	return []string{"entered", "id", "name", "open", "pooled", "returned", "since", "tree"}
}

// Attr implements starlark.HasAttrs.
func (v *threadView) Attr(name string) (starlark.Value, error) {
	switch name {
	case "id":
		return starlark.MakeInt64(v.t.id), nil
	case "name":
		return starlark.String(v.t.name), nil
	case "pooled":
		return starlark.Bool(v.t.pooled), nil
	case "open":
		return starlark.Bool(v.t.open), nil
	case "entered":
		return starlark.MakeInt64(v.t.entered), nil
	case "returned":
		return starlark.MakeInt64(v.t.returned), nil
	case "tree":
		return newTree(v.r.now.names, v.r.now.table(), v.t.roots), nil
	case "since":
		return newTree(v.r.now.names, v.r.now.table(), v.t.since(v.r.before)), nil
	}
	return nil, nil
}

// executed is how many bytecodes a thread has executed so far, as far as they are handed over.
func (t *threadTree) executed(table *metric.Table) int64 {
	at := table.Bytecodes()
	if at < 0 || t.sums.Counts == nil {
		return 0
	}
	return t.sums.Counts.Own[at]
}
