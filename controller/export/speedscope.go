package export

import (
	"bytes"
	"fmt"
	"io"

	"github.com/rivulet-profiler/rivulet/controller/cct"
	"github.com/rivulet-profiler/rivulet/controller/metric"
)

// mostSpeedscope is how many threads get a profile of their own.
const mostSpeedscope = 50

// Speedscope writes the report for https://www.speedscope.app, whose format has
// a profile for each view: the self times of all threads put together, their
// calls, what else is counted, and the self times of each thread. A context opens, takes its own time,
// and then has its callees one after another: the order is that of the tree.
func (r *Report) Speedscope(w io.Writer) error {
	r = r.withTypes()
	f := r.figures()
	out := speedscope{sink: sink{w: w}, r: r, frame: map[int32]int64{}}
	merged := cct.Merge(f.snapshot.Roots())
	cct.Sort(merged)
	var names []int32
	for n := range cct.All(merged) {
		if _, ok := out.frame[n.Method]; !ok {
			out.frame[n.Method] = int64(len(names))
			names = append(names, n.Method)
		}
	}
	out.text(`{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"rivulet","name":`)
	out.bytes(quote(fmt.Sprintf("%s, %s", r.Target.Main, r.How())))
	out.text(`,"activeProfileIndex":0,"shared":{"frames":[`)
	for i, m := range names {
		if i > 0 {
			out.text(",\n")
		}
		out.text(`{"name":`)
		out.bytes(quote(r.frameName(m)))
		if file, line := r.sourceOf(m); file != "" {
			out.text(`,"file":`)
			out.bytes(quote(file))
			if line > 0 {
				out.text(`,"line":`)
				out.number(line)
			}
		}
		out.text("}")
	}
	out.text("]},\"profiles\":[\n")
	self := func(n *cct.Node) int64 { return n.Self }
	out.profile("all threads: time", "nanoseconds", merged, self)
	out.text(",\n")
	out.profile("all threads: "+r.calls(), "none", merged, func(n *cct.Node) int64 { return n.Calls })
	for i, m := range f.snapshot.Metrics.All() {
		unit := string(m.Unit)
		if m.Unit == metric.Count {
			unit = "none"
		}
		out.text(",\n")
		out.profile("all threads: "+m.Title, unit, merged, func(n *cct.Node) int64 { return own(n.Counts, i) })
	}
	for _, t := range f.threads[:min(len(f.threads), mostSpeedscope)] {
		out.text(",\n")
		out.profile(threadName(t), "nanoseconds", t.Roots, self)
	}
	out.text("\n]}\n")
	if err := out.flush(); err != nil {
		return fmt.Errorf("speedscope: %w", err)
	}
	return nil
}

type speedscope struct {
	sink
	r     *Report
	frame map[int32]int64
}

// profile writes one of the kind "evented".
func (s *speedscope) profile(name, unit string, roots []*cct.Node, weight func(*cct.Node) int64) {
	end := int64(0)
	for n := range cct.All(roots) {
		end += weight(n)
	}
	s.text(`{"type":"evented","name":`)
	s.bytes(bytes.TrimSpace(quote(name)))
	s.text(`,"unit":"` + unit + `","startValue":0,"endValue":`)
	s.number(end)
	s.text(`,"events":[`)
	at, first := int64(0), true
	event := func(kind string, n *cct.Node) {
		if !first {
			s.text(",")
		}
		first = false
		s.text(`{"type":"` + kind + `","frame":`)
		s.number(s.frame[n.Method])
		s.text(`,"at":`)
		s.number(at)
		s.text("}")
	}
	cct.Walk(roots, func(n *cct.Node, _ int) bool {
		event("O", n)
		at += weight(n)
		return true
	}, func(n *cct.Node, _ int) { event("C", n) })
	s.text("]}")
}
