package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/allocation"
	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/metric"
	"github.com/rivulet-profiler/rivulet/hotswap/probe"
)

// setMetrics takes from a recording what is counted beside calls and time, and
// has the ledger's probes count it.
func (s *Session) setMetrics(rec Recording, arrays allocation.Layout) error {
	var rows []metric.Metric
	for _, name := range rec.Count {
		c, _ := metric.Asked(name)
		if c.Needs != "" && !slices.Contains(rec.Count, c.Needs) {
			needed, _ := metric.Asked(c.Needs)
			rows = append(rows, needed.Rows...)
		}
		rows = append(rows, c.Rows...)
	}
	s.metrics = metric.NewTable(rows...)
	s.loop.allocations = nil
	if s.allocates() {
		if err := s.setAllocations(arrays); err != nil {
			return err
		}
	}
	if s.metrics.Executed() < 0 {
		return nil
	}
	leaf, _, thrown := s.leafHooks()
	x := probe.Executed{
		Class: s.bundle.Part("Executed"), Exit: "exit", Thrown: "thrown", Leaf: "leaf", LeafThrown: "leafThrown",
		LeafClass: leaf, LeafLastOne: thrown,
		Blocks: s.metrics.Index(metric.Blocks.Name) >= 0,
		Kind:   kinds[s.metrics.Rows[s.metrics.Executed()].Name],
	}
	if s.called {
		x.Exit, x.Leaf = "exitCall", "leafCall"
	}
	return s.loop.ledger.CountBy(x)
}

// kinds are those of instructions by the metrics that count them.
var kinds = map[string]probe.Kind{
	metric.Invokes.Name: probe.KindInvoke, metric.Accesses.Name: probe.KindAccess,
	metric.Arithmetic.Name: probe.KindArithmetic, metric.Branches.Name: probe.KindBranch,
}

// executed is what methods execute that no probe counts, by their ids; nil where
// nobody asked.
func (l *loop) executed() []cct.Executed {
	if l.s.metrics.Executed() < 0 {
		return nil
	}
	out := make([]cct.Executed, l.ledger.Len())
	for id := range out {
		if m := l.ledger.Method(int32(id)); m != nil {
			out[id] = cct.Executed{Each: int64(m.Count.Each), Super: int64(m.Count.Super), SuperVaries: m.Count.SuperVaries}
		}
	}
	return out
}

// uncounted are the methods whose contexts lack what they execute, and why.
func (l *loop) uncounted() (out []export.Skipped) {
	if l.s.metrics == nil {
		return nil
	}
	bytecodes := l.s.metrics.Executed() >= 0
	for id := int32(1); id < l.ledger.Len(); id++ {
		m := l.ledger.Method(id)
		switch {
		case m == nil || m.Reason != "" || m.Type != "" || m.Sites && !bytecodes:
		case m.Sites:
			out = append(out, export.Skipped{Method: methodID(m).String(), Reason: "native: it has no bytecodes"})
		case m.Uncounted != "":
			out = append(out, export.Skipped{Method: methodID(m).String(), Reason: m.Uncounted})
		case len(m.Missed) > 0:
			for _, callee := range m.Missed {
				out = append(out, export.Skipped{Method: methodID(m).String(), Reason: "allocates by " + strings.ReplaceAll(callee, "/", ".") + ": what that makes is not counted"})
			}
		}
	}
	return out
}

// count adds to a report's tree what follows from how often methods were called.
func (b correctionInputs) count(r *export.Report) {
	at := r.Tree.Metrics.Executed()
	if b.executed == nil || at < 0 {
		return
	}
	lost := r.Tree.AddExecuted(r.Tree.Metrics.Rows[at].Name, func(id int32) cct.Executed {
		if id < 0 || int(id) >= len(b.executed) {
			return cct.Executed{}
		}
		return b.executed[id]
	})
	for id, n := range lost {
		r.UncountedMethods = append(r.UncountedMethods, export.Skipped{
			Method: r.Method(id).Name, Reason: fmt.Sprintf("%s ended by an exception out of super(): what they executed before it is not counted", export.Plural(n, "invocation", "invocations")),
		})
	}
}
