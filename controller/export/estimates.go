package export

import (
	"fmt"
	"strings"

	"github.com/rivulet-profiler/rivulet/controller/cct"
)

// jsonEstimates are what samples beside a recording say of a context.
type jsonEstimates struct {
	Own     int64            `json:"own_samples"` // in the method itself
	States  map[string]int64 `json:"states"`
	Lines   [][2]int64       `json:"lines"`
	Callees []*jsonCallee    `json:"callees"`
}

type jsonCallee struct {
	Method  string        `json:"method"`
	Samples int64         `json:"samples"`
	Ran     int64         `json:"ran_ns"`
	Wall    int64         `json:"wall_ns"`
	Callees []*jsonCallee `json:"callees"`
}

// ownSamples is how many of a node's samples lie in its method itself.
func ownSamples(n *cct.Node) int64 {
	if n.Sample() == nil {
		return 0
	}
	own := n.Sample().Count
	if n.Below() != nil {
		for _, c := range n.Below().Callees {
			own -= c.Samples
		}
	}
	return max(own, 0)
}

// estimates writes what samples beside the recording say of a node.
func (w *jsonWriter) estimates(n *cct.Node) {
	if w.report.Estimates == nil || n.Sample() == nil {
		return
	}
	w.text(`,"estimates":{"own_samples":`)
	w.number(ownSamples(n))
	w.statesAndLines(n.Sample())
	w.callees(n.Below())
	w.text("}")
}

// callees are bounded in depth by whoever made them.
func (w *jsonWriter) callees(c *cct.Callee) {
	w.text(`,"callees":[`)
	for i, k := range c.Sorted() {
		if i > 0 {
			w.text(",")
		}
		w.text(`{"method":`)
		w.bytes(quote(k.Name))
		w.field("samples", k.Samples)
		w.field("ran_ns", k.Ran)
		w.field("wall_ns", k.Wall)
		w.callees(k)
		w.text("}")
	}
	w.text("]")
}

// read puts estimates where they belong.
func (j *jsonEstimates) read(n *cct.Node, s *cct.Sample) {
	s.States, s.Lines = readStates(j.States), readLines(j.Lines)
	n.Details().Below = &cct.Callee{}
	readCallees(n.Below(), j.Callees)
}

func readCallees(to *cct.Callee, from []*jsonCallee) {
	for _, k := range from {
		if k != nil && k.Method != "" {
			readCallees(to.Add(k.Method, max(k.Samples, 0), max(k.Ran, 0), max(k.Wall, 0)), k.Callees)
		}
	}
}

// estimateMark stands before what only samples know.
const estimateMark = "~ "

const (
	estimatedLevels = 4 // of callees, in the text
	estimatedMost   = 4 // callees of each
)

// estimated writes a node's callees that only samples know, with their part of its self time.
func (t *textWriter) estimated(table *table, b branch, columns int) {
	n := b.node
	if t.report.Estimates == nil || n.Below() == nil || n.Sample() == nil || n.Sample().Count == 0 || n.Self <= 0 {
		return
	}
	least := smallShare * float64(t.sums.Self)
	var write func(c *cct.Callee, prefix string, depth int)
	write = func(c *cct.Callee, prefix string, depth int) {
		for i, k := range c.Sorted() {
			total := float64(n.Self) * float64(k.Samples) / float64(n.Sample().Count)
			if i >= estimatedMost || depth >= estimatedLevels || total < least {
				return
			}
			own := k.Samples
			for _, o := range k.Callees {
				own -= o.Samples
			}
			cells := make([]string, columns)
			cells[2] = "~" + Duration(int64(float64(n.Self)*float64(max(own, 0))/float64(n.Sample().Count)))
			cells[3] = "~" + Duration(int64(total))
			cells[5] = t.onCPU(cct.Sample{Ran: k.Ran, Wall: k.Wall, Count: k.Samples})
			table.add("  "+prefix+estimateMark+shortName(k.Name), styleFold, cells...)
			write(k, prefix+"  ", depth+1)
		}
	}
	prefix := b.prefix
	if len(n.Children) > 0 {
		prefix += "│ "
	}
	write(n.Below(), prefix+" ", 0)
}

// shortName is a method's name without its descriptor.
func shortName(name string) string {
	short, _, _ := strings.Cut(name, "(")
	return short
}

// estimatesNote says how the estimates were made.
func (r *Report) estimatesNote() string {
	s := r.Estimates
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%sestimated by %s inside, at %.4g Hz by %s: on cpu, and methods without probes that the self time of the line above consists of",
		estimateMark, Plural(r.CPU.Samples, "sample", "samples"), s.Hz, s.Source)
}
